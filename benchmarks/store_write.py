"""What an acknowledged write costs, beside a bare one-row Kuzu transaction on the same disk.

Run as `python -m benchmarks.store_write [--directory DIR] [--rounds N]`. The two are measured in turns, so that a busy
machine slows both. "Paced" waits until the graph has followed before each write, as a client's own round trip does;
"back to back" does not.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import kuzu

from uniko_mcp.store import Draft, Store

TURNS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path, default=None, help="on the disk to measure; default: temporary")
    parser.add_argument("--rounds", type=int, default=300, help="writes of each sort")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.directory) as folder:
        asyncio.run(measure(Path(folder), arguments.rounds))


async def measure(folder: Path, rounds: int) -> None:
    bare: list[float] = []
    sorts: dict[str, list[float]] = {"one node, paced": [], "one node, back to back": [], "goal with owner, paced": []}
    store = await Store.open(folder / "store")
    await store.write(lambda draft: draft.put("Participant", "assistant", name="assistant"))
    with kuzu.Database(folder / "bare", buffer_pool_size=256 << 20, max_num_threads=2, max_db_size=1 << 34) as database:
        connection = kuzu.Connection(database)
        connection.execute(
            "CREATE NODE TABLE Topic(topic_id STRING, name STRING, summary STRING, PRIMARY KEY(topic_id))"
        )
        for turn in range(TURNS):
            for number in range(rounds // TURNS):
                id = f"{turn}-{number}"
                bare.append(timed(lambda id=id: insert(connection, id)))
            for number in range(rounds // TURNS):
                id = f"{turn}-{number}"
                sorts["one node, back to back"].append(await timed_write(store, one_node(f"{id}-b")))
            for number in range(rounds // TURNS):
                id = f"{turn}-{number}"
                await store.read(lambda view: None)
                sorts["one node, paced"].append(await timed_write(store, one_node(f"{id}-p")))
                await store.read(lambda view: None)
                sorts["goal with owner, paced"].append(await timed_write(store, goal(id)))
    yardstick = statistics.median(bare)
    print(f"{'':26}{'p50 ms':>8}{'p95 ms':>8}{'x bare':>8}")
    for name, times in {"bare Kuzu, one row": bare, **sorts}.items():
        p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(f"{name:26}{p50:8.2f}{p95:8.2f}{p50 / yardstick:8.1f}")
    for writers in (1, 8, 32):
        print(f"{writers:3} concurrent writers{await throughput(store, writers, rounds):10.0f} writes/s")
    await store.close()


def insert(connection: kuzu.Connection, id: str) -> None:
    connection.execute("CREATE (:Topic {topic_id: $id, name: $name})", {"id": id, "name": "a name"})


def one_node(id: str) -> Callable[[Draft], None]:
    return lambda draft: draft.put("Topic", id, name="a name")


def goal(id: str) -> Callable[[Draft], None]:
    """What `create_goal` does: look whether it is there, put it, link its owner."""

    def plan(draft: Draft) -> None:
        if draft.node("Goal", id) is None:
            draft.put("Goal", id, title="a title", status="active", created_at=time.time_ns() // 1000)
            draft.link("OWNED_BY", ("Goal", id), ("Participant", "assistant"))

    return plan


async def throughput(store: Store, writers: int, rounds: int) -> float:
    """Acknowledged writes per second of this many tasks that each write one node after the other."""

    async def write_many(writer: int) -> None:
        for number in range(rounds):
            await store.write(one_node(f"{writers}-{writer}-{number}"))

    start = time.perf_counter()
    await asyncio.gather(*(write_many(writer) for writer in range(writers)))
    return writers * rounds / (time.perf_counter() - start)


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


async def timed_write(store: Store, plan: Callable[[Draft], None]) -> float:
    start = time.perf_counter()
    await store.write(plan)
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    main()
