"""The dates and clock times that chats put before or behind a speaker's name, and the order of their day and month."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final, Literal

from uniko_mcp.errors import InvalidArgumentsError

STAMP: Final = r"""
    (?:(?P<date>\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}(?P<sep>[./-])\d{1,2}(?P=sep)(?:\d{4}|\d{2}))(?!\d)
       (?P<gap>,?\s|,|T))?
    (?P<clock>(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)(?![\d:])(?:\.\d+)?(?:\s?(?P<half>[ap])\.?\s?m\b\.?)?(?P<offset>Z|[+-]\d{2}:?\d{2})?
    |(?P<day>\d{4}-\d{2}-\d{2}|\d{1,2}(?P<sep2>[./-])\d{1,2}(?P=sep2)(?:\d{4}|\d{2}))(?![\d:])
"""
"""A date with or without a clock time, or a clock time alone; for patterns that are verbose and ignore case."""

_PARTS: Final = re.compile(r"[./-]")
_MONTHS: Final = 12


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a line says of its time, as written: `parts` are those of its date, empty when there is only a clock time.

    `exported` tells a date that is not ISO 8601, as only chat programs write it.
    """

    parts: tuple[str, ...]
    exported: bool
    clock: str
    half: str
    offset: str

    @property
    def orderless(self) -> bool:
        """Whether the date does not say by itself which part is the day."""
        return bool(self.parts) and len(self.parts[0]) < len("2026")


def stamp_of(match: re.Match[str]) -> Stamp:
    """The stamp in a match of a pattern that holds `STAMP`."""
    written = match["date"] or match["day"] or ""
    return Stamp(
        parts=tuple(_PARTS.split(written)) if written else (),
        exported=bool(written) and (not re.match(r"\d{4}-", written) or (match["gap"] or "").startswith(",")),
        clock=match["clock"] or "",
        half=(match["half"] or "").lower(),
        offset=(match["offset"] or "").upper(),
    )


def day_comes_first(stamps: Iterable[Stamp]) -> bool:
    """Whether dates such as 10/05/26 of one chat begin with the day.

    A part over 12 anywhere decides; else a clock of 12 hours speaks for the month, anything else for the day. Raises
    InvalidArgumentsError when the dates contradict each other.
    """
    orderless = [stamp for stamp in stamps if stamp.orderless]
    by_day = any(int(stamp.parts[0]) > _MONTHS for stamp in orderless)
    by_month = any(int(stamp.parts[1]) > _MONTHS for stamp in orderless)
    if by_day and by_month:
        raise InvalidArgumentsError(
            "the dates of the transcript begin now with the day and now with the month",
            next_step="Write them as year-month-day, such as 2026-05-10",
        )
    return by_day or not (by_month or any(stamp.half for stamp in orderless))


def resolve(stamp: Stamp, *, day_first: bool, before: str | None) -> str | None:
    """The stamp as ISO 8601, such as `2026-05-10T09:15`; None for a clock time of which no day is known.

    `before` is the time of what was said before it, whose day a clock time alone continues, or the day after it when
    the clock has gone back. Raises ValueError when there is no such date or time.
    """
    clock = _clock(stamp) if stamp.clock else None
    if stamp.parts:
        day = _date(stamp.parts, day_first=day_first).isoformat()
        return f"{day}T{clock.isoformat(_precision(clock))}{stamp.offset}" if clock else day
    if before is None or clock is None:
        return None
    last = datetime.fromisoformat(before)
    day = last.date() + timedelta(days=int("T" in before and clock < last.time()))
    return datetime.combine(day, clock, last.tzinfo).isoformat(timespec=_precision(clock))


def _precision(clock: time) -> Literal["seconds", "minutes"]:
    return "seconds" if clock.second else "minutes"


def _date(parts: tuple[str, ...], *, day_first: bool) -> date:
    first, second, third = (int(part) for part in parts)
    if len(parts[0]) == len("2026"):
        return date(first, second, third)
    year = third if len(parts[2]) == len("2026") else 2000 + third
    return date(year, second, first) if day_first else date(year, first, second)


def _clock(stamp: Stamp) -> time:
    hour, minute, second = (int(part) for part in f"{stamp.clock}:00".split(":")[:3])
    if stamp.half:
        if not 1 <= hour <= 12:
            raise ValueError("a clock of 12 hours has no such hour")
        hour = hour % 12 + (12 if stamp.half == "p" else 0)
    return time(hour, minute, second)
