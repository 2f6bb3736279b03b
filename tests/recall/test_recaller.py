"""Recall over a real index, by words alone: what is found, what is not, and what is said about it."""

from __future__ import annotations

import pytest

from tests.recall.memories import TODAY, derived, ids, message, recall
from uniko_mcp.errors import InvalidArgumentsError
from uniko_mcp.models.time import DAYS
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.store.index.documents import IndexDocument
from uniko_mcp.store.index.rank_index import RankIndex


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("404", "the page answers 404 since noon"),
        ("1234", "invoice 1234 is paid"),
        ("v2.3.1", "released v2.3.1 today"),
        ("東京", "東京に住む"),
        ("cafe", "we met at the café"),
        ("Strasse", "die Straße ist lang"),
        ("a/b", "the file a/b is gone"),
        ("pre-edit", "the pre-edit hook failed"),
        ("don't panic", "never panic"),
    ],
)
def test_exact_things_are_found(index: RankIndex, query: str, text: str) -> None:
    """I2, I3."""
    index.put([message("wanted", text), message("other", "nothing of the sort", session_id="s2")])
    assert ids(recall(index, query)) == ["wanted"]


@pytest.mark.parametrize("query", ["*", '"', "...", "the of and", "?!", "'); DROP TABLE document; --", "xyzzy"])
def test_a_query_that_names_nothing_finds_nothing_rather_than_everything(index: RankIndex, query: str) -> None:
    """I2."""
    index.put([message(f"m{number}", f"note number {number}") for number in range(20)])
    assert ids(recall(index, query)) == []


@pytest.mark.parametrize("query", ["", "  ", "\n"])
def test_a_blank_query_is_refused(query: str) -> None:
    """I2."""
    with pytest.raises(InvalidArgumentsError, match="query is blank"):
        RecallQuery(query)


def test_a_very_long_query_is_answered(index: RankIndex) -> None:
    """I2."""
    index.put([message("wanted", "the ledger moved to Lisbon")])
    assert ids(recall(index, "ledger Lisbon " + "filler words " * 1_600)) == ["wanted"]


def test_the_time_window_filters_before_ranking(index: RankIndex) -> None:
    """T8."""
    index.put([message(f"d{number}", "the deploy failed again", days_ago=number / 1_000) for number in range(200)])
    index.put([message("wanted", "the deploy went through", days_ago=8)])
    bundle = recall(index, "What about the deploy last week?")
    assert ids(bundle) == ["wanted"]
    assert any("time that the query names" in note for note in bundle.notes)
    assert ids(recall(index, "last week")) == ["wanted"]
    assert ids(recall(index, "deploy", until=TODAY - 7 * DAYS)) == ["wanted"]


def test_a_time_in_which_nothing_was_said_is_searched_for_in_all_times(index: RankIndex) -> None:
    index.put([message("old", "the deploy failed", days_ago=300)])
    bundle = recall(index, "the deploy last week")
    assert ids(bundle) == ["old"]
    assert any("Nothing was said" in note for note in bundle.notes)


def test_what_is_about_a_time_counts_as_in_it(index: RankIndex) -> None:
    """T7."""
    about = TODAY - 400 * DAYS
    index.put([derived("Observation", "o", "Ana ran a marathon", about_from=about, about_to=about + DAYS)])
    index.put([message(f"m{number}", "a marathon again", session_id=f"s{number}") for number in range(20)])
    assert ids(recall(index, "marathon in May 2025"))[0] == "o"


@pytest.mark.parametrize(
    ("one", "other"), [("the timeout is 500 ms", "the timeout is 900 ms"), ("port 8080 is open", "port 8443 is open")]
)
def test_memories_that_differ_in_a_value_are_never_merged(index: RankIndex, one: str, other: str) -> None:
    """T9."""
    index.put([message("a", one), message("b", other)])
    assert set(ids(recall(index, "timeout port open"))) == {"a", "b"}


def test_opposites_are_never_merged(index: RankIndex) -> None:
    """T1."""
    index.put([message("a", "I love the new office in Porto"), message("b", "I hate the new office in Porto")])
    assert set(ids(recall(index, "office Porto"))) == {"a", "b"}


def test_the_same_said_twice_takes_one_place(index: RankIndex) -> None:
    """T2."""
    index.put([message("a", "the key is under the mat"), message("b", "The key is under the mat.")])
    assert len(recall(index, "where is the key").items) == 1


def test_a_deleted_memory_takes_no_place_among_the_first(index: RankIndex) -> None:
    """D1."""
    index.put([message(f"m{number}", f"the lighthouse keeper {number}") for number in range(12)])
    gone = ids(recall(index, "lighthouse", limit=5))
    index.delete([("Message", id) for id in gone])
    bundle = recall(index, "lighthouse", limit=5)
    assert len(bundle.items) == 5
    assert not set(ids(bundle)) & set(gone)
    assert bundle.total_considered == 7


def test_what_another_agent_keeps_private_is_not_searched(index: RankIndex) -> None:
    """S2."""
    index.put([derived("Fact", "f", "the vault code is 7", owner="other"), message("m", "the vault is in the cellar")])
    assert ids(recall(index, "vault", viewer="me")) == ["m"]
    assert recall(index, "vault", viewer="me").total_considered == 1
    assert set(ids(recall(index, "vault", viewer="other"))) == {"f", "m"}


def test_filters_hold(index: RankIndex) -> None:
    index.put(
        [
            message("a", "the budget is small", sender="Ana", sender_id="p-ana", session_id="s1", days_ago=3),
            message("b", "the budget grew", sender="Bruno", sender_id="p-bruno", session_id="s2", days_ago=1),
            derived("Fact", "f", "budget is 100"),
            derived("Fact", "g", "budget was 90", superseded=True),
        ]
    )
    assert ids(recall(index, "budget", participants=("Bruno",))) == ["b"]
    assert ids(recall(index, "budget", participants=("p-ana",))) == ["a"]
    assert ids(recall(index, "budget", session_ids=("s1",))) == ["a"]
    assert ids(recall(index, "budget", session_ids=())) == []
    assert ids(recall(index, "budget", kinds=("Fact",))) == ["f"]
    assert set(ids(recall(index, "budget", kinds=("Fact",), include_superseded=True))) == {"f", "g"}
    assert ids(recall(index, "budget", since=TODAY - 2 * DAYS, until=TODAY)) == ["b"]


def test_items_are_whole_and_within_the_budget(index: RankIndex) -> None:
    """S1."""
    index.put([message(f"m{number}", f"harbour report {number}: " + f"ship{number} " * 60) for number in range(30)])
    bundle = recall(index, "harbour report", token_budget=500, limit=30)
    assert 0 < bundle.tokens <= 500
    assert bundle.truncated
    texts = {f"m{number}": f"harbour report {number}: " + f"ship{number} " * 60 for number in range(30)}
    assert all(item.text == texts[item.id] for item in bundle.items)


def test_a_large_message_is_answered_with_its_best_chunk(index: RankIndex) -> None:
    parts = ["On cats. " + "purr " * 500, "On the tide table of Faro. " + "wave " * 40]
    index.put([message("big", "\n\n".join(parts))])
    index.put([derived("Chunk", f"c{n}", part, of="big", parent_id="big") for n, part in enumerate(parts)])
    bundle = recall(index, "tide table Faro")
    assert ids(bundle)[0] == "c1"
    assert "big" not in ids(bundle)
    assert bundle.items[0].sources[0].message_id == "big"


def test_an_observation_and_its_message_take_one_place(index: RankIndex) -> None:
    index.put([message("m", "I moved to Faro in May")])
    index.put([derived("Observation", "o", "Ana moved to Faro in May", of="m", parent_id="m")])
    assert len(recall(index, "who moved to Faro").items) == 1
    assert ids(recall(index, "who moved to Faro", kinds=("Observation",))) == ["o"]


def test_an_answer_is_found_by_the_question_before_it(index: RankIndex) -> None:
    index.put(
        [
            message("q", "Which instrument do you play?", sender="Bruno", days_ago=1),
            message("a", "The cello, since I was six.", sender="Ana", days_ago=0.9),
            *(message(f"x{number}", f"small talk {number}", session_id="s2") for number in range(20)),
        ]
    )
    assert set(ids(recall(index, "What instrument does Ana play?"))[:2]) == {"q", "a"}


def test_the_words_of_the_person_asked_about_come_first(index: RankIndex) -> None:
    index.put(
        [
            message("b", "my favourite dish is soup", sender="Bruno"),
            message("a", "my favourite dish is bread", sender="Ana"),
        ]
    )
    assert ids(recall(index, "What is Ana's favourite dish?"))[0] == "a"


def test_knowledge_that_covers_the_question_is_not_padded(index: RankIndex) -> None:
    index.put([derived("Fact", f"f{n}", f"Ana prefers dark roast coffee {n}") for n in range(3)])
    index.put([message(f"m{number}", f"a cup, please, of coffee or tea number {number}") for number in range(30)])
    bundle = recall(index, "Ana prefers dark roast coffee")
    assert bundle.phase == 1
    assert ids(bundle)[:3] == ["f0", "f1", "f2"]
    assert bundle.coverage == pytest.approx(1.0)


def test_what_is_said_outranks_knowledge_that_fits_less(index: RankIndex) -> None:
    index.put([derived("Fact", f"f{n}", f"coffee {n}") for n in range(5)])
    index.put([message("m", "I bought the coffee grinder in Faro on Monday")])
    assert ids(recall(index, "Where did Ana buy the coffee grinder?"))[0] == "m"


def test_an_entity_leads_to_memories_that_share_another_one(index: RankIndex) -> None:
    index.put(
        [
            message("first", "Zephyr is hosted by Norrland Data", entities=("Zephyr", "Norrland Data")),
            message("second", "the contract ends in March", session_id="s2", entities=("Norrland Data",)),
            message("far", "lunch was fine", session_id="s3"),
        ]
    )
    assert ids(recall(index, "Zephyr")) == ["first", "second"]


def test_the_same_index_gives_the_same_answer(index: RankIndex) -> None:
    index.put([message(f"m{number}", f"orchid {number % 3}", sender=f"P{number}") for number in range(60)])
    assert recall(index, "orchid") == recall(index, "orchid")


def test_scores_fall_and_lie_between_zero_and_one(index: RankIndex) -> None:
    index.put([message(f"m{number}", f"orchid {'rose ' * number}{number}") for number in range(10)])
    scores = [item.score for item in recall(index, "orchid rose").items]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)


def test_explain_gives_what_each_feature_added(index: RankIndex) -> None:
    index.put([message("m", "the orchid is on the balcony")])
    assert recall(index, "orchid").items[0].explanation is None
    explained = recall(index, "orchid", explain=True).items[0].explanation
    assert explained is not None
    assert explained["words"] > 0


def test_an_empty_memory_answers_empty(index: RankIndex) -> None:
    """S4."""
    bundle = recall(index, "anything", session_ids=("nowhere",))
    assert bundle.items == ()
    assert bundle.total_considered == 0
    assert bundle.scope.session_ids == ("nowhere",)


def test_what_is_derived_is_told_from_what_was_said(index: RankIndex) -> None:
    index.put(
        [
            message("m", "orchid"),
            derived("Fact", "f", "orchid grows"),
            IndexDocument("Artifact", "a", "orchid book", TODAY),
        ]
    )
    kinds = {item.id: item.derived for item in recall(index, "orchid").items}
    assert kinds == {"m": False, "f": True, "a": False}
