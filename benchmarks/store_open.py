"""Opening, snapshotting, rebuilding and the size on disk, by number of messages.

Run as `python -m benchmarks.store_open [SIZE ...]`; default 1,000, 10,000 and 100,000 messages, each with a sender, a
session, a predecessor and two entities.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from uniko_mcp.store import Draft, Store

UNIT = 200
ENTITIES = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--directory", type=Path, default=None, help="on the disk to measure; default: temporary")
    arguments = parser.parse_args()
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory(dir=arguments.directory) as folder:
            asyncio.run(measure(Path(folder), size))


async def measure(folder: Path, size: int) -> None:
    print(f"{size} messages")
    directory = folder / "store"
    store = await Store.open(directory)
    with printed("write all, in units of 200"):
        await fill(store, size)
    with printed("snapshot"):
        task = asyncio.create_task(store.snapshot())
        delays = [await probe(store, number, task) for number in range(10_000) if not task.done()]
        path = await task
    delays = [delay for delay in delays if delay is not None]
    if delays:
        print(f"  writes during it: {len(delays)}, p50 {statistics.median(delays):.1f} ms, worst {max(delays):.1f} ms")
    await store.write(lambda draft: draft.put("Topic", "after the snapshot"))
    with printed("close"):
        await store.close()
    sizes = {"graph": directory / "graph" / "db", "snapshot": path, "journal": directory / "journal.jsonl"}
    for name, file in sizes.items():
        print(f"  {name:26}{file.stat().st_size / 1e6:9.1f} MB")
    print(f"  {'open, own process':26}{opened_elsewhere(directory):9.3f} s")
    (directory / "graph" / "db").unlink()
    with printed("open with rebuild"):
        store = await Store.open(directory)
    with printed("restore from snapshot"):
        await store.restore_snapshot(shutil.copy(path, folder / "copy.jsonl.gz"))
    await store.close()
    print(f"  {'largest memory so far':26}{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:9.0f} MB")


async def fill(store: Store, size: int) -> None:
    await store.write(
        lambda draft: [draft.put("Entity", f"e{n}", name=f"Entity {n}") for n in range(ENTITIES)] and None
    )
    for start in range(0, size, UNIT):
        await store.write(lambda draft, start=start: put_messages(draft, range(start, min(start + UNIT, size))))


def put_messages(draft: Draft, numbers: range) -> None:
    session = f"s{numbers.start}"
    draft.put("Session", session, topic="a topic")
    for sender in range(5):
        draft.put("Participant", f"p{sender}", name=f"Person {sender}")
    draft.existing("Message", [f"m{number}" for number in numbers])
    for number in numbers:
        message = ("Message", f"m{number}")
        draft.put(*message, content=f"Message {number} says this and that about it. " * 4, timestamp=number)
        draft.link("IN_SESSION", message, ("Session", session))
        draft.link("SENT_BY", message, ("Participant", f"p{number % 5}"))
        draft.link("MENTIONS", message, ("Entity", f"e{number % ENTITIES}"))
        draft.link("MENTIONS", message, ("Entity", f"e{number * 7 % ENTITIES}"))
        if number > numbers.start:
            draft.link("NEXT", ("Message", f"m{number - 1}"), message, gap_ms=number)


async def probe(store: Store, number: int, during: asyncio.Task[Path]) -> float | None:
    start = time.perf_counter()
    await store.write(lambda draft: draft.put("Topic", f"probe {number}", name="x"))
    return None if during.done() else (time.perf_counter() - start) * 1000


def opened_elsewhere(directory: Path) -> float:
    """Seconds that `Store.open` takes in a process that has imported this package and not Kuzu."""
    script = (
        "import asyncio, pathlib, sys, time\n"
        "from uniko_mcp.store import Store\n"
        "async def main():\n"
        "    start = time.perf_counter()\n"
        "    store = await Store.open(pathlib.Path(sys.argv[1]))\n"
        "    print(time.perf_counter() - start)\n"
        "    await store.close()\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script, str(directory)]
    times = [float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(3)]
    return min(times)


@contextmanager
def printed(name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    print(f"  {name:26}{time.perf_counter() - start:9.3f} s", flush=True)


if __name__ == "__main__":
    main()
