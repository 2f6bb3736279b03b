"""Stretches of the calendar, days to decades, as half-open intervals of local time, and their place on the UTC axis."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final, Literal, TypeAlias

from uniko_mcp.models.time import END_OF_TIME, to_micros

Grain: TypeAlias = Literal["minute", "hour", "part", "day", "week", "month", "quarter", "year", "span"]
"""How finely a period was named: `part` is a part of a day, `quarter` also a season, `span` anything else."""

Unit: TypeAlias = Literal["minute", "hour", "day", "week", "month", "year"]

_PARTS: Final = {"morning": (5, 12), "afternoon": (12, 17), "evening": (17, 22), "night": (20, 28)}
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_DAYS_IN: Final = {"day": 1, "week": 7, "weekend": 7}
_THIRD_IN_MONTHS: Final = {"quarter": 1, "year": 4}
_MONTHS_IN: Final = {"month": 1, "year": 12}


@dataclass(frozen=True, slots=True)
class Period:
    """The local times [start, end), without a zone, named as finely as `grain` says."""

    start: datetime
    end: datetime
    grain: Grain

    def micros(self, zone: tzinfo) -> tuple[int, int]:
        """The interval in microseconds UTC when the local times are those of `zone`."""
        return _micros(self.start, zone), _micros(self.end, zone)

    def label(self) -> str:
        """The period in ISO style: `2023-05-07`, `2023-05`, `2023`, `2023-05-07 17:00`, `2023-05-01 to 2023-05-07`."""
        first, last = self.start.date(), (self.end - timedelta(microseconds=1)).date()
        if self.grain in {"minute", "hour"}:
            return f"{self.start:%Y-%m-%d %H:%M}"
        if self.grain in {"part", "day"}:
            return first.isoformat()
        if self.grain == "month":
            return first.isoformat()[:7]
        if self.grain == "year":
            return first.isoformat()[:4]
        return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"


def day(first: date) -> Period:
    return _days(first, 1, "day")


def week(of: date) -> Period:
    """The ISO week, Monday to Sunday, that holds the day."""
    return _days(of - timedelta(days=of.weekday()), 7, "week")


def weekend(of: date) -> Period:
    """The Saturday and Sunday of the ISO week that holds the day."""
    return _days(of - timedelta(days=of.weekday() - 5), 2, "span")


def month(of: date) -> Period:
    return _months(of.replace(day=1), 1, "month")


def quarter(year_number: int, number: int) -> Period:
    return _months(date(year_number, 3 * number - 2, 1), 3, "quarter")


def season(year_number: int, name: str) -> Period:
    """The northern meteorological season that begins in the year: three whole months, winter from December."""
    return _months(date(year_number, _SEASONS[name], 1), 3, "quarter")


def year(number: int) -> Period:
    return _months(date(number, 1, 1), 12, "year")


def years(first: int, count: int) -> Period:
    return _months(date(first, 1, 1), 12 * count, "span")


def between(start: datetime, end: datetime) -> Period:
    return Period(start, end, "span")


def part_of_day(of: date, name: str) -> Period:
    """The morning, afternoon, evening or night of a day; the night reaches into the next day."""
    first, last = _PARTS[name]
    midnight = datetime.combine(of, time())
    return Period(midnight + timedelta(hours=first), midnight + timedelta(hours=last), "part")


def clock(of: date, hour: int, minute: int | None) -> Period:
    """The named minute of a day, or the whole hour when no minute was named."""
    start = datetime.combine(of, time(hour, minute or 0))
    return Period(start, start + timedelta(minutes=60 if minute is None else 1), "hour" if minute is None else "minute")


def shift(moment: datetime, count: int, unit: str) -> datetime:
    """The moment `count` units later, or earlier when negative; a day that the month lacks becomes its last.

    Raises:
        ValueError, OverflowError: The result is outside of the years 1 to 9999.
    """
    if unit in _MONTHS_IN:
        return datetime.combine(_shift_months(moment.date(), count * _MONTHS_IN[unit]), moment.time())
    if unit in _DAYS_IN:
        return moment + timedelta(days=count * _DAYS_IN[unit])
    return moment + (timedelta(hours=count) if unit == "hour" else timedelta(minutes=count))


def around(moment: datetime, unit: str) -> Period:
    """What "so many units ago" stands for: the day, month or year of the moment, or the week around it."""
    if unit == "week":
        return _days(moment.date() - timedelta(days=3), 7, "week")
    if unit in {"minute", "hour"}:
        start = moment.replace(second=0, microsecond=0)
        return Period(
            start, start + timedelta(minutes=1 if unit == "minute" else 60), "minute" if unit == "minute" else "hour"
        )
    return {"day": day, "month": month}.get(unit, lambda of: year(of.year))(moment.date())


def third(whole: Period, number: int) -> Period:
    """The first (0), middle (1) or last (2) third of a period, to whole days or months: early, mid or late May."""
    if whole.grain in _THIRD_IN_MONTHS:
        count = _THIRD_IN_MONTHS[whole.grain]
        return _months(_shift_months(whole.start.date(), number * count), count, "span")
    length = (whole.end - whole.start) / 3
    edges = [whole.start + number * length, whole.start + (number + 1) * length]
    start, end = (datetime.combine((edge + timedelta(hours=12)).date(), time()) for edge in edges)
    return Period(start, end, "span")


def _days(first: date, count: int, grain: Grain) -> Period:
    start = datetime.combine(first, time())
    return Period(start, start + timedelta(days=count), grain)


def _months(first: date, count: int, grain: Grain) -> Period:
    return Period(datetime.combine(first, time()), datetime.combine(_shift_months(first, count), time()), grain)


def _shift_months(of: date, count: int) -> date:
    index = of.year * 12 + of.month - 1 + count
    year_number, month_number = index // 12, index % 12 + 1
    following = date(year_number + month_number // 12, month_number % 12 + 1, 1)
    last_day = (following - timedelta(days=1)).day
    return date(year_number, month_number, min(of.day, last_day))


def _micros(moment: datetime, zone: tzinfo) -> int:
    try:
        return min(to_micros(moment.replace(tzinfo=zone)), END_OF_TIME)
    except OverflowError:
        return END_OF_TIME
