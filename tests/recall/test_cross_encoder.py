"""A real cross-encoder, read by fastembed and run by onnxruntime, from where a download would have put it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cross_encoder import cache_cross_encoder
from tests.recall.memories import NoModel, ids, message
from uniko_mcp.errors import ModelUnavailableError
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.recall.recaller import Recaller
from uniko_mcp.recall.reranker import Reranker, load_cross_encoder
from uniko_mcp.store.index.rank_index import RankIndex


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return cache_cross_encoder(tmp_path / "models")


def test_it_reads_each_text_together_with_the_query(cache: Path) -> None:
    scores = list(load_cross_encoder(download=False, cache=cache).rerank("Where?", ["here and there", "here"]))
    assert len(scores) == 2
    assert scores[0] < scores[1]


def test_its_judgement_moves_the_order(index: RankIndex, cache: Path) -> None:
    texts = [f"harbour master {' '.join(f'ship{n}{k}' for k in range(n))}" for n in range(8)]
    index.put(message(f"m{n}", text, session_id=f"s{n}") for n, text in enumerate(texts))
    reranker = Reranker(lambda: load_cross_encoder(download=False, cache=cache))
    reranker.wait_until_settled()
    query = RecallQuery("harbour master ship60")
    plain = Recaller(index, NoModel()).recall(query)
    judged = Recaller(index, NoModel(), reranker=reranker).recall(query)
    assert sorted(ids(judged)) == sorted(ids(plain))
    assert ids(judged) == ["m6", "m0", "m1", "m2", "m3", "m4", "m5", "m7"]  # what fits best, then the shortest first
    assert ids(plain) != ids(judged)
    assert judged.notes == ()


def test_a_damaged_one_is_unavailable_not_a_crash(cache: Path) -> None:
    for path in cache.rglob("model.onnx"):
        path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(ModelUnavailableError, match="cannot be loaded"):
        load_cross_encoder(download=False, cache=cache)
