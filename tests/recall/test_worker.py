"""The index worker with a real model: vectors come by themselves, and their absence is said."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.recall.memories import ids, message, recall
from uniko_mcp.errors import ModelUnavailableError
from uniko_mcp.recall.embedder import Embedder, EmbeddingChoice, ModelNotHereError, load_embedder
from uniko_mcp.recall.worker import IndexWorker
from uniko_mcp.store.index.rank_index import RankIndex

PATIENCE = 60


def other_talk(count: int = 30) -> list[object]:
    texts = ("the invoice is overdue", "rain again today", "the server needs a patch", "lunch at noon then")
    return [message(f"x{number}", f"{texts[number % 4]} {number}", session_id=f"s{number}") for number in range(count)]


def test_meaning_finds_what_shares_no_word_with_the_query(index: RankIndex, minilm: Embedder) -> None:
    index.put([message("wanted", "My kitten sleeps on the sofa", session_id="home"), *other_talk()])  # type: ignore[list-item]
    with IndexWorker(index, lambda: minilm) as worker:
        assert worker.wait_until_idle(PATIENCE)
        bundle = recall(index, "Does anyone own a cat?", embedder=worker)
        assert ids(bundle)[0] == "wanted"
        assert bundle.notes == ()


def test_meaning_finds_the_only_memory_there_is(index: RankIndex, minilm: Embedder) -> None:
    index.put([message("only", "My kitten sleeps on the sofa")])
    with IndexWorker(index, lambda: minilm) as worker:
        assert worker.wait_until_idle(PATIENCE)
        assert ids(recall(index, "Does anyone own a cat?", embedder=worker)) == ["only"]


def test_a_new_memory_is_embedded_without_being_asked_for(index: RankIndex, minilm: Embedder) -> None:
    with IndexWorker(index, lambda: minilm) as worker:
        assert worker.wait_until_idle(PATIENCE)
        index.put([message("wanted", "My kitten sleeps on the sofa")])
        worker.wake()
        assert worker.wait_until_idle(PATIENCE)
        assert worker.status().pending == 0
        assert worker.status().embedded == 1


def test_without_its_model_recall_goes_by_words_says_so_and_fills_in_later(index: RankIndex, minilm: Embedder) -> None:
    """C4."""
    available = threading.Event()

    def load() -> Embedder:
        if not available.is_set():
            raise ModelUnavailableError("no network")
        return minilm

    index.put([message("wanted", "My kitten sleeps on the sofa")])
    with IndexWorker(index, load, retry_seconds=0.01) as worker:
        assert worker.wait_until_idle(PATIENCE)
        bundle = recall(index, "kitten", embedder=worker)
        assert ids(bundle) == ["wanted"]
        assert any("missing (no network)" in note for note in bundle.notes)
        available.set()
        while worker.status().state != "ready":
            assert worker.wait_until_idle(PATIENCE)
        assert worker.wait_until_idle(PATIENCE)
        assert worker.status().embedded == 1
        assert recall(index, "kitten", embedder=worker).notes == ()


class Unreliable:
    """A real model whose library fails now and then, as onnxruntime does when memory runs out."""

    def __init__(self, model: Embedder) -> None:
        self.model, self.dimension = model.model, model.dimension
        self.broken = True
        self._model = model

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.broken:
            raise RuntimeError(f"cannot allocate for {texts}")
        return self._model.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if self.broken:
            raise ModelUnavailableError("the service is down")
        return self._model.embed_query(text)


def test_whatever_a_model_raises_it_is_unavailable_and_tried_again(
    index: RankIndex, minilm: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    model = Unreliable(minilm)
    index.put([message("wanted", "My kitten sleeps on the sofa")])
    with IndexWorker(index, lambda: model, retry_seconds=0.01) as worker:
        assert worker.wait_until_idle(PATIENCE)
        while worker.status().state != "unavailable":
            assert worker.wait_until_idle(PATIENCE)
        assert "RuntimeError" in worker.status().reason
        model.broken = False
        while worker.status().embedded == 0:
            assert worker.wait_until_idle(PATIENCE)
    assert "kitten" not in caplog.text


def test_a_model_that_a_query_finds_missing_is_asked_for_again(index: RankIndex, minilm: Embedder) -> None:
    model = Unreliable(minilm)
    model.broken = False
    with IndexWorker(index, lambda: model, retry_seconds=0.01) as worker:
        assert worker.wait_until_idle(PATIENCE)
        while worker.status().state != "ready":
            assert worker.wait_until_idle(PATIENCE)
        model.broken = True
        assert worker.embed_query("kitten") is None
        model.broken = False
        while worker.embed_query("kitten") is None:
            assert worker.wait_until_idle(PATIENCE)


def test_an_index_that_closes_beneath_the_worker_ends_it_quietly(
    index: RankIndex, minilm: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    embedding, closed = threading.Event(), threading.Event()

    class Slow:
        model, dimension, embed_query = minilm.model, minilm.dimension, minilm.embed_query

        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            embedding.set()
            assert closed.wait(PATIENCE)
            return minilm.embed_documents(texts)

    index.put([message("m", "kitten")])
    with IndexWorker(index, Slow) as worker:
        assert embedding.wait(PATIENCE)
        index.close()
        closed.set()
        assert worker.wait_until_idle(PATIENCE)
    assert caplog.records == []


def test_a_library_that_fails_on_a_text_is_a_model_that_is_unavailable(minilm: Embedder) -> None:
    with pytest.raises(ModelUnavailableError, match="failed"):
        minilm.embed_documents([None])  # type: ignore[list-item]


def test_a_text_on_which_the_model_fails_keeps_no_other_from_its_vector(index: RankIndex, minilm: Embedder) -> None:
    class Picky:
        model, dimension, embed_query = minilm.model, minilm.dimension, minilm.embed_query

        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if any("poison" in text for text in texts):
                raise ModelUnavailableError("no such text")
            return minilm.embed_documents(texts)

    index.put(other_talk(20))  # type: ignore[arg-type]
    index.put([message("bad", "poison")])
    with IndexWorker(index, Picky) as worker:
        assert worker.wait_until_idle(PATIENCE)
        status = worker.status()
        assert (status.state, status.embedded, status.pending, status.refused) == ("ready", 20, 0, 1)
        assert any("fails on 1 memories" in note for note in recall(index, "poison", embedder=worker).notes)
        index.put([message("bad", "a remedy"), message("new", "and more")])
        worker.wake()
        assert worker.wait_until_idle(PATIENCE)
        status = worker.status()
        assert (status.embedded, status.pending, status.refused) == (22, 0, 0)


def test_a_model_that_is_fetched_keeps_nobody_waiting(index: RankIndex, minilm: Embedder) -> None:
    arrived = threading.Event()

    def absent() -> Embedder:
        raise ModelNotHereError("not on this machine")

    def fetch() -> Embedder:
        assert arrived.wait(PATIENCE)
        return minilm

    index.put([message("wanted", "My kitten sleeps on the sofa")])
    with IndexWorker(index, absent, fetch=fetch) as worker:
        assert worker.wait_until_loaded(PATIENCE)
        assert worker.wait_until_idle(PATIENCE, until=("fetching",))
        bundle = recall(index, "kitten", embedder=worker)
        assert ids(bundle) == ["wanted"]
        assert any("being fetched" in note for note in bundle.notes)
        arrived.set()
        assert worker.wait_until_idle(PATIENCE)
        assert worker.status().state == "ready"


def test_a_named_model_that_may_not_be_fetched_is_not_here(tmp_path: Path) -> None:
    with pytest.raises(ModelNotHereError, match="may not be fetched"):
        load_embedder(EmbeddingChoice(download=False, cache=tmp_path))


def test_switched_off_is_said(index: RankIndex) -> None:
    with IndexWorker(index, None) as worker:
        assert worker.wait_until_idle(PATIENCE)
        index.put([message("m", "kitten")])
        assert any("switched off" in note for note in recall(index, "kitten", embedder=worker).notes)


def test_a_changed_model_embeds_anew_and_never_mixes(index: RankIndex, minilm: Embedder) -> None:
    """C3."""

    class Renamed:
        model, dimension = "another", minilm.dimension
        embed_documents, embed_query = minilm.embed_documents, minilm.embed_query

    index.put([message("m", "My kitten sleeps on the sofa")])
    with IndexWorker(index, lambda: minilm) as worker:
        assert worker.wait_until_idle(PATIENCE)
    index.use_model("another", minilm.dimension)
    assert index.pending_count() == 1
    with IndexWorker(index, Renamed) as worker:
        assert worker.wait_until_idle(PATIENCE)
        assert worker.status().model == "another"
        assert index.pending_count() == 0
    assert not index.status().other_model_vectors


def test_a_half_embedded_memory_is_searched_by_words_and_says_how_far_it_is(index: RankIndex, minilm: Embedder) -> None:
    index.put([message("old", "My kitten sleeps")])
    with IndexWorker(index, lambda: minilm) as worker:
        assert worker.wait_until_idle(PATIENCE)
    index.put([message("new", "My kitten eats")])
    bundle = recall(index, "kitten", embedder=worker)
    assert set(ids(bundle)) == {"old", "new"}
    assert any("1 memories are not embedded yet" in note for note in bundle.notes)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"holds no model.onnx"):
        load_embedder(EmbeddingChoice(path=tmp_path))


def test_a_damaged_model_is_unavailable_not_a_crash(tmp_path: Path, minilm_folder: Path) -> None:
    for path in minilm_folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes()[:1_000])
    with pytest.raises(ModelUnavailableError, match="cannot be loaded"):
        load_embedder(EmbeddingChoice(path=tmp_path))


def test_a_model_that_is_not_here_and_may_not_be_fetched_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="may not be fetched"):
        load_embedder(EmbeddingChoice(download=False, cache=tmp_path))
