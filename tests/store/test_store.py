"""The store's promises to its callers: reads, writes, order, isolation, cancellation, closing."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import kuzu
import pytest

from uniko_mcp.errors import ReadOnlyError, StoreClosedError, StoreError, StoreLockedError
from uniko_mcp.store import Commit, Draft, Store, View

pytestmark = pytest.mark.anyio


def put_topic(id: str, **properties: Any) -> Callable[[Draft], None]:
    return lambda draft: draft.put("Topic", id, **properties)


async def topics(store: Store) -> list[str]:
    return await store.read(
        lambda view: [row["id"] for row in view.rows("MATCH (t:Topic) RETURN t.topic_id AS id ORDER BY id")]
    )


async def test_a_write_returns_what_its_plan_returns_and_the_next_read_sees_it(store: Store) -> None:
    def plan(draft: Draft) -> str:
        draft.put("Goal", "g", title="Ship", deadline=None)
        return "planned"

    assert await store.write(plan) == "planned"
    goal = await store.read(lambda view: view.node("Goal", "g"))
    assert goal is not None
    assert (goal["goal_id"], goal["title"], goal["deadline"]) == ("g", "Ship", None)


async def test_what_was_written_is_there_after_reopening(
    store: Store, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C2: a relative path with spaces and umlauts whose parents were missing."""
    await store.write(put_topic("t", name="東京 ü"))
    await store.close()
    monkeypatch.chdir(directory.parent)
    reopened = await Store.open(Path(directory.name))
    try:
        assert await topics(reopened) == ["t"]
        assert reopened.status().directory == directory
        assert reopened.status().recoveries == ()
    finally:
        await reopened.close()


async def test_concurrent_writes_are_all_stored_in_the_order_they_were_made(store: Store) -> None:
    """W1."""
    seen: list[Commit] = []
    store.on_commit(seen.append)
    await asyncio.gather(*(store.write(put_topic(f"t{n:02}")) for n in range(20)))
    assert await topics(store) == [f"t{n:02}" for n in range(20)]
    assert [commit.sequence for commit in seen] == list(range(1, 21))
    assert [commit.changes.changes[0].id for commit in seen] == [f"t{n:02}" for n in range(20)]  # type: ignore[union-attr]


async def test_a_plan_sees_every_write_before_it(store: Store) -> None:
    def count(draft: Draft) -> None:
        row = draft.row("MATCH (t:Topic) RETURN count(*) AS n")
        assert row is not None
        draft.put("Topic", f"t{row['n']}")
        draft.put("Entity", "e")
        draft.put("Message", f"m{row['n']}")
        draft.link("MENTIONS", ("Message", f"m{row['n']}"), ("Entity", "e"))
        edges = draft.row("MATCH (m)-[e:MENTIONS]->() RETURN count(*) AS n")
        assert edges == {"n": row["n"]}

    await asyncio.gather(*(store.write(count) for _ in range(10)))
    assert len(await topics(store)) == 10


async def test_a_plan_that_raises_writes_nothing_and_harms_no_other(store: Store) -> None:
    def fail(draft: Draft) -> None:
        draft.put("Topic", "of the failing plan")
        draft.rows("MATCH (t:Topic) RETURN t")
        raise KeyError("mine")

    plans = [put_topic("a"), fail, put_topic("b"), lambda draft: draft.rows("NOT CYPHER") and None, put_topic("c")]
    results = await asyncio.gather(*map(store.write, plans), return_exceptions=True)
    assert [type(result) for result in results] == [type(None), KeyError, type(None), StoreError, type(None)]
    assert await topics(store) == ["a", "b", "c"]
    assert store.status().sequence == 3


async def test_a_draft_shows_its_own_nodes_and_the_stored_ones(store: Store) -> None:
    await store.write(put_topic("old", name="kept", summary="older"))

    def plan(draft: Draft) -> None:
        draft.put("Topic", "old", summary="newer")
        draft.put("Topic", "new", name="n")
        assert draft.existing("Topic", ["old", "new", "none"]) == {"old", "new"}
        assert draft.node("Topic", "old") == {"topic_id": "old", "name": "kept", "summary": "newer"}
        assert draft.node("Topic", "new") == {"topic_id": "new", "name": "n", "summary": None}
        assert draft.node("Topic", "none") is None
        draft.delete("Topic", "old")
        assert draft.node("Topic", "old") is None
        draft.put("Topic", "old")
        assert draft.node("Topic", "old") == {"topic_id": "old", "name": None, "summary": None}

    await store.write(plan)
    assert await store.read(lambda view: view.node("Topic", "old")) == {
        "topic_id": "old",
        "name": None,
        "summary": None,
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda draft: draft.put("Nothing", "x"),
        lambda draft: draft.put("Topic", ""),
        lambda draft: draft.put("Topic", "x", colour="red"),
        lambda draft: draft.put("Topic", "x", name=7),
        lambda draft: draft.put("Topic", "x", name="\ud800"),
        lambda draft: draft.put("Topic", "\udfff"),
        lambda draft: draft.put("Task", "x", priority=float("nan")),
        lambda draft: draft.put("Task", "x", priority=True),
        lambda draft: draft.put("Task", "x", created_at=1.0),
        lambda draft: draft.put("Task", "x", created_at=2**62),
        lambda draft: draft.link("SENT_BY", ("Topic", "x"), ("Topic", "x")),
        lambda draft: draft.link("LIKES", ("Topic", "x"), ("Topic", "x")),
        lambda draft: draft.unlink("LIKES", ("Topic", "x"), ("Topic", "x")),
        lambda draft: draft.delete("Nothing", "x"),
    ],
)
async def test_a_change_that_does_not_fit_the_schema_is_refused(store: Store, change: Callable[[Draft], None]) -> None:
    with pytest.raises(ValueError, match=r"."):
        await store.write(change)
    assert store.status().sequence == 0


async def test_a_link_to_a_missing_node_is_refused(store: Store) -> None:
    await store.write(put_topic("here"))
    for ends in ((("Topic", "here"), ("Topic", "gone")), (("Topic", "gone"), ("Topic", "here"))):
        with pytest.raises(StoreError, match="'gone'"):
            await store.write(lambda draft, ends=ends: draft.link("PART_OF", *ends))
    await store.write(lambda draft: draft.delete("Topic", "here"))
    with pytest.raises(StoreError, match="'here'"):
        await store.write(lambda draft: draft.link("PART_OF", ("Topic", "here"), ("Topic", "here")))


async def test_a_cancelled_write_is_done_whole_or_not_at_all(store: Store) -> None:
    entered, proceed = threading.Event(), threading.Event()

    def slow(draft: Draft) -> None:
        entered.set()
        proceed.wait()
        draft.put("Topic", "running when cancelled")
        draft.put("Entity", "running when cancelled")

    running = asyncio.create_task(store.write(slow))
    await asyncio.to_thread(entered.wait)
    waiting = asyncio.create_task(store.write(put_topic("waiting when cancelled")))
    after = asyncio.create_task(store.write(put_topic("after")))
    await asyncio.sleep(0)
    running.cancel()
    waiting.cancel()
    await asyncio.wait([running, waiting])
    proceed.set()
    await after
    assert await topics(store) == ["after", "running when cancelled"]
    assert (await store.counts())["Entity"] == 1


async def test_readers_see_one_moment_and_do_not_wait_for_a_writer(store: Store) -> None:
    await store.write(put_topic("before"))
    entered, proceed = threading.Event(), threading.Event()

    def slow(draft: Draft) -> None:
        draft.put("Topic", "meanwhile")
        entered.set()
        proceed.wait()

    writing = asyncio.create_task(store.write(slow))
    await asyncio.to_thread(entered.wait)
    assert await topics(store) == ["before"]

    def two_looks(view: View) -> tuple[int, int]:
        first = view.rows("MATCH (t:Topic) RETURN t.topic_id AS id")
        proceed.set()
        future = asyncio.run_coroutine_threadsafe(_done(writing), loop)
        future.result()
        return len(first), len(view.rows("MATCH (t:Topic) RETURN t.topic_id AS id"))

    async def _done(task: asyncio.Task[None]) -> None:
        await task

    loop = asyncio.get_running_loop()
    assert await store.read(two_looks) == (1, 1)
    assert await topics(store) == ["before", "meanwhile"]


async def test_a_read_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError):
        await store.read(lambda view: view.rows("CREATE (:Topic {topic_id: 'x'})"))
    assert await topics(store) == []


async def test_a_failed_query_ends_its_read_and_no_other(store: Store) -> None:
    def read(view: View) -> None:
        with pytest.raises(StoreError, match="Parser exception"):
            view.rows("NOT CYPHER")
        with pytest.raises(StoreError, match="earlier query"):
            view.rows("MATCH (t:Topic) RETURN t")

    await store.read(read)
    assert await topics(store) == []


async def test_an_error_of_the_graph_quotes_no_memory(store: Store) -> None:
    with pytest.raises(StoreError) as caught:
        await store.read(lambda view: view.rows("RETURN CAST($text AS INT64)", text="a secret"))
    assert "secret" not in str(caught.value)


async def test_a_listener_that_fails_does_not_stop_the_others(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[int] = []

    def fail(commit: Commit) -> None:
        raise RuntimeError("a listener's own fault")

    store.on_commit(fail)
    end = store.on_commit(lambda commit: seen.append(commit.sequence))
    await store.write(put_topic("a"))
    await store.read(lambda view: None)
    await store.snapshot()
    end()
    await store.write(put_topic("b"))
    await store.close()
    assert seen == [1]


async def test_a_read_only_store_refuses_writes(store: Store, directory: Path) -> None:
    await store.write(put_topic("t"))
    await store.close()
    reader = await Store.open(directory, read_only=True)
    try:
        assert await topics(reader) == ["t"]
        with pytest.raises(ReadOnlyError):
            await reader.write(put_topic("u"))
    finally:
        await reader.close()


async def test_a_directory_in_use_names_its_holder(store: Store, directory: Path) -> None:
    with pytest.raises(StoreLockedError, match=rf"process {os.getpid()} since \d{{4}}-"):
        await Store.open(directory)


async def test_the_lock_of_a_dead_process_is_free(directory: Path) -> None:
    """W4."""
    script = (
        "import os, sys, pathlib; from uniko_mcp.store.lock import DirectoryLock;"
        "DirectoryLock(pathlib.Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    await anyio.run_process([sys.executable, "-c", script, str(directory)], check=False)
    store = await Store.open(directory)
    await store.close()


async def test_closing_finishes_what_was_submitted_and_refuses_what_comes_after(store: Store, directory: Path) -> None:
    """W5, the store's part."""
    writes = [asyncio.create_task(store.write(put_topic(f"t{n}"))) for n in range(5)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*writes)
    with pytest.raises(StoreClosedError):
        await store.write(put_topic("late"))
    with pytest.raises(StoreClosedError):
        await topics(store)
    reopened = await Store.open(directory)
    assert len(await topics(reopened)) == 5
    await reopened.close()


async def test_a_full_disk_fails_the_write_and_leaves_the_store_usable(store: Store, directory: Path) -> None:
    await store.write(put_topic("before"))
    resource = pytest.importorskip("resource", reason="limits of a process are POSIX")
    journal = directory / "journal.jsonl"
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (journal.stat().st_size + 100, hard))
    try:
        with pytest.raises(StoreError, match=r"journal\.jsonl"):
            await store.write(put_topic("too large", summary="x" * 1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await store.write(put_topic("after"))
    assert await topics(store) == ["after", "before"]
    assert journal.read_bytes().count(b"\n") == 2


async def test_a_graph_that_stops_working_is_rebuilt_from_the_journal_while_the_store_is_open(store: Store) -> None:
    await store.write(put_topic("before"))
    await store.read(lambda view: None)
    store._writer.graph._writer.close()  # pyright: ignore[reportPrivateUsage]
    await store.write(put_topic("acknowledged, not applied"))
    assert await topics(store) == ["acknowledged, not applied", "before"]
    await store.write(put_topic("later"))
    assert len(await topics(store)) == 3
    assert "rebuilt" in store.status().recoveries[0].message
    assert store.status().failure is None


def test_importing_the_store_imports_nothing_heavy() -> None:
    script = "import sys, uniko_mcp.store; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert not {"kuzu", "numpy", "pyarrow", "mcp", "pydantic"} & set(modules)


@pytest.mark.skipif(os.name == "nt", reason="file modes are POSIX")
async def test_everything_in_the_data_directory_is_private(store: Store, directory: Path) -> None:
    await store.write(put_topic("t"))
    await store.snapshot()
    await store.close()
    assert exposed(directory) == []


def exposed(directory: Path) -> list[Path]:
    """What others than the owner may read."""
    return [path for path in (directory, *directory.rglob("*")) if path.stat().st_mode & 0o077]


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 19, 20, 26, 47, 100, 101])
async def test_nodes_are_looked_up_however_many_there_are(store: Store, count: int) -> None:
    ids = [f"topic-{number:03}" for number in range(count)]
    await store.write(lambda draft: [draft.put("Topic", id, name=id) for id in ids])
    found = await store.read(lambda view: view.nodes("Topic", [*ids, "unknown"]))
    assert {id: node["name"] for id, node in found.items()} == {id: id for id in ids}
    assert await store.read(lambda view: view.existing("Topic", ["unknown", *ids])) == set(ids)


async def test_a_statement_is_prepared_once_however_often_it_runs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Kuzu prepares it never lets go: 9 kB for each call."""
    prepared: list[str] = []

    class Counted(kuzu.PreparedStatement):
        def __init__(self, connection: kuzu.Connection, query: str) -> None:
            prepared.append(query)
            super().__init__(connection, query)

    monkeypatch.setattr(kuzu, "PreparedStatement", Counted)
    for number in range(5):
        await store.write(put_topic(f"topic-{number}", name="x"))
        await store.read(lambda view, number=number: view.node("Topic", f"topic-{number}"))
    assert prepared
    assert prepared == list(dict.fromkeys(prepared))


@pytest.mark.parametrize(
    "wanted", [[], ["a"], ["unknown"], ["a", "Ü"], ["zz", "a", "m", "a"], ["a", "b", "m", "zz", "Ü"]]
)
async def test_a_query_about_several_nodes_finds_those_and_no_others(store: Store, wanted: list[str]) -> None:
    ids = ["a", "b", "m", "zz", "Ü"]
    await store.write(lambda draft: [draft.put("Topic", id, name=id) for id in ids])
    query = "MATCH (t:Topic) WHERE t.topic_id AMONG $ids RETURN t.name AS name"
    found = await store.read(lambda view: [row["name"] for row in view.rows_for(query, wanted)])
    assert sorted(found) == sorted({id for id in wanted if id in ids})
