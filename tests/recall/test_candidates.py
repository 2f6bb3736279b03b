"""What becomes a candidate: what a channel speaks for, also where the query has no word of it."""

from __future__ import annotations

import pytest

from tests.recall.memories import derived, ids, message, recall
from uniko_mcp.recall import candidates
from uniko_mcp.store.index.rank_index import RankIndex


@pytest.mark.parametrize("query", ["Caroline", "What did Caroline say?"])
@pytest.mark.parametrize("few", [candidates.FEW, 0])
def test_a_name_alone_asks_for_what_that_person_said(
    index: RankIndex, query: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "FEW", few)
    index.put([message("hers", "My knee hurts.", sender="Caroline"), message("his", "Mine does not.", sender="Bo")])
    assert ids(recall(index, query)) == ["hers"]


def test_a_name_beside_other_words_does_not_ask_for_all_that_person_said(index: RankIndex) -> None:
    """I2."""
    index.put([message("hers", "My knee hurts.", sender="Caroline")])
    index.put([message("pizza", "The pizza was cold.", session_id="elsewhere")])
    assert ids(recall(index, "Did Caroline like the pizza?")) == ["pizza"]


def test_an_entity_leads_over_a_fact_to_the_message_it_rests_on(index: RankIndex) -> None:
    index.put([message("said", "she moved there in spring", session_id="s1"), message("other", "lunch was fine")])
    index.put([derived("Fact", "f", "Zephyr lives in Faro", of="said", entities=("Zephyr",))])
    assert ids(recall(index, "Zephyr", kinds=("Message",))) == ["said"]
