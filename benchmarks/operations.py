"""How long the operations take in process, on memories of growing size.

    python benchmarks/operations.py [--sizes 1000 10000 100000] [--rounds 40] [--corpus FOLDER]

Every figure is a whole call: arguments read, graph asked or change set made durable, result model built. "cpu" is what
the process computes for a call, in all of its threads: other load on the machine hardly changes it. With `--corpus` the
memories are kept there and used again; what was written by the measurements stays in them.
Reach: `goal_context` well under 100 ms at 100,000 messages, and the store open within 2 s.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
from corpus import PROJECT, call, corpus, message, settings, subject, subjects

from uniko_mcp.models.ids import new_id
from uniko_mcp.operations.call import Services, open_services

_UNIT: Final = 20
_WARM_UP: Final = 3


@dataclass(frozen=True, slots=True)
class Case:
    """An operation to measure; `arguments` makes those of the call with this number."""

    label: str
    tool: str
    arguments: Callable[[int], dict[str, Any]]


def cases(messages: int) -> list[Case]:
    """What is measured on a memory of this size."""
    rng = random.Random(1)
    known = subjects(messages)
    fresh = f"run-{new_id()}"

    def unit(number: int, size: int) -> dict[str, Any]:
        said = [message(rng, number, known) | {"message_id": new_id()} for _ in range(size)]
        return {"session_id": f"{fresh}-{size}", "goal_id": "goal-1", "messages": said}

    return [
        Case("goal_context, a tenth of the sessions", "goal_context", lambda n: {"goal_id": f"goal-{n % 10}"}),
        Case("goal_context, all sessions", "goal_context", lambda _: {"goal_id": PROJECT}),
        Case("record_messages, 1 message", "record_messages", lambda n: unit(n, 1)),
        Case(f"record_messages, {_UNIT} messages", "record_messages", lambda n: unit(n, _UNIT)),
        Case(
            "assert_fact",
            "assert_fact",
            lambda n: {"subject": subject(n % known), "predicate": f"checked {fresh}", "object": f"round {n}"},
        ),
        Case("search_facts, by subject", "search_facts", lambda n: {"subject": subject(n % known)}),
        Case("search_facts, by words", "search_facts", lambda n: {"query": f"value {n}", "as_of": "2024-06-30"}),
        Case("get_memory, a message", "get_memory", lambda n: {"id": f"message-{n * 97 % messages}"}),
        Case("get_memory, a session", "get_memory", lambda _: {"id": "session-0"}),
        Case("list_tasks, of a goal", "list_tasks", lambda n: {"goal_id": f"goal-{n % 10}"}),
        Case("list_tasks, the agent's own", "list_tasks", lambda _: {"phase": "active"}),
    ]


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds: of each call in ascending order, and of computing in all threads for a call on average."""

    times: list[float]
    cpu: float

    def __str__(self) -> str:
        p95 = self.times[min(len(self.times) - 1, int(len(self.times) * 0.95))]
        return f"{statistics.median(self.times):>9.1f}{p95:>9.1f}{self.times[0]:>9.1f}{self.cpu:>9.1f}"


async def figures(services: Services, case: Case, rounds: int) -> Figures:
    """Make the calls, after a few that do not count."""
    for number in range(_WARM_UP):
        await call(services, case.tool, case.arguments(number))
    times: list[float] = []
    computed = time.process_time()
    for number in range(rounds):
        arguments = case.arguments(_WARM_UP + number)
        started = time.perf_counter()
        await call(services, case.tool, arguments)
        times.append((time.perf_counter() - started) * 1_000)
    return Figures(sorted(times), (time.process_time() - computed) * 1_000 / rounds)


async def measure(folder: Path, messages: int, rounds: int) -> None:
    """Print the figures of one size."""
    data_dir = await corpus(folder, messages)
    size = sum(path.stat().st_size for path in data_dir.rglob("*") if path.is_file())
    started = time.perf_counter()
    async with open_services(settings(data_dir)) as services:
        opened = time.perf_counter() - started
        print(f"\n{f'{messages:,} messages':<42}{'p50 ms':>9}{'p95 ms':>9}{'min ms':>9}{'cpu ms':>9}")
        for case in cases(messages):
            print(f"{case.label:<42}{await figures(services, case, rounds)}", flush=True)
    print(f"{'open':<42}{opened * 1_000:>9.0f}")
    print(f"{'on disk':<42}{size / 2**20:>9.1f} MiB, {size / messages:,.0f} bytes a message")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="messages")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--corpus", type=Path, help="where memories are kept and used again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for messages in options.sizes:
            anyio.run(measure, options.corpus or Path(temporary), messages, options.rounds)


if __name__ == "__main__":
    main()
