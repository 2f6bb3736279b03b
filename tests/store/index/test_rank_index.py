"""The rank index: what goes in is found, what goes out is not, and damage costs nothing but time."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.store.index.documents import DIMENSION, MODEL, message, vector
from uniko_mcp.errors import StoreClosedError, StoreError
from uniko_mcp.store.index.columns import NOWHERE
from uniko_mcp.store.index.database import Database
from uniko_mcp.store.index.documents import IndexDocument, Source
from uniko_mcp.store.index.rank_index import Pending, RankIndex
from uniko_mcp.store.index.tokens import query_tokens


def ids_with(index: RankIndex, word: str) -> set[str]:
    postings = index.postings(query_tokens(word)[0])
    assert postings is not None
    return {document.id for document in index.documents([int(row) for row in postings.rows]).values()}


def neighbours(index: RankIndex, id: str) -> tuple[str | None, str | None]:
    records = index.columns.records
    documents = index.documents(range(len(index.columns)))
    row = next(row for row, document in documents.items() if document.id == id)
    before, after = (int(records[name][row]) for name in ("previous", "next"))
    return tuple(documents[place].id if place != NOWHERE else None for place in (before, after))  # type: ignore[return-value]


def test_a_document_comes_back_as_it_went_in(index: RankIndex) -> None:
    document = IndexDocument(
        "Observation",
        "o1",
        "Ana lives in Porto 🏠",
        7,
        sender="Ana",
        sender_id="p1",
        role="user",
        session_id="s",
        ordinal=3,
        topic="homes",
        heading="h",
        owner="agent-a",
        entities=("Porto", "Ana"),
        about_from=1,
        about_to=2,
        sources=(Source("m1", "s", "Ana"), Source(artifact_id="a1")),
        superseded_at=9,
    )
    index.put([document])
    assert index.documents([0]) == {0: document}


def test_replacing_a_document_forgets_its_old_words(index: RankIndex) -> None:
    index.put([message("m1", "the port is 8080")])
    index.put([message("m1", "the port is 8443")])
    assert ids_with(index, "8080") == set()
    assert ids_with(index, "8443") == {"m1"}
    assert index.status().documents == 1


def test_a_deleted_document_is_in_no_list(index: RankIndex) -> None:
    """D1."""
    index.put([message("m1", "same words", entities=("Porto",)), message("m2", "same words")])
    index.use_model(MODEL, DIMENSION)
    index.store_embeddings(index.pending_embeddings(10), np.stack([vector(1), vector(1)]), model=MODEL)
    index.delete([("Message", "m1"), ("Message", "unknown")])
    assert ids_with(index, "word") == {"m2"}
    assert index.mentions("porto") == []
    assert index.status().embedded == 1
    assert index.documents([0, 1]).keys() == {1}


def test_ids_of_other_kinds_are_other_documents(index: RankIndex) -> None:
    index.put([message("x", "alpha"), IndexDocument("Fact", "x", "beta", 0)])
    index.delete([("Fact", "x")])
    assert ids_with(index, "alpha") == {"x"}
    assert ids_with(index, "beta") == set()


def test_what_was_put_is_there_after_reopening(index: RankIndex, directory: Path) -> None:
    index.put([message("m1", "first", at=1), message("m2", "second", at=2)], sequence=41)
    index.close()
    with RankIndex(directory) as reopened:
        assert reopened.sequence == 41
        assert ids_with(reopened, "second") == {"m2"}
        assert neighbours(reopened, "m2") == ("m1", None)


def test_messages_of_a_session_are_neighbours_in_time_whatever_order_they_come_in(index: RankIndex) -> None:
    index.put([message("m3", "c", at=30), message("m1", "a", at=10), message("other", "z", at=15, session="t")])
    index.put([message("m2", "b", at=20)])
    assert neighbours(index, "m2") == ("m1", "m3")
    index.delete([("Message", "m2")])
    assert neighbours(index, "m1") == (None, "m3")
    assert neighbours(index, "other") == (None, None)


def test_moving_a_message_to_another_session_relinks_both(index: RankIndex) -> None:
    index.put([message(f"m{n}", "x", at=n) for n in range(3)])
    index.put([message("m1", "x", at=1, session="t")])
    assert neighbours(index, "m0") == (None, "m2")
    assert neighbours(index, "m1") == (None, None)


def origins(index: RankIndex) -> list[tuple[int, str, str, int]]:
    found = index.columns.origins[np.argsort(index.columns.origins["said_at"])]
    name = index.labels.name
    return [(int(row), name(session), name(sender), int(at)) for row, session, sender, at in found]


def test_what_a_document_rests_on_is_kept_as_long_as_the_document(index: RankIndex, directory: Path) -> None:
    ana, bo = Source("m1", "s", "ana", said_at=1), Source("m2", "t", "bo", said_at=2)
    index.put([IndexDocument("Fact", "f", "a fact", 9, sources=(ana, bo)), message("m", "said", sources=(ana,))])
    kept = [(0, "s", "ana", 1), (0, "t", "bo", 2), (1, "s", "ana", 1)]
    assert sorted(origins(index)) == kept
    with pytest.raises(ValueError, match="time"):
        index.put([IndexDocument("Fact", "f", "a fact", "no time")])  # type: ignore[arg-type]
    assert sorted(origins(index)) == kept
    index.close()
    with RankIndex(directory) as reopened:
        assert sorted(origins(reopened)) == kept
        reopened.put([IndexDocument("Fact", "f", "a fact", 9, sources=(bo,))])
        assert sorted(origins(reopened)) == kept[1:]
        reopened.delete([("Fact", "f")])
        assert sorted(origins(reopened)) == kept[2:]
        reopened.rebuild([IndexDocument("Fact", "f", "a fact", 9, sources=(bo, Source(None, "t", "bo")))], sequence=1)
        assert origins(reopened) == [(0, "t", "bo", 2), (0, "t", "bo", 9)]


def test_names_are_alike_whatever_their_case_and_accents(index: RankIndex) -> None:
    index.put([message(f"m{n}", "x", sender_id=name) for n, name in enumerate(("José", "jose", "Joseph"))])
    codes = index.labels.alike("sender", ["JOSÉ"])
    assert {index.labels.name(code) for code in codes} == {"José", "jose"}
    assert index.labels.alike("sender", ["nobody"]) == []


def test_a_failed_write_leaves_the_index_as_before(index: RankIndex) -> None:
    index.put([message("m1", "kept")], sequence=1)
    broken = message("m2", "lost", at="not a time")  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError)):
        index.apply([message("m3", "lost too"), broken], [("Message", "m1")], sequence=2)
    assert index.sequence == 1
    assert ids_with(index, "kept") == {"m1"}
    assert ids_with(index, "lost") == set()
    assert index.status().documents == 1


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100])
def test_a_damaged_file_is_replaced_by_an_empty_index_that_says_so(
    index: RankIndex, directory: Path, damage: bytes
) -> None:
    """W7, the part of the index."""
    index.put([message("m1", "gone")], sequence=9)
    index.close()
    for path in directory.glob("rank.sqlite*"):
        path.write_bytes(damage)
    with RankIndex(directory) as reopened:
        assert reopened.sequence == 0
        assert reopened.status().documents == 0
        reopened.put([message("m1", "anew")], sequence=10)
        assert ids_with(reopened, "anew") == {"m1"}


def test_files_are_private(index: RankIndex, directory: Path) -> None:
    index.put([message("m1", "secret")])
    index.use_model(MODEL, DIMENSION)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()} == {0o600}


def test_rebuilding_replaces_everything_and_reports_progress(index: RankIndex) -> None:
    index.put([message("old", "old")], sequence=5)
    heard: list[int] = []
    index.rebuild((message(f"m{n}", f"new {n}", at=n) for n in range(1_200)), sequence=7, progress=heard.append)
    assert heard == [500, 1_000, 1_200]
    assert index.sequence == 7
    assert index.status().documents == 1_200
    assert ids_with(index, "old") == set()
    assert neighbours(index, "m700") == ("m699", "m701")


def test_what_is_written_while_rebuilding_wins(index: RankIndex) -> None:
    def stale() -> Iterator[IndexDocument]:
        yield message("m1", "stale")
        index.put([message("m2", "fresh")], sequence=8)
        index.delete([("Message", "m3")], sequence=9)
        yield from (message(f"filler{n}", "filler") for n in range(500))
        yield message("m2", "stale")
        yield message("m3", "stale")

    index.rebuild(stale(), sequence=7)
    assert ids_with(index, "stale") == {"m1"}
    assert ids_with(index, "fresh") == {"m2"}


def test_a_rebuild_that_stops_half_way_has_sequence_zero(index: RankIndex) -> None:
    def failing() -> Iterator[IndexDocument]:
        yield from (message(f"m{n}", "word") for n in range(600))
        raise RuntimeError("the graph went away")

    index.put([message("old", "old")], sequence=5)
    with pytest.raises(RuntimeError):
        index.rebuild(failing(), sequence=7)
    assert index.sequence == 0
    assert not index.status().rebuilding


def test_searching_while_rebuilding_again_and_again_is_safe(index: RankIndex, directory: Path) -> None:
    documents = [message(f"m{n}", f"word {n}") for n in range(4_000)]
    index.put(documents)
    index.use_model(MODEL, DIMENSION)
    failures: list[BaseException] = []
    rebuilt = threading.Event()

    def search() -> None:
        try:
            while not rebuilt.is_set():
                index.cosines(vector(1), np.arange(4_000))
        except BaseException as error:
            failures.append(error)

    searching = threading.Thread(target=search)
    searching.start()
    for number in range(5):
        pending = index.pending_embeddings(4_000)
        index.store_embeddings(pending, np.tile(vector(1), (len(pending), 1)), model=MODEL)
        index.rebuild(documents[: 400 * number], sequence=number)
    rebuilt.set()
    searching.join()
    assert failures == []
    assert len(list(directory.glob("vectors-*"))) == 1
    assert not index.status().other_model_vectors


def test_an_index_that_was_half_rebuilt_does_not_pass_for_whole(index: RankIndex) -> None:
    def failing() -> Iterator[IndexDocument]:
        yield message("m1", "word")
        raise RuntimeError("the graph went away")

    with pytest.raises(RuntimeError):
        index.rebuild(failing(), sequence=7)
    index.put([message("m2", "word")], sequence=8)
    assert not index.complete
    assert index.sequence == 0
    index.rebuild([message("m1", "word")], sequence=8)
    assert index.complete
    assert index.sequence == 8


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are listed on Linux only")
def test_connections_do_not_pile_up_with_the_threads_that_read(index: RankIndex, directory: Path) -> None:
    """Each open connection holds the file open, which the system counts."""
    index.put([message("m1", "word")])
    for _ in range(40):
        reading = threading.Thread(target=ids_with, args=(index, "word"))
        reading.start()
        reading.join()
    open_files = [link.resolve() for link in Path("/proc/self/fd").iterdir()]
    assert open_files.count(directory / "rank.sqlite") < 10


def test_closing_waits_for_who_reads_and_refuses_who_comes_later(tmp_path: Path) -> None:
    database = Database(tmp_path / "rank.sqlite")
    closing = threading.Thread(target=database.close)
    with database.reading() as connection:
        closing.start()
        assert connection.execute("SELECT count(*) FROM document").fetchone() == (0,)
    closing.join()
    with pytest.raises(StoreClosedError), database.reading():
        pass


def test_a_damaged_file_is_replaced_while_the_index_is_open(index: RankIndex, directory: Path) -> None:
    """W7, the part of the index."""
    index.put([message("m1", "gone")], sequence=9)
    index.use_model(MODEL, DIMENSION)
    index.replace_if_damaged()
    assert index.sequence == 9
    for path in directory.glob("rank.sqlite*"):
        path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="failed"):
        index.put([message("m2", "lost")], sequence=10)
    index.replace_if_damaged()
    assert index.sequence == 0
    index.put([message("m1", "anew")], sequence=10)
    assert ids_with(index, "anew") == {"m1"}
    assert index.pending_count() == 1


def test_a_folder_that_cannot_hold_an_index_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "rank.sqlite" / "in the way").mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot be opened"):
        RankIndex(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be made"):
        RankIndex(tmp_path / "file")


def test_readers_and_writers_do_not_disturb_each_other(index: RankIndex) -> None:
    failures: list[BaseException] = []

    def write() -> None:
        for number in range(100):
            index.put([message(f"m{number}", f"word number {number}", at=number)], sequence=number)

    def read() -> None:
        try:
            for _ in range(100):
                columns, postings = index.columns, index.postings("word")
                assert postings is not None
                index.documents([int(row) for row in postings.rows if row < len(columns)])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for work in (write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(ids_with(index, "word")) == 100


def test_a_closed_index_refuses(index: RankIndex) -> None:
    index.close()
    with pytest.raises(StoreClosedError, match="closed"):
        index.put([message("m1", "a")])
    with pytest.raises(StoreClosedError, match="closed"):
        index.documents([0])
    with pytest.raises(StoreClosedError):
        index.store_embeddings([Pending(0, "a")], np.stack([vector(1)]), model=MODEL)
