"""The arithmetic of time."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniko_mcp.models.time import (
    DAYS,
    Span,
    format_instant,
    parse_instant,
    parse_span,
    start_of,
    to_datetime,
    to_micros,
)

TOKYO = ZoneInfo("Asia/Tokyo")
BERLIN = ZoneInfo("Europe/Berlin")


@given(st.datetimes(timezones=st.just(UTC)))
def test_an_instant_is_written_and_read_again(moment: datetime) -> None:
    micros = to_micros(moment)
    assert to_datetime(micros) == moment
    assert parse_instant(format_instant(micros)) == micros


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-03-01T10:00:00+05:30", "2026-03-01T04:30:00Z"),
        ("2026-03-01 10:00", "2026-03-01T10:00:00Z"),
        ("2026-03-01", "2026-03-01T00:00:00Z"),
        ("2026-03", "2026-03-01T00:00:00Z"),
        ("2026", "2026-01-01T00:00:00Z"),
    ],
)
def test_offsets_naive_times_and_coarse_dates_are_instants(text: str, same: str) -> None:
    """T6"""
    assert format_instant(parse_instant(text)) == same


def test_a_day_is_as_long_as_its_clocks_say() -> None:
    short = parse_span("2026-03-29", BERLIN)
    assert short.end - short.start == 23 * DAYS // 24
    assert parse_span("2026-10-25", BERLIN).end - start_of(datetime(2026, 10, 25).date(), BERLIN) == 25 * DAYS // 24


def test_a_date_covers_its_day_a_month_its_days_and_the_last_year_ends() -> None:
    assert parse_span("2024-02") == Span(parse_instant("2024-02-01"), parse_instant("2024-03-01"), "month")
    assert parse_span("2024-02-29").end == parse_instant("2024-03-01")
    assert format_instant(parse_span("9999-12-31").end) == "9999-12-31T23:59:59.999999Z"


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01", "2026-02-30", "10000-01-01", "1798761600", "12:00"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a date or time"):
        parse_span(text)


@pytest.mark.parametrize("text", ["0001-01-01", "0001", "0001-01", "0001-01-01T00:00:00"])
def test_what_utc_cannot_write_is_refused(text: str) -> None:
    """The first day of the year 1 began in Tokyo when it was the year 0 in UTC."""
    with pytest.raises(ValueError, match="not a date or time"):
        parse_span(text, TOKYO)


@pytest.mark.parametrize("micros", [-(2**62), 2**62])
def test_what_was_stored_out_of_range_is_written_as_the_nearest_that_can_be(micros: int) -> None:
    assert format_instant(micros) in {"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"}
