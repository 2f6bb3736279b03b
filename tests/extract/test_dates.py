"""Dates in text: what is one, what is none, and which stretch of time it stands for."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniko_mcp.extract import find_dates
from uniko_mcp.models.time import format_instant, to_micros

MONDAY = to_micros(datetime(2023, 5, 8, 13, 56, tzinfo=UTC))


def found(text: str, at: int = MONDAY) -> list[tuple[str, str]]:
    return [(date.text, date.label) for date in find_dates(text, at=at, zone=UTC)]


@pytest.mark.parametrize(
    ("text", "surface", "label"),
    [
        ("I went to a group yesterday", "yesterday", "2023-05-07"),
        ("the day before yesterday it rained", "the day before yesterday", "2023-05-06"),
        ("See you tomorrow at 5pm", "tomorrow at 5pm", "2023-05-09 17:00"),
        ("Call me tomorrow at 17:30.", "tomorrow at 17:30", "2023-05-09 17:30"),
        ("He called at 3pm yesterday", "3pm yesterday", "2023-05-07 15:00"),
        ("last night I dreamt", "last night", "2023-05-07"),
        ("We met last Friday", "last Friday", "2023-05-05"),
        ("this past Tuesday was fun", "this past Tuesday", "2023-05-02"),
        ("until next Tuesday", "until next Tuesday", "2023-05-16"),
        ("we met on Friday", "Friday", "2023-05-05"),
        ("the deadline is Friday", "Friday", "2023-05-12"),
        ("see you Friday", "Friday", "2023-05-12"),
        ("On Sat we will go", "Sat", "2023-05-13"),
        ("two weeks ago I broke it", "two weeks ago", "2023-04-21 to 2023-04-27"),
        ("a few days ago", "a few days ago", "2023-05-03 to 2023-05-06"),
        ("two weekends ago we danced", "two weekends ago", "2023-04-29 to 2023-04-30"),
        ("a few weekends ago", "a few weekends ago", "2023-04-03 to 2023-04-24"),
        ("a book from the 1900s", "the 1900s", "1900-01-01 to 1999-12-31"),
        ("start = '2022-01-01'", "2022-01-01", "2022-01-01"),
        ("10 years ago we met", "10 years ago", "2013"),
        ("three months ago", "three months ago", "2023-02"),
        ("We ship in two weeks", "in two weeks", "2023-05-19 to 2023-05-25"),
        ("last week", "last week", "2023-05-01 to 2023-05-07"),
        ("last weekend was fun", "last weekend", "2023-05-06 to 2023-05-07"),
        ("We danced the past weekend", "the past weekend", "2023-05-06 to 2023-05-07"),
        ("Next month we ship", "Next month", "2023-06"),
        ("last year", "last year", "2022"),
        ("last summer", "last summer", "2022-06-01 to 2022-08-31"),
        ("last May", "last May", "2022-05"),
        ("over the past two months", "the past two months", "2023-03-08 to 2023-05-08"),
        ("It was in May 2023", "May 2023", "2023-05"),
        ("I was there in December", "December", "2022-12"),
        ("in December we will go", "December", "2023-12"),
        ("Did you go in June?", "June", "2022-06"),
        ("I didn't see him on Friday", "Friday", "2023-05-05"),
        ("Did you go and see him on Friday?", "Friday", "2023-05-05"),
        ("Did you know that we meet on Friday?", "Friday", "2023-05-12"),
        ("It will be decided on Friday", "Friday", "2023-05-12"),
        ("Do you go on Friday?", "Friday", "2023-05-12"),
        ("mid-June 2022", "mid-June 2022", "2022-06-11 to 2022-06-20"),
        ("early next year", "early next year", "2024-01-01 to 2024-04-30"),
        ("the end of May", "the end of May", "2023-05-22 to 2023-05-31"),
        ("We will meet on the 3rd", "the 3rd", "2023-06-03"),
        ("We met on the 3rd.", "the 3rd", "2023-05-03"),
        ("using it since 2019", "since 2019", "2019-01-01 to 2023-05-08"),
        ("the week of 3 March", "the week of 3 March", "2023-02-27 to 2023-03-05"),
        ("the summer of 2021", "the summer of 2021", "2021-06-01 to 2021-08-31"),
        ("back in the 1990s", "1990s", "1990-01-01 to 1999-12-31"),
        ("Q3 2024 numbers", "Q3 2024", "2024-07-01 to 2024-09-30"),
        ("5th of May 1999", "5th of May 1999", "1999-05-05"),
        ("March 15, 2024", "March 15, 2024", "2024-03-15"),
        ("March-15-2024", "March-15-2024", "2024-03-15"),
        ("2024-03-15", "2024-03-15", "2024-03-15"),
        ("am 15.03.2024 um", "15.03.2024", "2024-03-15"),
        ("25/12/2024", "25/12/2024", "2024-12-25"),
        ("from May 1 to May 5, 2024", "May 1 to May 5, 2024", "2024-05-01 to 2024-05-05"),
        ("Nov 1 - Nov 15, 2023: setup", "Nov 1 - Nov 15, 2023", "2023-11-01 to 2023-11-15"),
        ("March 3-5, 2024", "March 3-5, 2024", "2024-03-03 to 2024-03-05"),
        ("between Monday and Wednesday", "Monday and Wednesday", "2023-05-08 to 2023-05-10"),
        ("2019-2021", "2019-2021", "2019-01-01 to 2021-12-31"),
    ],
)
def test_a_date_is_resolved_against_the_moment_it_was_written(text: str, surface: str, label: str) -> None:
    """T7: what a message dates itself by is relative to the message, not to today."""
    assert found(text) == [(surface, label)]


@pytest.mark.parametrize(
    "text",
    [
        "You may march on second street",
        "May I come in? I may.",
        "They march in step, April said to June.",
        "I sat on the 3rd floor",
        "Give me a second, I'll be the second one",
        "every Friday, on Mondays",
        "in 2000 lines and 2000 users",
        "v2.3.1, 2.3, 10.0.0.1, port 8080, 404",
        "03/04/2024",
        "Sat on the sofa. The sun was up.",
        "cook for 30 minutes, done in 30 minutes",
        "We haven't talked in a few days",
        "I am 30 years old and lived there for two years",
        "Feb 29 2023",
        "2023-13-45",
        "24/7",
        "a fall, a spring and winter tyres",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert found(text) == []


def test_a_message_of_last_year_is_dated_by_last_year() -> None:
    """T7."""
    at = to_micros(datetime(2022, 5, 9, tzinfo=UTC))
    assert found("yesterday", at) == [("yesterday", "2022-05-08")]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("since last Friday", "since"),
        ("until Friday", "until"),
        ("before 2019", "before"),
        ("after 2019", "after"),
        ("by Friday", "by"),
        ("on Friday", "at"),
    ],
)
def test_the_relation_to_the_date_is_told(text: str, relation: str) -> None:
    assert [date.relation for date in find_dates(text, at=MONDAY, zone=UTC)] == [relation]


def test_since_reaches_up_to_the_moment_of_writing() -> None:
    (date,) = find_dates("since 2019", at=MONDAY, zone=UTC)
    assert (format_instant(date.from_us), date.to_us) == ("2019-01-01T00:00:00Z", MONDAY)


def test_days_begin_in_the_zone_of_the_speaker() -> None:
    """T6: at 23:30 UTC it is already the next day in Tokyo."""
    at = to_micros(datetime(2023, 5, 8, 23, 30, tzinfo=UTC))
    (date,) = find_dates("today", at=at, zone=ZoneInfo("Asia/Tokyo"))
    assert (date.label, format_instant(date.from_us)) == ("2023-05-09", "2023-05-08T15:00:00Z")


def test_a_day_that_the_clocks_change_on_has_its_real_length() -> None:
    (date,) = find_dates("2023-03-26", at=MONDAY, zone=ZoneInfo("Europe/Berlin"))
    assert (date.to_us - date.from_us) == 23 * 3_600 * 1_000_000


def test_a_day_that_a_zone_skipped_is_no_date() -> None:
    """Samoa went from 29 to 31 December 2011."""
    assert find_dates("2011-12-30", at=MONDAY, zone=ZoneInfo("Pacific/Apia")) == ()


def test_a_written_offset_wins_over_the_zone() -> None:
    (date,) = find_dates("2024-03-15T10:00:00+05:30", at=MONDAY, zone=ZoneInfo("America/New_York"))
    assert format_instant(date.from_us) == "2024-03-15T04:30:00Z"


def test_only_dates_that_depend_on_the_writing_are_relative() -> None:
    dates = find_dates("yesterday, in May, on 2 May 2023", at=MONDAY, zone=UTC)
    assert [date.relative for date in dates] == [True, True, False]


_PIECES = st.sampled_from(
    [
        *(
            "yesterday",
            "last Friday",
            "tonight",
            "next",
            "year",
            "since",
            "2 weeks ago",
            "999 years ago",
            "in 3",
            "months",
        ),
        *("in", "the", "of", "to", "-", "and", "between", "early", "end of", ".", ",", "few", "a", "days", "at 5pm"),
        *(
            "May",
            "March",
            "Feb",
            "3",
            "29",
            "30",
            "the 31st",
            "2023",
            "1999",
            "Q4",
            "summer",
            "Christmas",
            "9999-12-31",
        ),
    ]
)


@given(st.lists(_PIECES, max_size=12).map(" ".join), st.integers(-(10**17), 3 * 10**17))
def test_any_mix_of_date_words_gives_whole_intervals(text: str, at: int) -> None:
    dates = find_dates(text, at=at, zone=UTC)
    assert dates == find_dates(text, at=at, zone=UTC)
    end = 0
    for date in dates:
        assert end <= date.start < date.end <= len(text)
        assert text[date.start : date.end] == date.text
        assert date.from_us < date.to_us
        end = date.end


@given(st.text(max_size=200))
def test_any_text_is_read_without_failing(text: str) -> None:
    for date in find_dates(text, at=MONDAY, zone=UTC):
        assert text[date.start : date.end] == date.text
