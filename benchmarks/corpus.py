"""Memories of a given size to measure on: conversations, goals, tasks and facts, always the same for the same size.

Built through the operations, in units as large as they take. A tenth of the sessions serves each of ten goals, and all
ten are part of one project.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio

from uniko_mcp.config import EmbeddingSettings, Settings
from uniko_mcp.models.time import DAYS, SECONDS, format_instant, parse_instant
from uniko_mcp.operations import CATALOGUE
from uniko_mcp.operations.call import Call, Services, open_services
from uniko_mcp.operations.dispatch import dispatch

PROJECT: Final = "project"
GOALS: Final = 10
TASKS_PER_GOAL: Final = 20
MESSAGES_PER_SESSION: Final = 500
MESSAGES_PER_FACT: Final = 100
FACTS_PER_SUBJECT: Final = 5
CONCURRENT_CALLS: Final = 64

_BEGIN: Final = parse_instant("2024-01-01")
_PEOPLE: Final = ("Ana", "Bruno", "Chidi", "Dana", "Emil", "Fatima", "Goran", "Hana", "Ines", "Jonas", "Kofi", "Lena")
_SYSTEMS: Final = ("billing", "checkout", "ledger", "search", "mailer", "importer", "gateway", "scheduler", "archive")
_SENTENCES: Final = (
    "{person} moved {system} to port {number} and the error rate fell to {small} percent.",
    "The export of {system} stopped with error {number} after {small} minutes.",
    "{person} works on {system} since March {year}.",
    "I would rather keep {system} as it is until {person} is back from Lisbon on Monday.",
    "Release v{small}.{number} of {system} is out, {person} watches the dashboards tonight.",
    "Does anybody know why {system} writes {number} rows a minute into the audit table?",
    "The timeout of {system} is {number} ms now, it was {small} seconds before.",
    "{person} prefers to review {system} in the morning, with the logs of the night at hand.",
    "We agreed that {system} waits for the new contract, and that {person} tells the customers.",
    "Nothing new here, I am reading through what was said last week.",
)


async def corpus(folder: Path, messages: int) -> Path:
    """The data directory with this many messages below `folder`; built when it is not there yet."""
    data_dir = folder / f"memory-{messages}"
    if not (data_dir / _COMPLETE).exists():
        started = time.perf_counter()
        async with open_services(settings(data_dir)) as services:
            await _fill(services, messages)
        (data_dir / _COMPLETE).touch()
        _tell(f"{messages:,} messages built in {time.perf_counter() - started:.0f} s\n")
    return data_dir


def settings(data_dir: Path) -> Settings:
    """What the memory is opened with. Without an embedding model: its work beside the operations is another measure."""
    return Settings(data_dir=data_dir, embedding=EmbeddingSettings(model="none"))


def subject(number: int) -> str:
    """The name that facts and messages share, in a form that is found in text."""
    return f"{_SYSTEMS[number % len(_SYSTEMS)]}_{number // len(_SYSTEMS)}"


def subjects(messages: int) -> int:
    """How many subjects a corpus of this size has facts about."""
    return max(1, messages // MESSAGES_PER_FACT // FACTS_PER_SUBJECT)


async def call(services: Services, tool: str, arguments: dict[str, Any]) -> Any:
    """The result model of an operation."""
    return await dispatch(services, Call("assistant", services.settings), CATALOGUE[tool], arguments)


def message(rng: random.Random, number: int, subject_count: int) -> dict[str, Any]:
    """One message; most of them name a person, a subject and a value."""
    text = rng.choice(_SENTENCES).format(
        person=rng.choice(_PEOPLE),
        system=subject(rng.randrange(subject_count)),
        number=rng.randrange(100, 9_999),
        small=rng.randrange(2, 60),
        year=rng.randrange(2019, 2024),
    )
    return {
        "message_id": f"message-{number}",
        "sender": rng.choice(_PEOPLE),
        "content": f"{text} [{number}]",
        "timestamp": format_instant(_BEGIN + number * 300 * SECONDS),
    }


_COMPLETE: Final = "corpus-is-complete"


async def _fill(services: Services, messages: int) -> None:
    await call(services, "create_goal", {"goal_id": PROJECT, "title": "The whole project"})
    for number in range(GOALS):
        goal = {"goal_id": f"goal-{number}", "title": f"Part {number} of the project", "parent_goal_id": PROJECT}
        await call(services, "create_goal", goal)
    await _all(services, "create_task", _tasks())
    rng = random.Random(messages)
    for start in range(0, messages, MESSAGES_PER_SESSION):
        session = start // MESSAGES_PER_SESSION
        unit = {
            "session_id": f"session-{session}",
            "topic": f"Talk number {session}",
            "goal_id": f"goal-{session % GOALS}",
            "messages": [
                message(rng, number, subjects(messages))
                for number in range(start, min(start + MESSAGES_PER_SESSION, messages))
            ],
        }
        await call(services, "record_messages", unit)
        _tell(f"\r{min(start + MESSAGES_PER_SESSION, messages):,} of {messages:,} messages ")
    await _all(services, "assert_fact", _facts(messages))


def _tasks() -> Iterator[dict[str, Any]]:
    for number in range(GOALS * TASKS_PER_GOAL):
        yield {
            "title": f"Step {number // GOALS} of part {number % GOALS}",
            "goal_id": f"goal-{number % GOALS}",
            "status": ("todo", "active", "done", "blocked")[number // GOALS % 4],
            "priority": number % 7 / 7,
        }


def _facts(messages: int) -> Iterator[dict[str, Any]]:
    for number in range(messages // MESSAGES_PER_FACT):
        yield {
            "subject": subject(number // FACTS_PER_SUBJECT),
            "predicate": ("port", "owner", "timeout", "release", "state")[number % FACTS_PER_SUBJECT],
            "object": f"value {number}",
            "valid_from": format_instant(_BEGIN + number * DAYS // 10),
        }


async def _all(services: Services, tool: str, calls: Iterator[dict[str, Any]]) -> None:
    """Make the calls, several at once, so that they share commits."""

    async def work() -> None:
        with suppress(StopIteration):
            while True:
                await call(services, tool, next(calls))

    async with anyio.create_task_group() as workers:
        for _ in range(CONCURRENT_CALLS):
            workers.start_soon(work)


def _tell(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
