"""Kills a writing process at a random moment, again and again, and looks at what the next one finds."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.e2e.kill_loop_writer import MESSAGES
from tests.store.reference import ReferenceGraph, content
from uniko_mcp.store import Recovery, Store
from uniko_mcp.store.journal import JOURNAL_NAME, scan
from uniko_mcp.store.snapshot import read_snapshot, snapshots

ROOT = Path(__file__).parents[2]

Damage = Callable[[Path, random.Random], None]


async def kill_loop(directory: Path, rounds: int, seed: int, *, damaging: bool) -> list[Recovery]:
    """Run the loop.

    Args:
        directory: The data directory, empty at first.
        rounds: How often to write, kill, open and compare.
        seed: Of the moments of death and, when `damaging`, of the damage done to the graph's files after each.

    Returns:
        What the store said it had to repair.
    """
    random_ = random.Random(seed)
    acknowledged: set[str] = set()
    recoveries: list[Recovery] = []
    for round_ in range(rounds):
        acknowledged |= write_until_killed(directory, round_, random_)
        if damaging and (directory / "graph" / "db").exists():
            random_.choice(DAMAGES)(directory / "graph", random_)
        recoveries.extend(await compare(directory, acknowledged))
    return recoveries


def write_until_killed(directory: Path, round_: int, random_: random.Random) -> set[str]:
    """The units that were acknowledged before the process was killed."""
    command = [sys.executable, "-m", "tests.e2e.kill_loop_writer", str(directory), str(round_)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout
        first = process.stdout.readline() if random_.random() < 0.85 else ""
        try:
            process.wait(random_.uniform(0, 0.4))
        except subprocess.TimeoutExpired:
            process.kill()
        lines = [first, *process.stdout]
    assert process.returncode == -9, "the writer ended by itself"
    return {line.rstrip("\n") for line in lines if line.endswith("\n")}


async def compare(directory: Path, acknowledged: set[str]) -> tuple[Recovery, ...]:
    """Open the store: every acknowledged unit is there once and whole, and graph and journal say the same."""
    store = await Store.open(directory)
    graph = await store.read(content)
    status = store.status()
    assert all(recovery.kept for recovery in status.recoveries), status.recoveries
    sessions = {id for kind, id in graph.nodes if kind == "Session"}
    assert acknowledged <= sessions, f"lost: {acknowledged - sessions}"
    messages = {id for kind, id in graph.nodes if kind == "Message"}
    assert messages == {f"{unit}-{number}" for unit in sessions for number in range(MESSAGES)}
    assert len(graph.edges) == len(sessions) * (2 * MESSAGES - 1)
    assert graph == journaled(directory)
    await store.close()
    return status.recoveries


def journaled(directory: Path) -> ReferenceGraph:
    """What the newest snapshot and the journal after it say."""
    graph = ReferenceGraph()
    for newest in snapshots(directory)[:1]:
        for record in read_snapshot(newest):
            graph.apply(record)
    for entry in scan((directory / JOURNAL_NAME).read_bytes()).entries:
        for change in entry.changes:
            graph.apply(change)
    return graph


def delete_file(folder: Path, random_: random.Random) -> None:
    (folder / "db").unlink()


def delete_folder(folder: Path, random_: random.Random) -> None:
    shutil.rmtree(folder)


def cut_file(folder: Path, random_: random.Random) -> None:
    _cut(folder / "db", random_)


def flip_bit(folder: Path, random_: random.Random) -> None:
    _flip(folder / "db", random_)


def cut_log(folder: Path, random_: random.Random) -> None:
    _cut(folder / "db.wal", random_)


def flip_bit_of_log(folder: Path, random_: random.Random) -> None:
    _flip(folder / "db.wal", random_)


def delete_log(folder: Path, random_: random.Random) -> None:
    (folder / "db.wal").unlink(missing_ok=True)


def flip_bit_of_seal(folder: Path, random_: random.Random) -> None:
    _flip(folder / "seal.json", random_)


DAMAGES: list[Damage] = [
    delete_file,
    delete_folder,
    cut_file,
    flip_bit,
    cut_log,
    flip_bit_of_log,
    delete_log,
    flip_bit_of_seal,
]


def _cut(path: Path, random_: random.Random) -> None:
    if path.exists():
        os.truncate(path, random_.randrange(path.stat().st_size or 1))


def _flip(path: Path, random_: random.Random) -> None:
    if path.exists() and (content_ := bytearray(path.read_bytes())):
        content_[random_.randrange(len(content_))] ^= 1 << random_.randrange(8)
        path.write_bytes(content_)
