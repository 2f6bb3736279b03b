"""The times that a query names: a memory is asked about what was, unless the query says otherwise."""

from __future__ import annotations

from datetime import UTC

import pytest

from uniko_mcp.memory.windows import read_windows
from uniko_mcp.models.time import format_instant, parse_instant

ASKED = parse_instant("2026-11-30T12:00:00Z")  # a Monday


def begins(query: str) -> list[str]:
    return [format_instant(window.start)[:10] for window in read_windows(query, ASKED, zone=UTC)]


@pytest.mark.parametrize(
    ("query", "start"),
    [
        ("what did Ben say in June?", "2026-06-01"),
        ("what did we decide in March?", "2026-03-01"),
        ("which city did Ana visit in May?", "2026-05-01"),
        ("when did Ana go to Vienna in May?", "2026-05-01"),
        ("what did Ana do on 3 October?", "2026-10-03"),
        ("what didn't Ana do on 3 October?", "2026-10-03"),
        ("did Ana call on Friday?", "2026-11-27"),
        ("In March, what did we decide?", "2026-03-01"),
        ("what did Ana want to do in May?", "2026-05-01"),
        ("what did the test show in May?", "2026-05-01"),
        ("has Ana been to Graz in May?", "2026-05-01"),
        ("had Ben paid in May?", "2026-05-01"),
        ("were we in Graz in May?", "2026-05-01"),
        ("who visited Graz in May?", "2026-05-01"),
        ("what was decided in March?", "2026-03-01"),
        ("decisions from March", "2026-03-01"),
        ("trip in March", "2026-03-01"),
        ("find the bill from March", "2026-03-01"),
        ("who read the book in May", "2026-05-01"),
        ("Friday", "2026-11-27"),
        ("the call on 3 October", "2026-10-03"),
    ],
)
def test_a_query_without_a_sign_of_the_future_looks_back(query: str, start: str) -> None:
    assert begins(query) == [start]


@pytest.mark.parametrize(
    ("query", "start"),
    [
        ("what will we decide in March?", "2027-03-01"),
        ("what will be decided in March?", "2027-03-01"),
        ("In March, where will Ana go?", "2027-03-01"),
        ("is Ana going to Vienna in May?", "2027-05-01"),
        ("the plan for June", "2027-06-01"),
        ("what are the next steps in June?", "2027-06-01"),
        ("where do we meet on Friday?", "2026-12-04"),
        ("what is due on Friday?", "2026-12-04"),
        ("what's on Friday?", "2026-12-04"),
        ("who comes this coming Friday?", "2026-12-04"),
    ],
)
def test_a_query_with_a_sign_of_the_future_looks_ahead(query: str, start: str) -> None:
    assert begins(query) == [start]


@pytest.mark.parametrize(
    ("query", "end"),
    [
        ("what was done by June?", "2026-07-01"),
        ("what must be done by Friday?", "2026-12-05"),
        ("tasks by Friday", "2026-12-05"),
    ],
)
def test_what_is_by_a_time_is_to_come_unless_a_verb_says_otherwise(query: str, end: str) -> None:
    (window,) = read_windows(query, ASKED, zone=UTC)
    assert format_instant(window.end)[:10] == end
