"""What the store does about damage: it starts, says what happened, and nothing acknowledged is missing (W7)."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.store.reference import ReferenceGraph, content
from uniko_mcp.errors import StoreError
from uniko_mcp.models.changes import ChangeSet, PutNode
from uniko_mcp.store import Draft, Store
from uniko_mcp.store.graph import Graph
from uniko_mcp.store.journal import JOURNAL_NAME, QUARANTINE_NAME, Entry
from uniko_mcp.store.snapshot import snapshots

pytestmark = pytest.mark.anyio

WRITES = 6


@pytest.fixture
async def expected(store: Store, directory: Path) -> ReferenceGraph:
    """What the closed store in `directory` holds: some of it in a snapshot, some in the journal."""
    for number in range(WRITES):
        await store.write(write(number))
        if number == WRITES // 2:
            await store.snapshot()
    graph = await store.read(content)
    await store.close()
    return graph


def write(number: int) -> Callable[[Draft], None]:
    def plan(draft: Draft) -> None:
        draft.put("Session", f"s{number}", topic=f"topic {number}")
        draft.put("Message", f"m{number}", content=f"text {number}", content_type="")
        draft.link("IN_SESSION", ("Message", f"m{number}"), ("Session", f"s{number}"))

    return plan


async def kill(store: Store, directory: Path) -> Path:
    """A copy of the data directory as a kill at this moment would leave it."""
    await store.read(lambda view: None)
    return Path(shutil.copytree(directory, directory.with_name("killed")))


async def reopen(directory: Path) -> tuple[ReferenceGraph, str, bool]:
    """Content, what was repaired, and whether everything was kept; then write once more, to see that it can."""
    store = await Store.open(directory)
    graph = await store.read(content)
    recoveries = store.status().recoveries
    await store.write(lambda draft: draft.put("Topic", "after"))
    assert "after" in await store.read(lambda view: view.existing("Topic", ["after"]))
    await store.write(lambda draft: draft.delete("Topic", "after"))
    await store.close()
    return graph, " | ".join(each.message for each in recoveries), all(each.kept for each in recoveries)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 0x10
    path.write_bytes(damaged)


def overwrite(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def damage_line(directory: Path, position: int) -> None:
    """Change one letter in a line of the journal."""
    path = directory / JOURNAL_NAME
    lines = path.read_bytes().splitlines(keepends=True)
    lines[position] = lines[position].replace(b"topic", b"tropic")
    path.write_bytes(b"".join(lines))


def set_aside(directory: Path) -> list[Path]:
    return list(directory.glob("graph.damaged-*"))


@pytest.mark.parametrize("damage", [cut, flip, overwrite, Path.unlink])
async def test_a_damaged_graph_is_rebuilt_and_the_old_one_kept(
    expected: ReferenceGraph, directory: Path, damage: Callable[[Path], None]
) -> None:
    """W7."""
    damage(directory / "graph" / "db")
    graph, said, kept = await reopen(directory)
    assert graph == expected
    assert kept
    assert "rebuilt" in said
    assert len(set_aside(directory)) == 1
    assert (await reopen(directory))[1] == ""


@pytest.mark.parametrize("damage", [cut, flip, overwrite, Path.unlink])
async def test_a_damaged_log_of_the_graph_costs_nothing(
    store: Store, directory: Path, damage: Callable[[Path], None]
) -> None:
    """W7: Kuzu's log has no checksums, so the journal is believed and not the log."""
    for number in range(WRITES):
        await store.write(write(number))
    killed = await kill(store, directory)
    damage(killed / "graph" / "db.wal")
    graph, _, kept = await reopen(killed)
    assert graph == await store.read(content)
    assert kept


async def test_a_lost_seal_of_the_graph_costs_nothing(expected: ReferenceGraph, directory: Path) -> None:
    """As when the process is killed during a checkpoint."""
    (directory / "graph" / "seal.json").unlink()
    graph, said, kept = await reopen(directory)
    assert graph == expected
    assert kept
    assert "while the graph's file was written" in said


@pytest.mark.parametrize("position", range(WRITES // 2 - 1))
async def test_a_damaged_line_of_the_journal_costs_nothing_while_the_graph_is_sound(
    expected: ReferenceGraph, directory: Path, position: int
) -> None:
    damage_line(directory, position)
    graph, said, kept = await reopen(directory)
    assert graph == expected
    assert kept
    assert "quarantine" in said
    assert (directory / QUARANTINE_NAME).read_bytes().count(b"\n") == 1


async def test_a_damaged_line_after_a_kill_is_taken_from_the_log_of_the_graph(store: Store, directory: Path) -> None:
    for number in range(WRITES):
        await store.write(write(number))
    killed = await kill(store, directory)
    damage_line(killed, 2)
    graph, said, kept = await reopen(killed)
    assert graph == await store.read(content)
    assert kept
    assert "from the graph's own log" in said


async def test_a_journal_cut_short_costs_nothing_while_the_graph_is_sound(store: Store, directory: Path) -> None:
    """W7."""
    for number in range(WRITES):
        await store.write(write(number))
    killed = await kill(store, directory)
    cut(killed / JOURNAL_NAME)
    graph, said, kept = await reopen(killed)
    assert graph == await store.read(content)
    assert kept
    assert "own log" in said


async def test_what_is_lost_from_journal_and_graph_is_named(expected: ReferenceGraph, directory: Path) -> None:
    damage_line(directory, 0)
    (directory / "graph" / "db").unlink()
    graph, said, kept = await reopen(directory)
    lost = WRITES // 2 + 1
    assert expected.nodes.keys() - graph.nodes.keys() == {("Session", f"s{lost}"), ("Message", f"m{lost}")}
    assert not kept
    assert f"Change sets {lost + 1} to {lost + 1} are lost" in said


async def test_a_damaged_snapshot_gives_way_to_an_older_one(store: Store, directory: Path) -> None:
    await store.write(write(0))
    await store.snapshot()
    await store.write(write(1))
    await store.snapshot()
    await store.write(write(2))
    await store.close()
    newest, _ = snapshots(directory)
    flip(newest)
    (directory / "graph" / "db").unlink()
    graph, said, kept = await reopen(directory)
    assert {id for kind, id in graph.nodes if kind == "Message"} == {"m0", "m2"}
    assert not kept, "the journal had been shortened by what the damaged snapshot held"
    assert "An older one is used" in said


async def test_an_entry_that_cannot_be_applied_is_set_aside_and_later_ones_are_applied(
    expected: ReferenceGraph, directory: Path
) -> None:
    """As one of a program with another schema would be."""
    alien = Entry.of(WRITES + 1, 1, ChangeSet((PutNode("Topic", "t", {"colour": "red"}),)))
    sound = Entry.of(WRITES + 2, 1, ChangeSet((PutNode("Topic", "u", {}),)))
    with (directory / JOURNAL_NAME).open("ab") as journal:
        journal.write(alien.line + b"\n" + sound.line + b"\n")
    graph, said, kept = await reopen(directory)
    assert graph.nodes.keys() - expected.nodes.keys() == {("Topic", "u")}
    assert not kept
    assert f"Change set {WRITES + 1} cannot be applied" in said
    assert (directory / QUARANTINE_NAME).read_bytes() == alien.line + b"\n"


async def test_a_graph_older_than_the_newest_snapshot_is_rebuilt(store: Store, directory: Path) -> None:
    """As when someone copies an old graph folder back."""
    await store.write(write(0))
    await store.close()
    old = shutil.copytree(directory / "graph", directory / "old")
    store = await Store.open(directory)
    await store.write(write(1))
    await store.snapshot()
    graph = await store.read(content)
    await store.close()
    shutil.rmtree(directory / "graph")
    old.rename(directory / "graph")
    assert (await reopen(directory))[0] == graph


@pytest.mark.anyio
async def test_a_long_log_is_left_at_the_end_and_the_graph_is_whole_at_the_next_start(tmp_path: Path) -> None:
    """W5: a checkpoint that cannot end in time is not begun, and nothing has to be rebuilt."""
    store = await Store.open(tmp_path)
    await store.close()  # seals the empty graph
    store = await Store.open(tmp_path)
    text = "x" * 100_000
    for number in range(40):
        await store.write(lambda draft, number=number: draft.put("Topic", f"t{number}", summary=text))
    assert (tmp_path / "graph" / "db.wal").stat().st_size > 2 << 20
    await store.close()
    store = await Store.open(tmp_path)
    assert (await store.counts())["Topic"] == 40
    assert store.status().recoveries == ()
    await store.close()


@pytest.fixture
async def impatient(directory: Path, anyio_backend: str) -> AsyncIterator[Store]:
    """A store that has a failed repair tried again at each call."""
    opened = await Store.open(directory, retry_seconds=0)
    yield opened
    await opened.close()


async def stop_the_graph(store: Store) -> None:
    """Take the graph's connection away: the next change set is acknowledged, and the graph has to be rebuilt for it."""
    await store.read(lambda view: None)
    store._writer.graph._writer.close()  # pyright: ignore[reportPrivateUsage]


async def topics(store: Store) -> list[str]:
    return sorted(id for kind, id in (await store.read(content)).nodes if kind == "Topic")


def put(topic: str, **properties: str) -> Callable[[Draft], None]:
    return lambda draft: draft.put("Topic", topic, **properties)


@pytest.mark.parametrize("first", ["write", "read"])
async def test_a_repair_that_failed_is_tried_again_by_the_next_call_and_the_store_goes_on(
    impatient: Store, directory: Path, first: str
) -> None:
    """W7: writes are refused before anything is journaled for as long as the graph cannot be repaired."""
    store, obstacle = impatient, directory / "graph.new"
    await store.write(put("before"))
    await stop_the_graph(store)
    obstacle.write_text("in the way", encoding="utf-8")
    await store.write(put("acknowledged"))
    for _ in range(3):
        with pytest.raises(StoreError, match=r"cannot follow the journal.*graph\.new"):
            await store.write(put("refused"))
        with pytest.raises(StoreError, match=r"graph\.new"):
            await topics(store)
    assert "graph.new" in (store.status().failure or "")
    assert store.status().recoveries == ()
    assert (store.sequence, store.status().journal_entries) == (2, 2)
    obstacle.unlink()
    if first == "write":
        await store.write(put("after"))
    else:
        assert await topics(store) == ["acknowledged", "before"]
        await store.write(put("after"))
    assert await topics(store) == ["acknowledged", "after", "before"]
    assert store.status().failure is None
    assert [each.message for each in store.status().recoveries if "was rebuilt" in each.message] == [
        "The graph could not apply a change set and was rebuilt"
    ]
    graph = await store.read(content)
    await store.close()
    assert (await reopen(directory)) == (graph, "", True)


async def test_a_disk_that_is_full_for_a_time_is_no_reason_to_start_again(impatient: Store, directory: Path) -> None:
    store, resource = impatient, pytest.importorskip("resource", reason="limits of a process are POSIX")
    await store.write(put("before"))
    await stop_the_graph(store)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, hard))  # room for the journal, none for a graph
    try:
        await store.write(put("acknowledged"))
        for _ in range(2):
            with pytest.raises(StoreError, match=r"cannot follow the journal"):
                await store.write(put("refused"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await store.write(put("after"))
    assert await topics(store) == ["acknowledged", "after", "before"]


async def test_a_repair_that_failed_is_left_alone_for_a_while(directory: Path) -> None:
    store, obstacle = await Store.open(directory, retry_seconds=3600), directory / "graph.new"
    await stop_the_graph(store)
    obstacle.write_text("in the way", encoding="utf-8")
    await store.write(put("acknowledged"))
    with pytest.raises(StoreError, match=r"graph\.new"):
        await topics(store)
    obstacle.unlink()
    with pytest.raises(StoreError, match=r"graph\.new"):
        await topics(store)
    with pytest.raises(StoreError, match=r"graph\.new"):
        await store.write(put("refused"))
    await store.close()
    store = await Store.open(directory)
    assert await topics(store) == ["acknowledged"]
    await store.close()


async def test_calls_that_wait_for_the_same_repair_all_go_on(impatient: Store, directory: Path) -> None:
    store, obstacle = impatient, directory / "graph.new"
    await stop_the_graph(store)
    obstacle.write_text("in the way", encoding="utf-8")
    await store.write(put("t"))
    await asyncio.gather(*[topics(store) for _ in range(8)], return_exceptions=True)
    obstacle.unlink()
    assert await asyncio.gather(*[topics(store) for _ in range(8)]) == [["t"]] * 8
    assert len(set_aside(directory)) == 1


async def test_a_repair_that_would_lose_what_an_unreadable_snapshot_holds_is_no_repair(
    impatient: Store, directory: Path
) -> None:
    """The graph's own sealed file still has it, and a start opens that."""
    store = impatient
    await store.write(put("in the snapshot"))
    await store.snapshot()
    await stop_the_graph(store)
    flip(snapshots(directory)[0])
    await store.write(put("acknowledged"))
    with pytest.raises(StoreError, match="would not be whole"):
        await topics(store)
    await store.close()
    store = await Store.open(directory)
    assert await topics(store) == ["acknowledged", "in the snapshot"]
    await store.close()


async def test_a_sound_snapshot_that_cannot_be_loaded_is_not_passed_over(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await Store.open(directory)
    await store.write(put("in the snapshot"))
    await store.snapshot()
    await store.close()
    shutil.rmtree(directory / "graph")

    def no_room(*_: object) -> None:  # Kuzu ends the whole process when the disk is full at this point
        raise StoreError("Kuzu refused a query: no room")

    with monkeypatch.context() as full:
        full.setattr(Graph, "load", no_room)
        with pytest.raises(StoreError, match="no room"):
            await Store.open(directory)
    store = await Store.open(directory)
    assert await topics(store) == ["in the snapshot"]
    await store.close()
