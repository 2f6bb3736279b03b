"""The vectors of the index: whose they are, when they lapse, and which are made next."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.store.index.documents import DIMENSION, MODEL, message, vector
from uniko_mcp.store.index.documents import IndexDocument
from uniko_mcp.store.index.rank_index import RankIndex


def test_vectors_survive_reopening_and_lapse_when_the_text_changes(index: RankIndex, directory: Path) -> None:
    index.put([message("m1", "a"), message("m2", "b")])
    index.use_model(MODEL, DIMENSION)
    index.store_embeddings(index.pending_embeddings(10), np.stack([vector(1), vector(0, 1)]), model=MODEL)
    index.close()
    with RankIndex(directory) as reopened:
        reopened.use_model(MODEL, DIMENSION)
        assert reopened.pending_embeddings(10) == []
        cosines = reopened.cosines(vector(1), np.array([0, 1]))
        assert cosines is not None
        np.testing.assert_allclose(cosines, [1, 0], atol=0.01)
        reopened.put([message("m1", "changed")])
        assert [item.text for item in reopened.pending_embeddings(10)] == ["Ana: changed"]


def test_a_vector_computed_for_a_text_that_changed_meanwhile_is_not_kept(index: RankIndex) -> None:
    index.put([message("m1", "before")])
    index.use_model(MODEL, DIMENSION)
    pending = index.pending_embeddings(10)
    index.put([message("m1", "after")])
    assert index.store_embeddings(pending, np.stack([vector(1)]), model=MODEL) == 0
    assert index.pending_count() == 1


def test_models_never_mix(index: RankIndex) -> None:
    """C3."""
    index.put([message("m1", "a")])
    index.use_model(MODEL, DIMENSION)
    pending = index.pending_embeddings(10)
    index.store_embeddings(pending, np.stack([vector(1)]), model=MODEL)
    index.use_model("another", 4)
    assert index.status().embedded == 0
    assert index.status().other_model_vectors
    with pytest.raises(ValueError, match="another model"):
        index.store_embeddings(pending, np.stack([vector(1)]), model=MODEL)
    with pytest.raises(ValueError, match="dimension"):
        index.cosines(vector(1), np.array([0]))
    index.use_model(MODEL, DIMENSION)
    assert index.status().embedded == 1
    index.drop_other_models()
    assert not index.status().other_model_vectors


def test_vectors_of_before_a_rebuild_are_gone(index: RankIndex, directory: Path) -> None:
    index.put([message("m1", "a")])
    index.use_model(MODEL, DIMENSION)
    index.store_embeddings(index.pending_embeddings(10), np.stack([vector(1)]), model=MODEL)
    index.rebuild([message("m9", "b")], sequence=3)
    assert index.pending_count() == 1
    index.close()
    for path in directory.glob("rank.sqlite*"):
        path.unlink()
    with RankIndex(directory) as fresh:
        fresh.put([message("m1", "a")])
        fresh.use_model(MODEL, DIMENSION)
        assert fresh.pending_count() == 1


def test_what_shares_the_vector_of_its_parent_needs_none_of_its_own(index: RankIndex) -> None:
    claim = IndexDocument("Observation", "o1", "Ana has a dog", 0, parent_id="m1", shares_vector=True)
    index.put([message("m1", "I have a dog"), claim])
    index.use_model(MODEL, DIMENSION)
    pending = index.pending_embeddings(10)
    assert [item.text for item in pending] == ["Ana: I have a dog"]
    index.store_embeddings(pending, np.stack([vector(1)]), model=MODEL)
    assert index.pending_count() == 0
    assert index.status().embedded == 2


def test_what_has_lost_its_parent_gets_a_vector_of_its_own(index: RankIndex) -> None:
    claim = IndexDocument("Observation", "o1", "Ana has a dog", 0, parent_id="m1", shares_vector=True)
    index.put([message("m1", "I have a dog"), claim])
    index.use_model(MODEL, DIMENSION)
    index.delete([("Message", "m1")])
    assert [item.text for item in index.pending_embeddings(10)] == ["Ana has a dog"]


def test_the_newest_are_embedded_first(index: RankIndex) -> None:
    index.put([message(f"m{number}", f"text {number}", at=-number) for number in range(5)])
    assert {item.text for item in index.pending_embeddings(2)} == {"Ana: text 0", "Ana: text 1"}


def test_a_topic_as_long_as_a_book_is_not_embedded_whole(index: RankIndex) -> None:
    index.put([IndexDocument("Episode", "e", "we sailed", 0, topic="sea " * 10_000)])
    [pending] = index.pending_embeddings(1)
    assert len(pending.text) < 200
    assert pending.text.endswith("we sailed")
