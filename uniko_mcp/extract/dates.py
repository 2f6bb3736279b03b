"""Dates in running text, absolute and relative, resolved against the moment the text was written."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, tzinfo
from typing import Final, Literal, TypeAlias

from uniko_mcp.extract import periods
from uniko_mcp.extract.date_rules import RULES, Reading, Reference
from uniko_mcp.extract.date_words import TRIGGER
from uniko_mcp.extract.periods import Grain, Period
from uniko_mcp.models.time import to_datetime, to_micros

Relation: TypeAlias = Literal["at", "since", "until", "before", "after", "by"]

_LEAD: Final = re.compile(
    r"\b(?:(?P<relation>since|until|till|before|after|by)"
    r"|(?P<third>early|mid|late|(?:the )?(?:start|beginning|middle|end) of))"
    r"(?:[ -]|$)(?:in |the )?$",
    re.IGNORECASE,
)
_LEAD_LENGTH: Final = 24
_RECURRING: Final = re.compile(r"\b(?:every|each|most|usual(?:ly)?(?: on)?)(?: other)? $", re.IGNORECASE)
_CLOCK: Final = (
    r"(?:(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))? ?(?P<half>[ap])\.?m\b\.?"
    r"|(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d)(?!\d)|(?P<word>noon|midnight)\b)"
)
_CLOCK_AFTER: Final = re.compile(rf",?(?: at| @| around| by| from)? ?{_CLOCK}", re.IGNORECASE)
_CLOCK_BEFORE: Final = re.compile(rf"(?<![\w.:]){_CLOCK},?(?: on| in the)? (?:the )?$", re.IGNORECASE)
_PART_AFTER: Final = re.compile(r",? (?:in the )?(?P<part>morning|afternoon|evening|night)\b", re.IGNORECASE)
_JOINT: Final = re.compile(r" ?(?:-|–|—|to|until|till|through|and) ?(?:the )?", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"\bbetween (?:the )?$", re.IGNORECASE)
_THIRDS: Final = {"early": 0, "start": 0, "beginning": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
_EARLIEST: Final = to_micros(datetime(1000, 1, 1, tzinfo=UTC))  # beyond these, "1,000 years ago" leaves the calendar
_LATEST: Final = to_micros(datetime(9000, 1, 1, tzinfo=UTC))
_DIVISIBLE: Final = frozenset({"month", "year", "quarter", "week"})


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date expression, `text == source[start:end]`, and the half-open interval [from_us, to_us) that it names.

    `relation` is how the sentence stands to that interval: "since" means from its start on, and then the interval
    already reaches up to the reference instant. `relative` says that the interval depends on when the text was written.
    `label` is the interval in ISO style in the text's own zone.
    """

    text: str
    start: int
    end: int
    from_us: int
    to_us: int
    grain: Grain
    relation: Relation
    relative: bool
    label: str


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    reading: Reading
    relation: Relation = "at"

    @property
    def period(self) -> Period:
        return self.reading.period


def find_dates(text: str, *, at: int, zone: tzinfo, asked: bool = False) -> tuple[DateMention, ...]:
    """The dates named in English or numbers in the text, in order, without overlap.

    `at` is the instant the text was written, in microseconds UTC; `zone` is where its days begin. Words that are only
    sometimes dates ("may", "march", "second") and numeric dates whose order of day and month cannot be known
    (03/04/2024) are left out, and so is what recurs ("every Friday"). `asked` says that the text is a query: a month or
    weekday without a sign of the future is then the last one.
    """
    if not _EARLIEST <= at <= _LATEST:
        return ()
    local = to_datetime(at).astimezone(zone).replace(tzinfo=None)
    reference = Reference(local, zone, text, asked)
    found = _joined(text, reference, _scan(text, reference))
    mentions = (_mention(text, item, at, zone) for item in found)
    return tuple(mention for mention in mentions if mention.from_us < mention.to_us)  # some zones skipped a whole day


def _scan(text: str, reference: Reference) -> list[_Found]:
    found: list[_Found] = []
    position = 0
    while trigger := TRIGGER.search(text, position):
        item = _read(text, trigger.start(), reference, floor=found[-1].end if found else 0)
        if item:
            found.append(item)
        position = item.end if item else trigger.end()
    return found


def _read(text: str, start: int, reference: Reference, floor: int) -> _Found | None:
    if _RECURRING.search(text, max(floor, start - _LEAD_LENGTH), start):
        return None
    for rule in RULES:
        match = rule.pattern.match(text, start)
        reading = rule.read(match, reference) if match else None
        if match and reading:
            return _with_lead(text, _with_clock(text, _Found(start, match.end(), reading), floor), reference, floor)
    return None


def _with_clock(text: str, item: _Found, floor: int) -> _Found:
    """The day narrowed to a time of day named right behind or before it."""
    if item.period.grain != "day":
        return item
    if match := _CLOCK_AFTER.match(text, item.end):
        return replace(item, end=match.end(), reading=_narrowed(item, _at_clock(item, match)))
    if match := _PART_AFTER.match(text, item.end):
        part = periods.part_of_day(item.period.start.date(), match.group("part").lower())
        return replace(item, end=match.end(), reading=_narrowed(item, part))
    if match := _CLOCK_BEFORE.search(text, max(floor, item.start - _LEAD_LENGTH), item.start):
        return replace(item, start=match.start(), reading=_narrowed(item, _at_clock(item, match)))
    return item


def _narrowed(item: _Found, period: Period) -> Reading:
    return replace(item.reading, period=period)


def _at_clock(item: _Found, match: re.Match[str]) -> Period:
    of = item.period.start.date()
    if match.group("word"):
        return periods.clock(of, 12 if match.group("word").lower() == "noon" else 0, 0)
    if match.group("hour24"):
        return periods.clock(of, int(match.group("hour24")), int(match.group("minute24")))
    hour = int(match.group("hour")) % 12 + (12 if match.group("half").lower() == "p" else 0)
    minute = match.group("minute")
    return periods.clock(of, hour, int(minute) if minute else None)


def _with_lead(text: str, item: _Found, reference: Reference, floor: int) -> _Found:
    """The period changed by "since", "early", "the end of" and the like right before it."""
    lead = _LEAD.search(text, max(floor, item.start - _LEAD_LENGTH), item.start)
    if lead is None:
        return item
    if third := lead.group("third"):
        if item.period.grain not in _DIVISIBLE:
            return item
        word = third.lower().removeprefix("the ").split()[0]
        part = periods.third(item.period, _THIRDS[word])
        return _with_lead(text, replace(item, start=lead.start(), reading=_narrowed(item, part)), reference, floor)
    relation = _relation(lead.group("relation").lower())
    item = replace(item, start=lead.start(), relation=relation)
    if relation == "since" and item.period.start < reference.now:
        return replace(item, reading=_narrowed(item, periods.between(item.period.start, reference.now)))
    return item


def _relation(word: str) -> Relation:
    match word:
        case "since" | "before" | "after" | "by":
            return word
        case _:
            return "until"


def _joined(text: str, reference: Reference, found: list[_Found]) -> list[_Found]:
    """Pairs such as "1 May to 5 May" and "between Monday and Friday" become one interval."""
    joined: list[_Found] = []
    for item in found:
        merged = _range(text, reference, joined[-1], item) if joined else None
        if merged:
            joined[-1] = merged
        else:
            joined.append(item)
    return joined


def _range(text: str, reference: Reference, first: _Found, last: _Found) -> _Found | None:
    joint = _JOINT.fullmatch(text, first.end, last.start)
    starts_apart = last.relation == "at" or (last.relation == "until" and text[first.end : last.start].isspace())
    if not starts_apart or first.relation == "since" or (joint is None and last.relation != "until"):
        return None
    if joint and joint.group().strip().lower() == "and" and not _BETWEEN.search(text, 0, first.start):
        return None
    start = first.period.start
    if first.reading.yearless and not last.reading.yearless:
        start = _same_or_previous_year(start, last.period.start)
    if start >= last.period.end:
        return None
    relative = first.reading.relative and last.reading.relative
    reading = replace(last.reading, period=periods.between(start, last.period.end), relative=relative)
    return _Found(first.start, last.end, reading, first.relation)


def _same_or_previous_year(moment: datetime, before: datetime) -> datetime:
    if (moment.month, moment.day) == (2, 29):
        return moment
    same = moment.replace(year=before.year)
    return same if same <= before or before.year == 1 else same.replace(year=before.year - 1)


def _mention(text: str, item: _Found, at: int, zone: tzinfo) -> DateMention:
    from_us, to_us = item.period.micros(zone)
    if item.relation == "since" and item.period.end.time() != time():
        to_us = max(from_us + 1, at)
    return DateMention(
        text=text[item.start : item.end],
        start=item.start,
        end=item.end,
        from_us=from_us,
        to_us=to_us,
        grain=item.period.grain,
        relation=item.relation,
        relative=item.reading.relative,
        label=item.period.label(),
    )
