"""Recall over a real index, by words alone: what is found, what is not, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.recall.memories import TODAY, derived, ids, message, recall
from uniko_mcp.errors import InvalidArgumentsError
from uniko_mcp.models.time import DAYS
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.store.index.documents import IndexDocument, Source
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
    since_then = {"about_from": TODAY - 9 * DAYS}
    index.put(
        [
            message("a", "the budget is small", sender="Ana", sender_id="p-ana", session_id="s1", days_ago=3),
            message("b", "the budget grew", sender="Bruno", sender_id="p-bruno", session_id="s2", days_ago=1),
            derived("Fact", "f", "budget is 100", timestamp=TODAY - 5 * DAYS, **since_then),
            derived("Fact", "g", "budget was 90", about_to=TODAY - DAYS, timestamp=TODAY - 5 * DAYS, **since_then),
        ]
    )
    assert ids(recall(index, "budget", participants=("Bruno",))) == ["b"]
    assert ids(recall(index, "budget", participants=("p-ana",))) == ["a"]
    assert ids(recall(index, "budget", session_ids=("s1",))) == ["a"]
    assert ids(recall(index, "budget", session_ids=())) == []
    assert ids(recall(index, "budget", kinds=("Fact",))) == ["f"]
    assert set(ids(recall(index, "budget", kinds=("Fact",), include_superseded=True))) == {"f", "g"}
    assert ids(recall(index, "budget", since=TODAY - 2 * DAYS, until=TODAY)) == ["b"]


def test_what_rests_on_others_is_of_their_sessions_people_and_times(index: RankIndex) -> None:
    """S4: a fact has no session and no sender of its own."""
    said = (Source("m1", "s1", "p-ana", said_at=TODAY - 9 * DAYS), Source("m2", "s2", "p-bo", said_at=TODAY - DAYS))
    index.put(
        [
            message("m1", "my budget is 100", sender="Ana", sender_id="p-ana", session_id="s1", days_ago=9),
            message("m2", "yes, 100", sender="Bo", sender_id="p-bo", session_id="s2", days_ago=1),
            IndexDocument("Fact", "f", "budget is 100", TODAY - 9 * DAYS, sources=said),
        ]
    )

    def fact_of(**filters: Any) -> bool:
        return ids(recall(index, "budget", kinds=("Fact",), **filters)) == ["f"]

    for session, person, name in (("s1", "p-ana", "Ana"), ("s2", "p-bo", "Bo")):
        assert fact_of(session_ids=(session,), participants=(person,))
        assert fact_of(participants=(name,))
    assert not fact_of(session_ids=("s1",), participants=("p-bo",)), "one source has to be of both"
    assert not fact_of(session_ids=("s3",))
    assert fact_of(since=TODAY - 2 * DAYS)
    assert fact_of(until=TODAY - 8 * DAYS)
    assert not fact_of(since=TODAY - 8 * DAYS, until=TODAY - 2 * DAYS)
    index.put([IndexDocument("Fact", "f", "budget is 100", TODAY - 9 * DAYS, sources=said[:1])])
    assert fact_of(session_ids=("s1",))
    assert not fact_of(session_ids=("s2",)), "it no longer rests on that"


def test_the_case_of_a_name_does_not_matter(index: RankIndex) -> None:
    index.put([message("a", "the budget", sender="José Souza"), message("b", "the budget again", sender="Bo")])
    assert ids(recall(index, "budget", participants=("jose souza",))) == ["a"]
    assert ids(recall(index, "budget", participants=("BO", "nobody"))) == ["b"]


def test_since_means_since_a_fact_was_recorded_or_began_to_hold(index: RankIndex) -> None:
    index.put([derived("Fact", "f", "office in Porto", timestamp=TODAY - DAYS, about_from=TODAY - 900 * DAYS)])
    assert ids(recall(index, "office", since=TODAY - 2 * DAYS)) == ["f"]
    assert ids(recall(index, "office", until=TODAY - 800 * DAYS)) == ["f"]
    assert ids(recall(index, "office", since=TODAY - 800 * DAYS, until=TODAY - 2 * DAYS)) == []
    assert recall(index, "office").items[0].timestamp == TODAY - 900 * DAYS, "a fact shows since when it holds"


def test_what_was_said_after_the_moment_of_asking_is_not_there(index: RankIndex) -> None:
    """T10."""
    index.put([message("then", "the port is 80", days_ago=9), message("later", "the port is now 81", days_ago=1)])
    as_of = {"reference_time": TODAY - 5 * DAYS, "known_until": TODAY - 5 * DAYS + 1}
    assert ids(recall(index, "port", **as_of)) == ["then"]
    assert ids(recall(index, "port", **as_of, include_superseded=True)) == ["then"]
    assert set(ids(recall(index, "port", known_until=TODAY - DAYS + 1))) == {"then", "later"}
    assert set(ids(recall(index, "port", reference_time=TODAY - 5 * DAYS))) == {"then", "later"}


def test_what_was_superseded_later_was_current_before(index: RankIndex) -> None:
    """T10."""
    index.put(
        [
            IndexDocument("Artifact", "one", "handbook one", TODAY - 9 * DAYS, superseded_at=TODAY - 2 * DAYS),
            IndexDocument("Artifact", "two", "handbook two", TODAY - 2 * DAYS),
        ]
    )
    then = TODAY - 5 * DAYS
    assert ids(recall(index, "handbook", reference_time=then, known_until=then + 1)) == ["one"]
    assert ids(recall(index, "handbook")) == ["two"]


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


def test_a_word_deep_in_a_book_of_a_message_is_found_where_it_stands(index: RankIndex) -> None:
    pages = [
        f"On page {number} nothing of note was said about the harbour, the boats or the rain." for number in range(200)
    ]
    book = " ".join([*pages, "The figure of speech is a zeugma."])
    index.put([message("book", book), message("after", "Short.", days_ago=-0.1)])
    index.put(
        [IndexDocument("Chunk", "end", "The figure of speech is a zeugma.", TODAY, parent_id="book", sender="Ana")]
    )
    assert ids(recall(index, "What is a zeugma?"))[0] == "end"


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


def test_what_is_left_out_as_padding_is_not_kept_quiet(index: RankIndex) -> None:
    index.put([derived("Fact", f"f{n}", f"Ana prefers dark roast coffee {n}") for n in range(3)])
    index.put([message(f"m{number}", f"a cup, please, of coffee or tea number {number}") for number in range(30)])
    bundle = recall(index, "Ana prefers dark roast coffee")
    assert len(bundle.items) == 3
    assert bundle.truncated
    assert any("name kinds to have it" in note for note in bundle.notes)
    everything = recall(index, "Ana prefers dark roast coffee", kinds=("Message",), limit=50)
    assert (len(everything.items), everything.truncated) == (30, False)


def test_what_only_repeats_an_item_does_not_count_as_left_out(index: RankIndex) -> None:
    index.put([derived("Fact", f"f{n}", f"Ana prefers dark roast coffee {n}") for n in range(3)])
    index.put([message(f"m{n}", f"Ana prefers dark roast coffee {n}", sender="") for n in range(3)])
    bundle = recall(index, "Ana prefers dark roast coffee")
    assert (len(bundle.items), bundle.truncated, bundle.notes) == (3, False, ())


def test_more_than_the_limit_is_said_even_where_the_first_ones_repeat_each_other(index: RankIndex) -> None:
    index.put([message(f"m{n}", "orchid", days_ago=n) for n in range(50)])
    assert not recall(index, "orchid", limit=1).truncated
    index.put([message("other", "orchid in a pot of clay", days_ago=60, session_id="s2")])
    assert recall(index, "orchid", limit=1).truncated


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


def test_the_order_of_equals_does_not_depend_on_the_order_in_which_they_came(index: RankIndex) -> None:
    documents = [message(f"m{n:02}", f"orchid {n}", session_id=f"s{n}", days_ago=n // 20) for n in range(60)]
    documents += [derived("Fact", f"f{n}", f"orchid {n}") for n in range(60, 64)]
    orders = []
    for arrival in (documents, documents[::-1], documents[30:] + documents[:30]):
        index.rebuild(arrival, sequence=1)
        orders.append(ids(recall(index, "orchid", limit=7)))
    assert orders[0] == orders[1] == orders[2]
    messages = ids(recall(index, "orchid", kinds=("Message",), limit=25))
    assert messages == [f"m{n:02}" for n in range(25)], "the newest first, then by id"


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


def test_a_filter_that_names_nobody_and_nothing_is_said(index: RankIndex) -> None:
    index.put([message("m", "the orchid is on the balcony")])
    notes = recall(index, "orchid", participants=("Zoe", "ANA"), session_ids=("nope", "s1")).notes
    assert "No memory comes from Zoe." in notes
    assert "No memory comes from conversation nope." in notes
    assert not any("No memory" in note for note in recall(index, "orchid", participants=("ana",)).notes)


def test_an_empty_memory_answers_empty(index: RankIndex) -> None:
    """S4."""
    bundle = recall(index, "anything", session_ids=("nowhere",))
    assert bundle.items == ()
    assert bundle.total_considered == 0


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
