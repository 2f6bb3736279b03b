"""The times that a query names, as windows to search in."""

from __future__ import annotations

from datetime import tzinfo

from uniko_mcp.extract.dates import DateMention, find_dates
from uniko_mcp.models.time import BEGINNING_OF_TIME, END_OF_TIME
from uniko_mcp.recall.query import Window


def read_windows(text: str, at: int, *, zone: tzinfo) -> list[Window]:
    """The windows of a query that is asked at an instant, in microseconds UTC."""
    return [_window(date) for date in find_dates(text, at=at, zone=zone, asked=True)]


def _window(date: DateMention) -> Window:
    """The time that a phrase names, which "before last week" is not last week.

    Absolute dates only raise what is of them, so there the date itself does.
    """
    start, end = date.from_us, date.to_us
    if date.relative and date.relation == "before":
        start, end = BEGINNING_OF_TIME, start
    elif date.relative and date.relation == "after":
        start, end = end, END_OF_TIME
    elif date.relative and date.relation in ("until", "by"):
        start = BEGINNING_OF_TIME
    return Window(start, end, date.relative, date.text)
