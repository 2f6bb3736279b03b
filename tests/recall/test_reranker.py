"""The cross-encoder's place in the ranking, with a judge that needs no model file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.recall.memories import NoModel, message
from uniko_mcp.errors import ModelUnavailableError
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.recall.recaller import Recaller
from uniko_mcp.recall.reranker import CrossEncoder, Reranker, load_cross_encoder
from uniko_mcp.store.index.rank_index import RankIndex


class PrefersShort:
    def rerank(self, query: str, documents: Iterable[str]) -> Iterable[float]:
        return [-float(len(document)) for document in documents]


def talk(index: RankIndex) -> None:
    index.put(
        [
            message(f"m{n}", "harbour master " + " ".join(f"ship{n}{k}" for k in range(n)), session_id=f"s{n}")
            for n in range(8)
        ]
    )


def test_the_judgement_of_the_cross_encoder_moves_the_order(index: RankIndex) -> None:
    talk(index)
    reranker = Reranker(PrefersShort)
    reranker.wait_until_settled()
    query = RecallQuery("harbour master")
    plain = Recaller(index, NoModel()).recall(query)
    judged = Recaller(index, NoModel(), reranker=reranker).recall(query)
    lengths = {item.id: len(item.text) for item in plain.items}
    assert lengths[judged.items[0].id] <= lengths[plain.items[0].id]
    assert {item.id for item in judged.items} == {item.id for item in plain.items}
    assert [item.score for item in judged.items] == sorted((item.score for item in judged.items), reverse=True)
    assert judged.notes == ()


class Failing:
    """Fails the first time, gives too few scores the second and no numbers the third, and then does its work."""

    def __init__(self) -> None:
        self._asked = 0

    def rerank(self, query: str, documents: Iterable[str]) -> Iterable[float]:
        self._asked += 1
        scores = [-float(len(document)) for document in documents]
        if self._asked == 1:
            raise RuntimeError(query)
        return {2: scores[1:], 3: [float("nan"), *scores[1:]]}.get(self._asked, scores)


def test_a_cross_encoder_that_fails_changes_nothing_and_is_said(
    index: RankIndex, caplog: pytest.LogCaptureFixture
) -> None:
    """C4."""
    talk(index)
    reranker = Reranker(Failing)
    reranker.wait_until_settled()
    recaller = Recaller(index, NoModel(), reranker=reranker)
    plain = Recaller(index, NoModel()).recall(RecallQuery("harbour master"))
    for reason in ("failed (RuntimeError)", "gave no sound scores", "gave no sound scores"):
        bundle = recaller.recall(RecallQuery("harbour master"))
        assert bundle.items == plain.items
        assert bundle.notes == (f"The cross-encoder {reason}; the order is without it.",)
    assert recaller.recall(RecallQuery("harbour master")).notes == ()
    assert "harbour" not in caplog.text, "a query is no matter for a log"


def test_what_the_cross_encoder_made_of_an_item_is_explained(index: RankIndex) -> None:
    talk(index)
    reranker = Reranker(PrefersShort)
    reranker.wait_until_settled()
    recaller = Recaller(index, NoModel(), reranker=reranker)
    items = recaller.recall(RecallQuery("harbour master", explain=True)).items
    shares = {len(item.text): (item.explanation or {})["cross_encoder"] for item in items}
    assert [shares[length] for length in sorted(shares)] == sorted(shares.values(), reverse=True)
    assert sum(shares.values()) == pytest.approx(0)
    plain = Recaller(index, NoModel()).recall(RecallQuery("harbour master", explain=True)).items
    assert all("cross_encoder" not in (item.explanation or {}) for item in plain)


def test_a_missing_cross_encoder_changes_nothing_and_is_said(index: RankIndex) -> None:
    def missing() -> CrossEncoder:
        raise ModelUnavailableError("no network")

    talk(index)
    reranker = Reranker(missing)
    reranker.wait_until_settled()
    query = RecallQuery("harbour master")
    bundle = Recaller(index, NoModel(), reranker=reranker).recall(query)
    assert bundle.items == Recaller(index, NoModel()).recall(query).items
    assert any("cross-encoder is missing (no network)" in note for note in bundle.notes)


def test_a_cross_encoder_that_is_not_here_and_may_not_be_fetched_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="cannot be loaded"):
        load_cross_encoder(download=False, cache=tmp_path)
