"""Writes to a store from several tasks at once, and says so on stdout, until it is killed.

Run as `python -m tests.e2e.kill_loop_writer DIRECTORY ROUND`. One unit is a session with messages in it; each unit is
one write. A line `ROUND-TASK-NUMBER` on stdout means that the store has acknowledged that unit.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path

from uniko_mcp.store import Draft, Store

TASKS = 4
MESSAGES = 3
SNAPSHOT_EVERY = 40


def write_unit(draft: Draft, unit: str) -> None:
    """One session and its messages."""
    draft.put("Session", unit, topic=f"topic of {unit}")
    for number in range(MESSAGES):
        message = f"{unit}-{number}"
        draft.put("Message", message, content=f"text of {message} " * 8, ordinal=number)
        draft.link("IN_SESSION", ("Message", message), ("Session", unit))
        if number:
            draft.link("NEXT", ("Message", f"{unit}-{number - 1}"), ("Message", message), gap_ms=number)


async def write_for_ever(store: Store, name: str) -> None:
    for number in itertools.count():
        unit = f"{name}-{number}"
        await store.write(lambda draft, unit=unit: write_unit(draft, unit))
        sys.stdout.write(f"{unit}\n")
        sys.stdout.flush()
        if number % SNAPSHOT_EVERY == SNAPSHOT_EVERY - 1:
            await store.snapshot()


async def main(directory: Path, round_: str) -> None:
    store = await Store.open(directory)
    await asyncio.gather(*(write_for_ever(store, f"{round_}-{task}") for task in range(TASKS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
