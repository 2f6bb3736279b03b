"""Claims: what a message says is so, complete by itself, and what of it claims nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniko_mcp.extract import Claim, extract
from uniko_mcp.models.time import format_instant, to_micros

MONDAY = to_micros(datetime(2023, 5, 8, 13, 56, tzinfo=UTC))


def claims(text: str, role: str = "user", addressee: str | None = None) -> tuple[Claim, ...]:
    return extract(text, speaker="Alex", role=role, at=MONDAY, addressee=addressee).claims


def texts(text: str, role: str = "user", addressee: str | None = None) -> list[str]:
    return [claim.text for claim in claims(text, role, addressee)]


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "obj"),
    [
        ("Alex moved to Berlin", "Alex", "moved to", "Berlin"),
        ("I'm allergic to peanuts.", "Alex", "is allergic to", "peanuts"),
        ("we use Postgres 15", "Alex", "uses", "Postgres 15"),
        ("We're planning a trip", "Alex", "is planning", "a trip"),
        ("The deadline is Friday.", "deadline", "is", "2023-05-12"),
        ("I don't like spinach", "Alex", "does not like", "spinach"),
        ("I've been to Japan", "Alex", "has been to", "Japan"),
        ("I'd been wanting to try yoga", "Alex", "had been wanting to try", "yoga"),
        ("I really love hiking", "Alex", "loves", "hiking"),
        ("I want to learn Spanish", "Alex", "wants to learn", "Spanish"),
        ("I used to live in Madrid.", "Alex", "used to live in", "Madrid"),
        ("My favorite color is blue", "Alex's favorite color", "is", "blue"),
        ("The port is 8080", "port", "is", "8080"),
        ("Dr. Smith works at St. Mary's Hospital.", "Dr. Smith", "works at", "St. Mary's Hospital"),
        ("Yesterday I ran a marathon", "Alex", "ran", "a marathon"),
        ("When I was ten, I broke my arm.", "Alex", "broke", "Alex's arm"),
        ("Ana and I married in 2010", "Alex", "married in", "2010"),
        ("Just got back from a trip to Paris!", "Alex", "got back from", "a trip to Paris"),
        ("i think i'll go with rust", "Alex", "thinks", "Alex will go with rust"),
        ("I’m a nurse", "Alex", "is", "a nurse"),
    ],
)
def test_subject_predicate_and_object_are_found_by_rules(text: str, subject: str, predicate: str, obj: str) -> None:
    (claim,) = claims(text)
    assert (claim.subject, claim.predicate, claim.object) == (subject, predicate, obj)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I went to a support group yesterday and it was so powerful.",
            ["Alex went to a support group yesterday [2023-05-07]."],
        ),
        (
            "I'm allergic to peanuts, but I love cashews.",
            ["Alex is allergic to peanuts.", "Alex loves cashews."],
        ),
        (
            "We use Postgres 15 and the deadline is Friday",
            ["Alex and others use Postgres 15.", "The deadline is Friday [2023-05-12]."],
        ),
        (
            "My sister Ana lives in Porto and works at Acme Corp. She is a nurse.",
            [
                "Alex's sister Ana lives in Porto.",
                "Ana is Alex's sister.",
                "Alex's sister Ana works at Acme Corp.",
                "Ana is a nurse.",
            ],
        ),
        (
            "The server runs on Hetzner. It has 16 GB of RAM.",
            ["The server runs on Hetzner.", "The server has 16 GB of RAM."],
        ),
        (
            "I'm trying to deploy my app on GitHub Pages, but I'm not sure how. Can you help me?",
            ["Alex is trying to deploy Alex's app on GitHub Pages."],
        ),
        (
            "Hey Mel! I'm so excited to tell you I started a yoga class",
            ["Alex started a yoga class."],
        ),
        (
            "I was born in 1990 in Lisbon and moved to Porto when I was 5.",
            ["Alex was born in 1990 in Lisbon.", "Alex moved to Porto when Alex was 5."],
        ),
        ('My mom said "I love you" to me.', ['Alex\'s mom said "I love you" to Alex.']),
        ("I **really** love hiking.", ["Alex really loves hiking."]),
        ("There is a gold mine. I sold the gold mine.", ["Alex sold the gold mine."]),
        ("World War I ended in 1918.", ["World War I ended in 1918."]),
    ],
)
def test_each_claim_is_a_sentence_that_is_complete_by_itself(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "How are you? What's up with you?",
        "Can you help me with the deployment",
        "Use tabs. Please don't forget. Let me know. Make sure it works.",
        "Hey Mel! Good to see you!",
        "Thanks, Mel! That's awesome! Congrats!",
        "I'm so happy for you. I hope you have fun. I totally agree.",
        "I was wondering if this works",
        "```python\nI = 5\nmy_name = 'x'\n```",
        "# I am a heading\n\n| I am | a table |",
        "const x = getName();\nreturn x;",
        "> I moved to Rome.",
        "[shares a picture: a photo of a dog I saw]",
        "I remember that! I did it.",
        "It was great. They said so. This is it.",
        "",
        "?!",
        "😊😊",
    ],
)
def test_what_claims_nothing_gives_no_claim(text: str) -> None:
    """I2 among them: blank text and punctuation."""
    assert texts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Sure! Here is the updated code for your form.",
        "Certainly! Let's walk through the steps. You can use Flask for this.",
        "I hope this helps! I recommend using an index. I can help with that.",
        "Probability is a measure of the likelihood that an event will occur.",
    ],
)
def test_an_assistants_boilerplate_and_advice_claim_nothing(text: str) -> None:
    assert texts(text, role="assistant") == []


def test_what_an_assistant_did_is_a_claim() -> None:
    assert texts("I deployed v2.3.1 to staging. Here is the log:", role="assistant") == [
        "Alex deployed v2.3.1 to staging."
    ]


@pytest.mark.parametrize("role", ["system", "tool"])
def test_instructions_and_output_of_tools_claim_nothing(role: str) -> None:
    assert texts("I moved to Berlin.", role=role) == []


@pytest.mark.parametrize(
    "text",
    [
        "Ich bin gestern nach Berlin gezogen und habe das neue Haus gesehen.",
        "Je suis allé à Paris hier et j'ai vu le musée.",
        "私は東京に住んでいます。昨日、会議がありました。",
        "Я вчера переехала в Москву и работаю в банке.",
    ],
)
def test_other_languages_give_no_claims(text: str) -> None:
    assert texts(text) == []


def test_claims_of_an_old_message_carry_its_date() -> None:
    """T7."""
    (claim,) = extract("I moved to Rome last Friday.", speaker="Alex", at=MONDAY).claims
    assert claim.about_from is not None
    assert claim.about_to is not None
    assert format_instant(claim.about_from) == "2023-05-05T00:00:00Z"
    assert format_instant(claim.about_to) == "2023-05-06T00:00:00Z"


def test_values_are_kept_as_they_were_said() -> None:
    """T9: two claims that differ in a value stay two."""
    assert texts("The timeout is 500 ms. The timeout is 900 ms.") == [
        "The timeout is 500 ms.",
        "The timeout is 900 ms.",
    ]


def test_both_of_two_opposite_claims_are_kept() -> None:
    """T1 where it touches extraction."""
    assert texts("I love X-Ray. I hate X-Ray.") == ["Alex loves X-Ray.", "Alex hates X-Ray."]


@pytest.mark.parametrize(
    ("sure", "less_sure"),
    [
        ("I moved to Berlin.", "I think I moved to Berlin."),
        ("I like tea.", "I don't like tea."),
        ("I work in Rome.", "I might work in Rome."),
        ("I bought the red car.", "I bought the red car from him."),
        ("The dog sleeps in the kitchen.", "Dogs are loyal animals."),
    ],
)
def test_wording_that_claims_less_lowers_confidence(sure: str, less_sure: str) -> None:
    assert claims(sure)[0].confidence > claims(less_sure)[0].confidence


def test_you_is_the_addressee_when_there_is_one() -> None:
    assert texts("You are the best cook in Lisbon", addressee="Mel") == ["Mel is the best cook in Lisbon."]
    assert texts("You are the best cook in Lisbon") == []


def test_offsets_are_those_of_the_sentence() -> None:
    text = "Hi! I moved to Berlin. Bye!"
    (claim,) = claims(text)
    assert text[claim.start : claim.end] == "I moved to Berlin."


_WORDS = st.sampled_from(
    [
        *(
            "I",
            "I'm",
            "my",
            "we",
            "you",
            "she",
            "it",
            "the",
            "dog",
            "Ana",
            "Berlin",
            "that",
            "Thanks",
            "the 3rd",
            "2023",
        ),
        *("moved", "to", "is", "not", "going", "works", "at", "think", "was", "born", "in", "don't", "gonna", "can"),
        *("and", "but", "because", "when", "so", "yesterday", "'s", ".", ",", "?", "!", "—", ";", ":"),
        *("\n", "- ", "# ", "```", "“", "”", '"', "(", ")", "東京", "。", "😊"),
    ]
)


@given(
    st.one_of(st.lists(_WORDS, max_size=25).map(" ".join), st.text(max_size=200)),
    st.sampled_from(["user", "assistant"]),
)
def test_any_text_gives_whole_claims_and_the_same_ones_again(text: str, role: str) -> None:
    found = claims(text, role)
    assert found == claims(text, role)
    for claim in found:
        assert 0 <= claim.start < claim.end <= len(text)
        assert claim.subject
        assert claim.text.endswith(".")
        assert "\n" not in claim.text
        assert 0 < claim.confidence <= 1
        assert (claim.about_from is None) == (claim.about_to is None)
