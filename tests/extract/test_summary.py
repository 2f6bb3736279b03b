"""Summaries of conversations."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from uniko_mcp.extract import Turn, summarize
from uniko_mcp.models.time import to_micros

MONDAY = to_micros(datetime(2023, 5, 8, 13, 56, tzinfo=UTC))
TALK = [
    Turn("Ana", "Hi Ben! How are you?", MONDAY),
    Turn("Ben", "Great, thanks! I moved the billing database to Postgres 15 yesterday.", MONDAY),
    Turn("Ana", "Nice! We run the billing service on Postgres 14 in production.", MONDAY),
    Turn("Ben", "The migration of the billing database took two hours. Did you like the cake?", MONDAY),
    Turn("Ana", "I baked a cake with my sister.", MONDAY),
]


def test_a_summary_tells_what_was_claimed_in_the_order_it_was_said() -> None:
    assert summarize(TALK).text.splitlines() == [
        "Ben moved the billing database to Postgres 15 yesterday [2023-05-07].",
        "Ana and others run the billing service on Postgres 14 in production.",
        "The migration of the billing database took two hours.",
        "Ana baked a cake with Ana's sister.",
    ]
    assert summarize(TALK).turns == (1, 2, 3, 4)


def test_the_most_central_sentences_come_first_when_room_is_short() -> None:
    text = summarize(TALK, limit=140).text
    assert "billing" in text
    assert "cake" not in text
    assert len(text) <= 140


def test_nothing_said_gives_an_empty_summary() -> None:
    assert summarize([]).text == ""
    assert summarize([Turn("Ana", " ", MONDAY)]).turns == ()


def test_what_is_said_twice_is_told_once_unless_a_value_differs() -> None:
    """T2 and T9 where they touch summaries."""
    turns = [
        Turn("Ana", "The timeout of the gateway is 500 ms.", MONDAY),
        Turn("Ben", "The timeout of the gateway is 500 ms.", MONDAY),
        Turn("Ben", "The timeout of the gateway is 900 ms.", MONDAY),
    ]
    assert summarize(turns).text.splitlines() == [
        "The timeout of the gateway is 500 ms.",
        "The timeout of the gateway is 900 ms.",
    ]


def test_other_languages_are_quoted() -> None:
    turns = [Turn("Yuki", "東京に住んでいます。毎日電車で会社に行きます。", MONDAY)]
    assert summarize(turns).text == "Yuki: 東京に住んでいます。\nYuki: 毎日電車で会社に行きます。"


def test_a_long_conversation_is_summarized_within_its_limit() -> None:
    turns = [
        Turn("Ana", f"I fixed bug number {index} in module {index % 7} of the server.", MONDAY)
        for index in range(1_000)
    ]
    summary = summarize(turns)
    assert 0 < len(summary.text) <= 1_200
    assert summary == summarize(turns)


@given(st.lists(st.tuples(st.sampled_from(["Ana", "Ben"]), st.text(max_size=80)), max_size=8))
def test_any_conversation_has_the_same_summary_every_time(talk: list[tuple[str, str]]) -> None:
    turns = [Turn(speaker, text, MONDAY) for speaker, text in talk]
    summary = summarize(turns)
    assert summary == summarize(turns)
    assert all(0 <= turn < len(turns) for turn in summary.turns)
