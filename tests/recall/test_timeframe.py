"""The time that a query names: what it narrows, what it does not, and what is said about it."""

from __future__ import annotations

import pytest

from tests.recall.memories import TODAY, derived, ids, message, recall
from uniko_mcp.models.time import DAYS
from uniko_mcp.recall.embedder import Embedder
from uniko_mcp.recall.timeframe import ALL_TIMES, NOTHING_THEN, ONLY_THAT_TIME
from uniko_mcp.recall.worker import IndexWorker
from uniko_mcp.store.index.rank_index import RankIndex

LAST_WEEK = 8
"""Days ago."""


def open_fact(id: str, text: str, *, since_days_ago: float = 500) -> object:
    return derived("Fact", id, text, about_from=int(TODAY - since_days_ago * DAYS), timestamp=TODAY - 500 * DAYS)


def test_what_was_said_on_it_in_that_time_is_all_that_is_found(index: RankIndex) -> None:
    """T8."""
    index.put(
        [
            message("old", "the deploy failed", days_ago=300, session_id="s1"),
            message("then", "the deploy went through", days_ago=LAST_WEEK, session_id="s2"),
            message("lunch", "lunch was fine", days_ago=LAST_WEEK, session_id="s3"),
        ]
    )
    bundle = recall(index, "the deploy last week")
    assert ids(bundle) == ["then"]
    assert bundle.notes == (ONLY_THAT_TIME,)


def test_a_time_in_which_only_other_things_were_said_does_not_hide_the_answer(index: RankIndex) -> None:
    index.put(
        [
            message("old", "the deploy failed", days_ago=300, session_id="s1"),
            message("lunch", "lunch last week was fine", days_ago=LAST_WEEK, session_id="s3"),
        ]
    )
    bundle = recall(index, "the deploy last week")
    assert ids(bundle)[0] == "old"
    assert bundle.notes == (ALL_TIMES,)


def test_a_time_in_which_nothing_was_said_is_searched_for_in_all_times(index: RankIndex) -> None:
    index.put([message("old", "the deploy failed", days_ago=300)])
    bundle = recall(index, "the deploy last week")
    assert ids(bundle) == ["old"]
    assert bundle.notes == (ALL_TIMES,)


def test_a_fact_that_holds_to_this_day_is_not_about_every_time_since(index: RankIndex) -> None:
    index.put([message("old", "the deploy failed", days_ago=300), open_fact("open", "office in Porto")])
    bundle = recall(index, "the deploy last week")
    assert ids(bundle) == ["old"]
    assert bundle.notes == (ALL_TIMES,)
    assert ids(recall(index, "xyzzy last week")) == []
    assert ids(recall(index, "xyzzy in May 2026")) == []
    assert ids(recall(index, "What happened last week?")) == []


def test_a_fact_that_began_in_that_time_is_about_it(index: RankIndex) -> None:
    index.put([open_fact("old", "office in Porto"), open_fact("new", "office in Faro", since_days_ago=LAST_WEEK)])
    assert ids(recall(index, "Which office last week?")) == ["new"]


@pytest.mark.parametrize("query", ["last week", "What happened last week?", "What was said last week?", "last week?"])
def test_a_query_of_nothing_but_a_time_is_answered_by_all_that_is_of_it(index: RankIndex, query: str) -> None:
    index.put([message(f"old{n}", f"see you in a week {n}", days_ago=100 + n, session_id=f"o{n}") for n in range(3)])
    index.put([message(f"new{n}", f"pear {n}", days_ago=LAST_WEEK + n / 10, session_id=f"n{n}") for n in range(3)])
    bundle = recall(index, query)
    assert set(ids(bundle)) == {"new0", "new1", "new2"}
    assert bundle.notes == (ONLY_THAT_TIME,)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("What was said last week?", ["then"]),
        ("Last week, what did Ana say?", ["then"]),
        ("What did Ana tell Ben about the visit last week?", ["then"]),
        ("What was written last week?", ["then"]),
        ("What happened last week?", ["then", "ahead"]),
        ("Tell me what happened last week", ["then", "ahead"]),
        ("What did Ana say happened last week?", ["then", "ahead"]),
    ],
)
def test_what_was_said_in_a_time_is_not_what_was_said_before_about_it(
    index: RankIndex, query: str, found: list[str]
) -> None:
    week = {"about_from": TODAY - 9 * DAYS, "about_to": TODAY - 8 * DAYS}
    index.put([message("then", "the visit went well", days_ago=LAST_WEEK, session_id="s1")])
    index.put([message("ahead", "the visit is next Tuesday", days_ago=13, session_id="s2", **week)])
    assert set(ids(recall(index, query))) == set(found)


def test_a_query_of_nothing_but_a_time_of_which_nothing_is_known_finds_nothing(index: RankIndex) -> None:
    """I2."""
    index.put([message("old", "see you next week", days_ago=300)])
    bundle = recall(index, "What happened last week?")
    assert ids(bundle) == []
    assert bundle.notes == (NOTHING_THEN,)


def test_what_somebody_said_in_a_time_needs_no_further_word(index: RankIndex) -> None:
    index.put(
        [
            message("then", "my knee hurts", days_ago=LAST_WEEK, session_id="s1"),
            message("his", "mine too", days_ago=LAST_WEEK, sender="Bruno", session_id="s2"),
            message("old", "my back hurts", days_ago=100, session_id="s3"),
        ]
    )
    bundle = recall(index, "What did Ana say last week?")
    assert ids(bundle) == ["then"]
    assert bundle.notes == (ONLY_THAT_TIME,)


def test_kinds_that_are_not_wanted_do_not_make_a_time_fit(index: RankIndex) -> None:
    index.put([message("m", "the deploy went through", days_ago=LAST_WEEK), open_fact("f", "deploy on Mondays")])
    bundle = recall(index, "the deploy last week", kinds=("Fact",))
    assert ids(bundle) == ["f"]
    assert bundle.notes == (ALL_TIMES,)


def test_what_fits_by_meaning_fits_the_time(index: RankIndex, minilm: Embedder) -> None:
    others = (
        "The cat sleeps on the sofa.",
        "We paid the electricity bill.",
        "The garden needs water.",
        "My cousin studies law.",
        "The bus was late again.",
        "He plays the violin.",
    )
    index.put([message(f"x{n}", text, days_ago=60 + n, session_id=f"x{n}") for n, text in enumerate(others)])
    index.put([message(f"y{n}", text, days_ago=LAST_WEEK, session_id=f"y{n}") for n, text in enumerate(others[3:])])
    index.put([message("old", "The new release went live on the servers.", days_ago=300, session_id="old")])
    with IndexWorker(index, lambda: minilm) as worker:
        worker.wait_until_idle()
        question = "How was the software deployment last week?"
        assert ids(recall(index, question, embedder=worker))[0] == "old"
        index.put([message("new", "The new version is running on the servers.", days_ago=LAST_WEEK, session_id="new")])
        worker.wake()
        worker.wait_until_idle()
        bundle = recall(index, question, embedder=worker)
    assert ids(bundle)[0] == "new"
    assert "old" not in ids(bundle)
    assert bundle.notes == (ONLY_THAT_TIME,)
