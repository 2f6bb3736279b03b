"""The life of the index beside the store: what fails is said, costs nobody a wait, and mends itself."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from datetime import UTC
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from anyio import to_thread
from numpy.typing import NDArray

from uniko_mcp.config import EmbeddingSettings
from uniko_mcp.errors import StoreError
from uniko_mcp.memory.indexer import Rebuilding
from uniko_mcp.memory.recollection import Recollection, RecollectionStatus, recall_one_generation
from uniko_mcp.models import time
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.recall.recaller import Recaller
from uniko_mcp.store import Draft, Store
from uniko_mcp.store.index.documents import IndexDocument
from uniko_mcp.store.index.rank_index import RankIndex

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def recollecting(store: Store, directory: Path, **patience: float) -> AsyncGenerator[Recollection]:
    off = EmbeddingSettings(model="none")
    recollection = Recollection(store, directory, off, zone=UTC, retry_seconds=0.01, **patience)
    recollection.start()
    try:
        yield recollection
    finally:
        await recollection.close()


async def assert_fact(store: Store, id: str, text: str, *, valid_from: int = 1, valid_to: int | None = None) -> None:
    interval = {"valid_from": valid_from, "valid_to": valid_to}
    await store.write(lambda draft: draft.put("Fact", id, subject=text, predicate="is", object="so", **interval))


async def recalled(recollection: Recollection, query: str) -> list[str]:
    return [item.id for item in (await recollection.recall(RecallQuery(query))).items]


async def mended(recollection: Recollection) -> RecollectionStatus:
    async with asyncio.timeout(60):
        while (status := await recollection.status()).failure or status.catching_up:
            await recollection.settled(60)
    return status


def alter(index: Path, statement: str) -> None:
    """Change the index's tables behind its back."""
    with closing(sqlite3.connect(index / "rank.sqlite", timeout=60)) as connection:
        connection.execute(statement)
        connection.commit()


def damage(index: Path) -> None:
    for path in index.glob("rank.sqlite*"):
        path.write_bytes(b"no database at all" * 1_000)


async def test_a_write_that_cannot_be_indexed_is_said_and_taken_in_later(
    store: Store, directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with recollecting(store, directory) as recollection:
        await assert_fact(store, "old", "ledger")
        assert await recalled(recollection, "ledger") == ["old"]
        alter(directory, "CREATE TRIGGER broken BEFORE INSERT ON document BEGIN SELECT RAISE(ABORT, 'no space'); END")
        await assert_fact(store, "new", "secret ledger")
        bundle = await recollection.recall(RecallQuery("ledger"))
        assert [item.id for item in bundle.items] == ["old"]
        assert any("cannot be indexed at present" in note and "no space" in note for note in bundle.notes)
        assert "no space" in (await recollection.status()).warnings[0]
        alter(directory, "DROP TRIGGER broken")
        assert (await mended(recollection)).warnings == []
        assert set(await recalled(recollection, "ledger")) == {"old", "new"}
    assert "does not follow the memory" in caplog.text
    assert "secret" not in caplog.text


async def test_an_index_that_cannot_be_opened_is_a_clear_error_until_it_can(store: Store, directory: Path) -> None:
    obstacle = directory / "rank.sqlite" / "in the way"
    obstacle.mkdir(parents=True)
    async with recollecting(store, directory) as recollection:
        await assert_fact(store, "f", "ledger")
        with pytest.raises(StoreError, match="cannot be opened"):
            await recollection.recall(RecallQuery("ledger"))
        status = await recollection.status()
        assert "cannot be opened" in status.warnings[0]
        assert (status.documents, status.vectors.state) == (0, "unavailable")
        assert await recollection.relevant_facts("ledger", viewer="a", now=2) == []
        obstacle.rmdir()
        obstacle.parent.rmdir()
        await mended(recollection)
        assert await recalled(recollection, "ledger") == ["f"]


async def test_closing_an_index_that_failed_raises_nothing(store: Store, directory: Path) -> None:
    (directory / "rank.sqlite" / "in the way").mkdir(parents=True)
    async with recollecting(store, directory) as recollection:
        await recollection.status()
    with pytest.raises(StoreError):
        await recollection.recall(RecallQuery("ledger"))


async def test_a_rebuild_that_fails_is_made_good(store: Store, directory: Path) -> None:
    async with recollecting(store, directory) as recollection:
        await assert_fact(store, "f", "ledger")
        assert await recollection.settled(60)

        def stop(rebuilding: Rebuilding) -> None:
            raise KeyError(rebuilding.done)

        with pytest.raises(KeyError):
            await recollection.reindex(stop)
        await mended(recollection)
        assert await recalled(recollection, "ledger") == ["f"]


async def test_while_an_index_is_built_anew_recall_and_status_say_how_far_it_is(store: Store, directory: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def wait(rebuilding: Rebuilding) -> None:
        reached.set()
        assert go_on.wait(60)

    async with recollecting(store, directory) as recollection:
        for number in range(3):
            await assert_fact(store, f"f{number}", f"ledger {number}")
        assert await recollection.settled(60)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(recollection.reindex, wait)
            assert await to_thread.run_sync(reached.wait, 60)
            status = await recollection.status()
            bundle = await recollection.recall(RecallQuery("ledger"))
            go_on.set()
        assert (status.catching_up, status.rebuilding) == (True, Rebuilding(3, 3))
        assert "The index is being built anew: 3 of about 3 memories can be found so far." in bundle.notes
        status = await recollection.status()
        assert (status.catching_up, status.rebuilding) == (False, None)
        assert not any("index" in note for note in (await recollection.recall(RecallQuery("ledger"))).notes)


class Busy:
    """A real store that reads nothing while it is held."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.released = anyio.Event()
        self.released.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read(self, *arguments: Any) -> Any:
        await self.released.wait()
        return await self._store.read(*arguments)


async def test_while_the_index_lags_behind_recall_says_that_the_latest_may_be_missing(
    store: Store, directory: Path
) -> None:
    busy = Busy(store)
    async with recollecting(busy, directory, index_patience=0.01) as recollection:  # type: ignore[arg-type]
        await assert_fact(store, "old", "old ledger")
        assert await recollection.settled(60)
        busy.released = anyio.Event()
        await assert_fact(store, "new", "new ledger")
        bundle = await recollection.recall(RecallQuery("ledger"))
        assert (await recollection.status()).catching_up is True
        busy.released.set()
        assert [item.id for item in bundle.items] == ["old"]
        assert "The index is being brought up to date; the latest memories may be missing." in bundle.notes
        assert await recollection.settled(60)
        bundle = await recollection.recall(RecallQuery("ledger"))
        assert {item.id for item in bundle.items} == {"old", "new"}
        assert not any("index" in note for note in bundle.notes)


async def test_an_index_that_is_damaged_while_open_is_made_anew(store: Store, directory: Path) -> None:
    """W7, the part of the index."""
    async with recollecting(store, directory) as recollection:
        await assert_fact(store, "old", "old ledger")
        assert await recollection.settled(60)
        damage(directory)
        await assert_fact(store, "new", "new ledger")
        await mended(recollection)
        assert set(await recalled(recollection, "ledger")) == {"old", "new"}


async def test_writes_from_many_tasks_are_all_indexed(store: Store, directory: Path) -> None:
    """W1, the part of the index."""
    async with recollecting(store, directory) as recollection:
        await asyncio.gather(*(assert_fact(store, f"f{number}", f"ledger {number}") for number in range(200)))
        assert await recollection.settled(60)
        assert (await recollection.status()).documents == 200


async def test_a_restored_snapshot_is_what_recall_then_finds(store: Store, directory: Path, tmp_path: Path) -> None:
    async with recollecting(store, directory) as recollection:
        await assert_fact(store, "kept", "ledger")
        backup = await store.export_snapshot(tmp_path / "backup")
        await assert_fact(store, "later", "ledger")
        assert await recollection.settled(60)
        await store.restore_snapshot(backup)
        status = await mended(recollection)
        assert await recalled(recollection, "ledger") == ["kept"]
        assert status.sequence == store.sequence


async def test_an_index_of_a_later_state_than_the_memory_is_made_anew_and_followed(
    store: Store, directory: Path
) -> None:
    with RankIndex(directory) as later:
        later.put([IndexDocument("Fact", "gone", "gone is so", 1)], sequence=100)
    await assert_fact(store, "old", "old")
    async with recollecting(store, directory) as recollection:
        assert await recalled(recollection, "old") == ["old"]
        assert await recalled(recollection, "gone") == []
        await assert_fact(store, "new", "new")
        assert await recalled(recollection, "new") == ["new"]
        assert (await recollection.status()).sequence == store.sequence


async def test_a_topic_as_long_as_a_book_keeps_nothing_from_the_index(store: Store, directory: Path) -> None:
    def talk(draft: Draft) -> None:
        draft.put("Session", "s", topic="tide " * 198_000)
        draft.put("Participant", "ana", name="Ana")
        for number in range(150):
            draft.put("Message", f"m{number}", content=f"wave {number}", timestamp=number)
            draft.link("SENT_BY", ("Message", f"m{number}"), ("Participant", "ana"))
            draft.link("IN_SESSION", ("Message", f"m{number}"), ("Session", "s"))

    await store.write(talk)
    await assert_fact(store, "after", "banana")
    async with recollecting(store, directory) as recollection:
        assert await recalled(recollection, "banana") == ["after"]
        assert (await recollection.status()).documents == 151


async def test_a_fact_is_current_from_its_first_moment_to_its_last(store: Store, directory: Path) -> None:
    """T10: also as of a past moment."""
    async with recollecting(store, directory) as recollection:
        await assert_fact(store, "then", "capital Turin", valid_from=100, valid_to=200)
        await assert_fact(store, "after", "capital Florence", valid_from=200)
        await assert_fact(store, "one day", "capital Rome", valid_from=time.END_OF_TIME - 1)

        async def at(moment: int | None, **more: bool) -> set[str]:
            query = RecallQuery("capital", reference_time=moment, **more)
            return {item.id for item in (await recollection.recall(query)).items}

        assert await at(99) == set()
        assert await at(100) == await at(199) == {"then"}
        assert await at(200) == await at(None) == {"after"}
        assert await at(150, include_superseded=True) == {"then", "after", "one day"}


async def test_rows_of_an_index_begun_anew_are_not_taken_for_what_they_were(directory: Path) -> None:
    """S2, S3: what another agent keeps private must not come out at the place of what was shared."""
    shared = IndexDocument("Message", "shared", "the ledger is in Porto", 0, session_id="s")
    private = IndexDocument("Message", "private", "the ledger is in a vault", 0, session_id="s", owner="other")

    class Rebuilding:
        """Has the index built anew in the middle of the first query."""

        def __init__(self, index: RankIndex) -> None:
            self.index, self.asked = index, 0

        def embed_query(self, text: str) -> NDArray[np.float32] | None:
            self.asked += 1
            if self.asked == 1:
                self.index.rebuild([private], sequence=1)
            return None

        def notes(self) -> tuple[str, ...]:
            return ()

    with RankIndex(directory) as index:
        index.put([shared])
        recaller = Recaller(index, Rebuilding(index))
        assert recall_one_generation(index, recaller, RecallQuery("ledger", viewer="me")).items == ()
