"""What becomes a candidate: what a channel speaks for, also where the query has no word of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recall.memories import derived, ids, message, recall
from uniko_mcp.recall import candidates, links
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


@pytest.mark.parametrize("query", ["orchid", "Zephyr", "Ana"])
def test_of_equals_the_same_are_taken_in_whatever_order_they_came(
    tmp_path: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "FEW", 0)
    monkeypatch.setattr(candidates, "BEST_OF_CHANNEL", 5)
    monkeypatch.setattr(links, "_MOST_HUBS", 5)
    documents = [
        message(f"m{n}", f"the orchid {'abcdefghijklmnopqrst'[n]}", session_id=f"s{n}", entities=("Zephyr", f"Hub {n}"))
        for n in range(20)
    ]
    found: list[list[str]] = []
    for order in (documents, documents[::-1], documents[7:] + documents[:7]):
        with RankIndex(tmp_path / str(len(found))) as index:
            index.put(order)
            found.append(ids(recall(index, query)))
    assert found[0]
    assert found[0] == found[1] == found[2]
