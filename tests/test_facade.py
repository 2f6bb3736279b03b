"""The Python facade: the operations as typed methods."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import uniko_mcp
from uniko_mcp.errors import (
    ConfigError,
    IdConflictError,
    InvalidArgumentsError,
    LimitExceededError,
    ReadOnlyError,
    StoreLockedError,
)
from uniko_mcp.facade import Agent, Goals, Memory, MessageInput
from uniko_mcp.models.time import parse_instant, to_datetime
from uniko_mcp.operations import CATALOGUE

pytestmark = pytest.mark.anyio

METHODS: dict[str, Callable[..., Any]] = {
    "memory_save": Agent.memory_save,
    "create_goal": Goals.create,
    "update_goal": Goals.update,
    "goal_context": Goals.context,
    "create_task": Goals.create_task,
    "update_task": Goals.update_task,
    "record_action": Agent.record_action,
    "record_episode": Agent.record_episode,
    "add_observation": Agent.add_observation,
    "assert_fact": Agent.assert_fact,
    "invalidate_fact": Agent.invalidate_fact,
    "search_facts": Agent.search_facts,
    "record_messages": Agent.record_messages,
    "ingest_document": Agent.ingest_document,
    "summarize_session": Agent.summarize_session,
    "recall": Agent.recall,
    "answer": Agent.answer,
    "get_memory": Agent.get_memory,
    "memory_status": Agent.status,
}
PAGED = {"list_goals", "list_tasks", "my_memory"}
"""Behind methods that return all of it."""


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("UNIKO_")]:
        monkeypatch.delenv(name)


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with uniko_mcp.open(tmp_path / "memory", timezone="Europe/Berlin") as opened:
        yield opened


@pytest.fixture
def agent(memory: Memory) -> Agent:
    return memory.agent("assistant")


def test_every_operation_has_its_method() -> None:
    assert set(CATALOGUE) <= set(METHODS) | PAGED


@pytest.mark.parametrize("name", sorted(METHODS.keys() & CATALOGUE.keys()))
def test_a_method_has_every_parameter_of_its_operation(name: str) -> None:
    parameters = set(inspect.signature(METHODS[name]).parameters) - {"self"}
    assert parameters == set(CATALOGUE[name].params.model_fields)


async def test_a_goal_goes_from_planned_to_completed_and_back(agent: Agent) -> None:
    goals = agent.goals()
    goal = await goals.create(title="Ship the beta", status="planned", metrics={"users": 10})
    assert [found.goal_id for found in await goals.planned()] == [goal.goal_id]

    assert await goals.start(goal.goal_id) is True
    assert await goals.start(goal.goal_id) is False
    assert await goals.complete(goal.goal_id, {"users": 12}) is True
    completed = await goals.get(goal.goal_id)
    assert completed is not None
    assert (completed.phase, completed.metrics) == ("completed", {"users": 12})
    assert [found.goal_id for found in await goals.completed()] == [goal.goal_id]

    assert await goals.start(goal.goal_id) is True
    assert [found.goal_id for found in await goals.active()] == [goal.goal_id]
    assert await goals.abandon(goal.goal_id) is True
    assert [found.goal_id for found in await goals.abandoned()] == [goal.goal_id]
    assert [found.goal_id for found in await goals.all()] == [goal.goal_id]


async def test_an_unknown_goal_changes_nothing(agent: Agent) -> None:
    goals = agent.goals()
    assert await goals.start("nope") is False
    assert await goals.complete("nope") is False
    assert await goals.get("nope") is None
    assert (await goals.context("nope")).found is False
    assert await goals.tasks_of("nope") == []


async def test_lists_are_whole_however_many_there_are(agent: Agent) -> None:
    goals = agent.goals()
    created = [(await goals.create(f"Goal {number}")).goal_id for number in range(203)]
    assert [goal.goal_id for goal in await goals.all()] == created[::-1]


async def test_tasks_belong_to_their_goal(agent: Agent) -> None:
    goals = agent.goals()
    goal = await goals.create("Ship the beta")
    first = await goals.create_task("Write", goal_id=goal.goal_id, priority=0.5)
    second = await goals.create_task("Review", goal_id=goal.goal_id, depends_on_task_id=first.task_id)
    assert await goals.complete_task(first.task_id) is True
    assert {task.task_id for task in await goals.tasks_of(goal.goal_id)} == {first.task_id, second.task_id}
    assert [task.task_id for task in await goals.tasks_of(goal.goal_id, phase="completed")] == [first.task_id]
    assert {task.title for task in (await goals.context(goal.goal_id)).tasks} == {"Write", "Review"}


async def test_a_day_is_recorded_and_found_again(agent: Agent) -> None:
    messages: list[MessageInput] = [
        {
            "sender": "Ana",
            "content": "I moved to Porto.",
            "message_id": "m1",
            "timestamp": datetime(2024, 5, 1, tzinfo=UTC),
        },
        {"sender": "assistant", "content": "Noted.", "addressed_to": ("Ana",)},
    ]
    recorded = await agent.record_messages("s1", messages, topic="moving")
    assert recorded.created == 2
    observation = await agent.add_observation("m1", "Ana moved to Porto.", "Ana")
    action = await agent.record_action("tool_call", input={"query": "Porto"}, output="found", duration_ms=3)
    episode = await agent.record_episode(
        "research", state={"topic": "Porto"}, involved_action_ids=(action.action_id,), importance=0.7
    )
    asserted = await agent.assert_fact(
        "Ana", "lives in", "Porto", supporting_observation_ids=[observation.observation_id]
    )
    found = await agent.get_memory(asserted.fact.fact_id)
    assert found.kind == "Fact"
    assert any(step.text == "I moved to Porto." for step in found.provenance)
    assert (await agent.get_memory(episode.episode_id)).found
    assert not (await agent.get_memory("nope")).found


async def test_a_document_and_a_summary_are_recalled_and_answered_from(tmp_path: Path) -> None:
    async with uniko_mcp.open(tmp_path / "memory", embedding={"model": "none"}) as memory:
        agent = memory.agent("assistant")
        document = await agent.ingest_document("# Ports\n\nThe sandbox listens on port 8443.", source="wiki/ports")
        await agent.record_messages("s1", [{"sender": "Ana", "content": "I moved to Porto in May."}])
        summary = await agent.summarize_session("s1")
        found = await agent.recall("sandbox port", kinds=["chunk"])
        answer = await agent.answer("Where did Ana move?", session_ids=["s1"], since=date(2020, 1, 1), record=True)
    assert [item.sources[0].artifact_id for item in found.items] == [document.artifact_id]
    assert summary.found
    assert "Porto" in answer.context
    assert answer.model is None
    assert answer.recorded_episode


async def test_times_may_be_text_datetimes_or_dates(agent: Agent) -> None:
    """T6."""
    goals = agent.goals()
    noon = parse_instant("2026-03-01T12:00:00Z")
    india = timezone(timedelta(hours=5, minutes=30))
    for deadline in (
        "2026-03-01T12:00:00Z",
        datetime(2026, 3, 1, 12, tzinfo=UTC),
        datetime(2026, 3, 1, 17, 30, tzinfo=india),
        datetime(2026, 3, 1, 13),
    ):
        assert (await goals.create("Due", deadline=deadline)).deadline == noon
    of_day = await goals.create("Due", deadline=date(2026, 3, 1))
    assert of_day.deadline is not None
    assert to_datetime(of_day.deadline) == datetime(2026, 2, 28, 23, tzinfo=UTC)


async def test_a_date_covers_its_day(agent: Agent) -> None:
    """T5."""
    await agent.assert_fact("Alex", "works on", "Payments", valid_from=date(2025, 1, 1), valid_to=date(2025, 3, 31))
    await agent.assert_fact("Alex", "works on", "Payments", valid_from=date(2025, 7, 1), valid_to=date(2025, 9, 30))
    assert (await agent.search_facts(subject="alex", as_of=date(2025, 3, 31))).total == 1
    assert (await agent.search_facts(subject="alex", as_of=date(2025, 5, 1))).total == 0
    assert (await agent.search_facts(include_invalidated=True)).total == 2


async def test_a_fact_is_superseded_and_invalidated(agent: Agent) -> None:
    old = await agent.assert_fact("user", "prefers", "dark")
    new = await agent.assert_fact("user", "prefers", "light", supersede=True)
    assert [fact.fact_id for fact in new.conflicts] == [old.fact.fact_id]
    assert (await agent.invalidate_fact(new.fact.fact_id, reason="asked again")).changed is True
    assert (await agent.search_facts(subject="user")).facts == []


async def test_what_is_private_to_one_agent_is_not_seen_by_another(memory: Memory) -> None:
    """S2."""
    await memory.agent("a").assert_fact("user", "prefers", "dark", visibility="private")
    assert (await memory.agent("a").search_facts()).total == 1
    assert (await memory.agent("b").search_facts()).total == 0
    assert memory.agent().agent_id == "assistant"


async def test_the_notes_are_saved_and_read(agent: Agent) -> None:
    saved = await agent.memory_save("long_term", "# Ana\n\nPrefers short answers 😀")
    read = await agent.my_memory()
    assert (read.event_id, read.content) == (saved.event_id, "# Ana\n\nPrefers short answers 😀")
    await agent.memory_save("long_term", "память" * 5_333)
    assert (await agent.my_memory()).content == "память" * 5_333
    with pytest.raises(LimitExceededError):
        await agent.memory_save("short_term", "x" * 8_001)


async def test_arguments_are_validated_as_in_a_tool_call(agent: Agent) -> None:
    with pytest.raises(InvalidArgumentsError, match="deadline: not a date"):
        await agent.goals().create("Due", deadline="soon")
    with pytest.raises(InvalidArgumentsError, match="title"):
        await agent.goals().create(" ")
    await agent.goals().create("One", goal_id="g")
    with pytest.raises(IdConflictError):
        await agent.goals().create("Two", goal_id="g")


async def test_the_memory_is_there_again_when_it_is_opened_again(tmp_path: Path) -> None:
    """C2."""
    folder = tmp_path / "Größe 1" / "memory"
    async with uniko_mcp.open(folder) as memory:
        await memory.agent().goals().create("Ship the beta")
        status = await memory.status()
    assert status.data_dir == str(folder)
    async with uniko_mcp.open(str(folder), read_only=True) as memory:
        assert [goal.title for goal in await memory.agent().goals().active()] == ["Ship the beta"]
        with pytest.raises(ReadOnlyError):
            await memory.agent().goals().create("Another")


async def test_one_process_holds_a_memory_at_a_time(tmp_path: Path) -> None:
    async with uniko_mcp.open(tmp_path):
        with pytest.raises(StoreLockedError):
            async with uniko_mcp.open(tmp_path):
                pass


async def test_settings_are_those_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "c.jsonc").write_text('{"agent_id": "from file", "data_dir": "memory"}', encoding="utf-8")
    async with uniko_mcp.open(config=tmp_path / "c.jsonc") as memory:
        assert memory.agent().agent_id == "from file"
        assert (await memory.status()).data_dir == str(tmp_path / "memory")
    with pytest.raises(ConfigError, match=r"Did you mean timezone\?"):
        async with uniko_mcp.open(tmp_path, timezon="UTC"):
            pass


def test_importing_the_package_imports_nothing_else() -> None:
    script = (
        "import sys; import uniko_mcp; uniko_mcp.open;"
        "print([name for name in ('pydantic', 'kuzu', 'mcp', 'click', 'numpy') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert printed.stdout.strip() == "[]"
