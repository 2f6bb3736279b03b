"""Where sentences end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniko_mcp.extract.sentences import sentences, split


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Smith met Mr. J. Doe at 5 p.m. yesterday.", ["Dr. Smith met Mr. J. Doe at 5 p.m. yesterday."]),
        ("We left at 5 p.m. Then it rained.", ["We left at 5 p.m.", "Then it rained."]),
        ("Use v2.3.1 of Node.js. It works.", ["Use v2.3.1 of Node.js.", "It works."]),
        ("See https://a.b/c.html?x=1. Thanks.", ["See https://a.b/c.html?x=1.", "Thanks."]),
        ("Wait... what is it?", ["Wait... what is it?"]),
        ("Great day 😊 I went out.", ["Great day 😊", "I went out."]),
        ("So good!! 🎉🎉 We won.", ["So good!! 🎉🎉", "We won."]),
        ("東京に住む。大阪は遠い！本当？はい", ["東京に住む。", "大阪は遠い！", "本当？", "はい"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("the port is 8080. it works", ["the port is 8080.", "it works"]),
        ("It costs 3.50 euros etc. and more.", ["It costs 3.50 euros etc. and more."]),
        ("- one item\n- another item\n1. third", ["one item", "another item", "third"]),
        ("first line\nSecond line", ["first line", "Second line"]),
        ("# Title\n\nText here.\n\n```\ncode. Code.\n```\nEnd.", ["Text here.", "End."]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(st.text(max_size=300))
def test_sentences_leave_out_nothing_but_white_space(text: str) -> None:
    rest = list(text)
    end = 0
    for start, stop in split(text):
        assert end <= start < stop
        rest[start:stop] = [" "] * (stop - start)
        end = stop
    assert not "".join(rest).strip()
