"""The arithmetic of time: instants are integer microseconds since 1970 UTC inside, RFC 3339 text with `Z` outside."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final, Literal, TypeAlias

Granularity: TypeAlias = Literal["instant", "day", "month", "year"]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
NOT_A_TIME: Final = "not a date or time. Use RFC 3339, such as 2026-12-31 or 2026-12-31T17:00:00Z"

BEGINNING_OF_TIME: Final = (datetime.min.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
END_OF_TIME: Final = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
MILLISECONDS: Final = 1_000
SECONDS: Final = 1_000_000
HOURS: Final = 3_600 * SECONDS
DAYS: Final = 24 * HOURS

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open interval [start, end) in microseconds that a piece of time text stands for.

    An instant covers one microsecond, `2025-03-31` its day, `2025-03` its month, `2025` its year.
    """

    start: int
    end: int
    granularity: Granularity


def now() -> int:
    """The current instant in microseconds."""
    return time.time_ns() // 1_000


def to_micros(moment: datetime) -> int:
    """An aware datetime as microseconds since 1970 UTC."""
    return (moment - EPOCH) // MICROSECOND


def to_datetime(micros: int) -> datetime:
    """Microseconds since 1970 UTC as an aware datetime in UTC."""
    return EPOCH + timedelta(microseconds=micros)


def format_instant(micros: int) -> str:
    """RFC 3339 in UTC, such as `2026-03-01T10:00:00Z`; a fraction is written only where there is one.

    What lies before the year 1 or after 9999 is written as the first or last moment that can be.
    """
    text = (
        to_datetime(min(max(micros, BEGINNING_OF_TIME), END_OF_TIME)).isoformat(timespec="auto").removesuffix("+00:00")
    )
    head, dot, fraction = text.partition(".")
    fraction = fraction.removesuffix("000")
    return f"{head}{dot}{fraction}Z" if fraction else f"{head}Z"


def parse_span(text: str, zone: tzinfo = UTC) -> Span:
    """What a date, month, year or timestamp covers.

    `text` is ISO 8601 / RFC 3339 with any offset; without an offset it is taken in `zone`.

    Raises:
        ValueError: The text is not such a time, or outside of the years 1 to 9999.
    """
    text = text.strip()
    try:
        if match := _DATE.fullmatch(text):
            return _sound(_calendar_span(match, zone))
        moment = datetime.fromisoformat(text)
        start = to_micros(moment if moment.tzinfo else moment.replace(tzinfo=zone))
        return _sound(Span(start, start + 1, "instant"))
    except (ValueError, OverflowError) as error:
        raise ValueError(NOT_A_TIME) from error


def _sound(span: Span) -> Span:
    """The span, if it lies in the years 1 to 9999 of UTC: what begins outside cannot be written down."""
    if not BEGINNING_OF_TIME <= span.start <= END_OF_TIME:
        raise OverflowError
    return span


def parse_instant(text: str, zone: tzinfo = UTC) -> int:
    """The instant that `text` names; a date, month or year names its first moment in `zone`.

    Raises:
        ValueError: As for `parse_span`.
    """
    return parse_span(text, zone).start


def day_of(micros: int, zone: tzinfo = UTC) -> date:
    """The calendar day that an instant falls on in `zone`."""
    return to_datetime(micros).astimezone(zone).date()


def start_of(day: date, zone: tzinfo = UTC) -> int:
    """The first moment of a calendar day in `zone`."""
    return to_micros(datetime(day.year, day.month, day.day, tzinfo=zone))


def _calendar_span(match: re.Match[str], zone: tzinfo) -> Span:
    year, month, day = (int(part) if part else None for part in match.groups())
    assert year is not None
    first = date(year, month or 1, day or 1)
    granularity: Granularity = "day" if day else "month" if month else "year"
    return Span(start_of(first, zone), _start_of_next(first, granularity, zone), granularity)


def _start_of_next(first: date, granularity: Granularity, zone: tzinfo) -> int:
    try:
        if granularity == "day":
            return start_of(first + timedelta(days=1), zone)
        if granularity == "month" and first.month < 12:
            return start_of(first.replace(month=first.month + 1), zone)
        return start_of(date(first.year + 1, 1, 1), zone)
    except (ValueError, OverflowError):  # 9999-12-31 is how many systems write "for ever"
        return END_OF_TIME
