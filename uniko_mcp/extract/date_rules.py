"""The forms that dates take in English and in numbers: one pattern and one reading of it each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

from uniko_mcp.extract import date_words as words
from uniko_mcp.extract import periods
from uniko_mcp.extract.periods import Period
from uniko_mcp.extract.tense import Direction, direction


@dataclass(frozen=True, slots=True)
class Reference:
    """When (local time), in which zone and in what text a date stands, and whether that is a query."""

    now: datetime
    zone: tzinfo
    text: str
    asked: bool = False

    @property
    def today(self) -> date:
        return self.now.date()

    def years(self, reach: int) -> range:
        """The years up to `reach` before and after now."""
        return range(self.now.year - reach, self.now.year + reach + 1)

    def direction(self, match: re.Match[str]) -> Direction:
        return direction(self.text, match.start(), match.end(), asked=self.asked)

    def leaning(self, match: re.Match[str]) -> Direction:
        """The direction; a query that shows none looks back, since a memory is asked about what was."""
        return self.direction(match) or (-1 if self.asked else 0)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a date expression means; `yearless` when its year was inferred and not written."""

    period: Period
    relative: bool
    yearless: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and the reading of what it matched, None when that is no date after all."""

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], Reference], Reading | None]


def _rule(pattern: str, read: Callable[[re.Match[str], Reference], Reading | None]) -> Rule:
    return Rule(re.compile(rf"(?:{pattern})(?![\w/])", re.IGNORECASE), read)


def _month_number(match: re.Match[str]) -> int:
    return next(i for i, name in enumerate(words.MONTHS, 1) if name.startswith(match.group("month").lower()[:3]))


def _weekday_number(match: re.Match[str]) -> int:
    return next(i for i, name in enumerate(words.WEEKDAYS) if name.startswith(match.group("weekday").lower()[:3]))


def _real(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _written(day: date | None) -> Reading | None:
    return Reading(periods.day(day), relative=False) if day and day.year < 9999 else None


def _near(period: Period) -> Reading:
    return Reading(period, relative=True)


def _iso(match: re.Match[str], reference: Reference) -> Reading | None:
    day = _real(int(match["year"]), int(match["m"]), int(match["d"]))
    if day is None or not match["hour"]:
        return _written(day)
    moment = datetime.combine(day, time(int(match["hour"]), int(match["minute"])))
    if offset := match["offset"]:
        written = datetime.fromisoformat(f"{moment.isoformat()}{offset.upper()}")
        moment = written.astimezone(reference.zone).replace(tzinfo=None)
    return Reading(periods.clock(moment.date(), moment.hour, moment.minute), relative=False)


def _year_range(match: re.Match[str], _: Reference) -> Reading | None:
    first, last = int(match["first"]), int(match["last"])
    return Reading(periods.years(first, last - first + 1), relative=False) if last > first else None


def _days_of_month(match: re.Match[str], reference: Reference) -> Reading | None:
    last = _day_of_month(match, reference)
    if last is None or int(match["first"]) >= int(match["day"]):
        return None
    end = last.period.end
    start = last.period.start - timedelta(days=int(match["day"]) - int(match["first"]))
    return Reading(periods.between(start, end), last.relative, last.yearless)


def _iso_month(match: re.Match[str], _: Reference) -> Reading | None:
    return Reading(periods.month(date(int(match["year"]), int(match["m"]), 1)), relative=False)


def _dotted(match: re.Match[str], _: Reference) -> Reading | None:
    return _written(_real(int(match["year"]), int(match["m"]), int(match["d"])))


def _slashed(match: re.Match[str], _: Reference) -> Reading | None:
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if first == second or second > 12:
        return _written(_real(year, first, second))
    return _written(_real(year, second, first)) if first > 12 else None


def _day_of_month(match: re.Match[str], reference: Reference) -> Reading | None:
    month, day = _month_number(match), int(match["day"])
    if match["year"]:
        return _written(_real(int(match["year"]), month, day))
    candidates = [periods.day(found) for year in reference.years(1) if (found := _real(year, month, day))]
    return _inferred(match, reference, candidates)


def _month_of_year(match: re.Match[str], _: Reference) -> Reading:
    return Reading(periods.month(date(int(match["year"]), _month_number(match), 1)), relative=False)


def _bare_month(match: re.Match[str], reference: Reference) -> Reading | None:
    word = match["month"]
    governed = words.PREPOSITION.search(reference.text, max(0, match.start() - 12), match.start())
    if not governed and (word.lower() in words.OFTEN_OTHER_WORDS or word.islower()):
        return None
    month = _month_number(match)
    return _inferred(match, reference, [periods.month(date(year, month, 1)) for year in reference.years(1)])


def _inferred(match: re.Match[str], reference: Reference, candidates: list[Period]) -> Reading | None:
    """The candidate that the tense asks for; the nearest one when there is no tense to go by."""
    now, way = reference.now, reference.leaning(match)
    if way < 0:
        chosen = next((period for period in reversed(candidates) if period.start <= now), None)
    elif way > 0:
        chosen = next((period for period in candidates if period.end > now), None)
    else:
        chosen = min(candidates, key=lambda period: abs(period.start - now), default=None)
    return Reading(chosen, relative=True, yearless=True) if chosen else None


def _bare_year(match: re.Match[str], reference: Reference) -> Reading | None:
    text, start, end = reference.text, match.start(), match.end()
    if words.FOLLOWED_BY_NOUN.match(text, end):
        return None
    firm = words.FIRM_PREPOSITION.search(text, max(0, start - 12), start)
    loose = words.PREPOSITION.search(text, max(0, start - 12), start) and words.ENDS_PHRASE.match(text, end)
    return Reading(periods.year(int(match["year"])), relative=False) if firm or loose else None


def _decade(match: re.Match[str], _: Reference) -> Reading:
    first = int(match["decade"])
    century = first % 100 == 0 and first < 2000  # "the 1900s" are mostly the century, "the 2000s" the decade
    return Reading(periods.years(first, 100 if century else 10), relative=False)


def _quarter(match: re.Match[str], reference: Reference) -> Reading | None:
    number = int(match["quarter"])
    if match["year"]:
        return Reading(periods.quarter(int(match["year"]), number), relative=False)
    if reference.text[match.end() : match.end() + 1] == ":":
        return None
    return _inferred(match, reference, [periods.quarter(year, number) for year in reference.years(1)])


def _season_of_year(match: re.Match[str], _: Reference) -> Reading:
    return Reading(periods.season(int(match["year"]), match["season"].lower()), relative=False)


def _plain_day(match: re.Match[str], reference: Reference) -> Reading:
    offset = {"today": 0, "yesterday": -1, "tomorrow": 1, "tmrw": 1}[match["word"].lower()]
    return _near(periods.day(reference.today + timedelta(days=offset)))


def _day_but_one(match: re.Match[str], reference: Reference) -> Reading:
    offset = -2 if match["side"].lower() == "before yesterday" else 2
    return _near(periods.day(reference.today + timedelta(days=offset)))


def _part_of_today(match: re.Match[str], reference: Reference) -> Reading:
    word = match["part"].lower()
    if word == "last night":
        return _near(periods.part_of_day(reference.today - timedelta(days=1), "night"))
    part = "night" if word == "tonight" else word.removeprefix("this ")
    return _near(periods.part_of_day(reference.today, part))


def _step(match: re.Match[str]) -> int:
    which = match["which"].lower()
    return -1 if which in {"last", "past", "this past", "previous"} else 1 if which == "next" else 0


def _qualified_weekday(match: re.Match[str], reference: Reference) -> Reading:
    today, weekday, step = reference.today, _weekday_number(match), _step(match)
    if step < 0:
        return _near(periods.day(today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)))
    in_week = today + timedelta(days=weekday - today.weekday() + 7 * step)
    if step == 0 and in_week < today and reference.direction(match) >= 0:
        in_week += timedelta(days=7)
    return _near(periods.day(in_week))


def _bare_weekday(match: re.Match[str], reference: Reference) -> Reading | None:
    word = match["weekday"]
    governed = words.WEEKDAY_PREPOSITION.search(reference.text, max(0, match.start() - 10), match.start())
    if not word.lower().endswith("day") and not (governed and word[0].isupper()):
        return None
    today, weekday = reference.today, _weekday_number(match)
    if reference.leaning(match) < 0:
        return _near(periods.day(today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)))
    return _near(periods.day(today + timedelta(days=(weekday - today.weekday()) % 7)))


def _qualified_unit(match: re.Match[str], reference: Reference) -> Reading | None:
    unit, step = match["unit"].lower(), _step(match)
    if unit == "weekend":
        return _near(_weekend(match, reference, step))
    if match["which"].lower() in {"past", "coming"}:
        return None
    moment = periods.shift(reference.now, step, unit)
    if unit == "week":
        return _near(periods.week(moment.date()))
    return _near(periods.month(moment.date()) if unit == "month" else periods.year(moment.year))


def _weekend(match: re.Match[str], reference: Reference, step: int) -> Period:
    weekend = periods.weekend(reference.today + timedelta(days=7 * step))
    if step == 0 and weekend.start > reference.now and reference.direction(match) < 0:
        return periods.weekend(reference.today - timedelta(days=7))
    return weekend


def _qualified_recurring(match: re.Match[str], reference: Reference) -> Reading | None:
    """The latest that is over, the first to begin, or the one nearest: "last May", "next summer", "this Christmas"."""
    candidates = [_in_year(match, year) for year in reference.years(2)]
    now, step = reference.now, _step(match)
    if step < 0:
        return _near([period for period in candidates if period.end <= now][-1])
    if step > 0:
        return _near(next(period for period in candidates if period.start > now))
    if reference.direction(match) < 0:
        return _near([period for period in candidates if period.start <= now][-1])
    return _near(next(period for period in candidates if period.end > now))


def _in_year(match: re.Match[str], year: int) -> Period:
    groups = match.groupdict()
    if groups.get("season"):
        return periods.season(year, groups["season"].lower())
    if groups.get("holiday"):
        return periods.day(date(year, *words.HOLIDAYS[groups["holiday"].lower()]))
    return periods.month(date(year, _month_number(match), 1))


def _holiday_of_year(match: re.Match[str], _: Reference) -> Reading:
    return Reading(_in_year(match, int(match["year"])), relative=False)


def _count(match: re.Match[str]) -> tuple[int, int]:
    """The least and the greatest number that the number word may stand for."""
    word = " ".join(match["number"].lower().split())
    if word in words.VAGUE:
        return words.VAGUE[word]
    number = words.NUMBERS.get(word) or int(word)
    return number, number


def _unit(match: re.Match[str]) -> str:
    unit = match["unit"].lower()
    return {"min": "minute", "hr": "hour", "night": "day"}.get(unit, unit)


def _distant(match: re.Match[str], reference: Reference, sign: int) -> Reading:
    (low, high), unit = _count(match), _unit(match)
    if unit == "weekend" and low == high:
        return _near(periods.weekend(reference.today + timedelta(weeks=sign * low)))
    if low == high:
        return _near(periods.around(periods.shift(reference.now, sign * low, unit), unit))
    ends = sorted(periods.shift(reference.now, sign * number, unit) for number in (low, high))
    if unit in {"minute", "hour"}:
        return _near(periods.between(*ends))
    return _near(periods.between(periods.day(ends[0].date()).start, periods.day(ends[1].date()).end))


def _ago(match: re.Match[str], reference: Reference) -> Reading:
    return _distant(match, reference, -1)


def _ahead(match: re.Match[str], reference: Reference) -> Reading | None:
    if _unit(match) in {"minute", "hour"} and not match["from"]:
        return None  # "in 30 minutes" is as often how long a thing took
    if not match["from"] and reference.direction(match) < 0:
        return None  # "built it in two days", "have not met in a few weeks"
    return _distant(match, reference, 1)


def _trailing(match: re.Match[str], reference: Reference) -> Reading | None:
    """The stretch that ends or begins now: "the last two weeks", "over the past year", "in the next few days"."""
    which = match["which"].lower()
    forward = which in {"next", "coming"}
    named = which in {"last", "previous", "next"} or _unit(match) in {"day", "hour", "weekend"}
    if match["number"] is None and named:
        return None  # "last week" is the calendar's, "the past day" says nothing
    reach = _count(match)[1] if match["number"] else 1
    other = periods.shift(reference.now, reach if forward else -reach, _unit(match))
    return _near(periods.between(*sorted((reference.now, other))))


def _within(match: re.Match[str], reference: Reference) -> Reading:
    return _near(periods.between(reference.now, periods.shift(reference.now, _count(match)[1], _unit(match))))


def _other_day(_: re.Match[str], reference: Reference) -> Reading:
    return _near(periods.between(reference.now - timedelta(days=7), reference.now))


def _week_but_one(match: re.Match[str], reference: Reference) -> Reading:
    step = -2 if match["side"].lower() == "before last" else 2
    moment = periods.shift(reference.now, step, match["unit"].lower())
    unit = match["unit"].lower()
    if unit == "week":
        return _near(periods.week(moment.date()))
    if unit == "weekend":
        return _near(periods.weekend(reference.today + timedelta(days=7 * step)))
    return _near(periods.month(moment.date()) if unit == "month" else periods.year(moment.year))


def _week_of(match: re.Match[str], reference: Reference) -> Reading | None:
    day = _day_of_month(match, reference)
    if day is None:
        return None
    first = day.period.start.date()
    return Reading(
        periods.weekend(first) if match["unit"].lower() == "weekend" else periods.week(first),
        day.relative,
        day.yearless,
    )


def _day_alone(match: re.Match[str], reference: Reference) -> Reading | None:
    if not words.ENDS_PHRASE.match(reference.text, match.end()):
        return None
    first = reference.today.replace(day=1)
    months = [periods.shift(datetime(first.year, first.month, 1), step, "month") for step in (-1, 0, 1)]
    days = [_real(month.year, month.month, int(match["day"])) for month in months]
    reading = _inferred(match, reference, [periods.day(day) for day in days if day])
    return _near(reading.period) if reading else None


# Longer forms stand before the shorter ones that begin alike.
RULES: Final = (
    _rule(rf"(?P<year>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])[-/](?P<d>\d\d)(?:[T ]{words.CLOCK})?", _iso),
    _rule(r"(?P<year>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])(?![-\d])", _iso_month),
    _rule(r"(?P<d>\d{1,2})\.(?P<m>0?[1-9]|1[0-2])\.(?P<year>(?:19|20)\d\d)", _dotted),
    _rule(r"(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>(?:19|20)\d\d)", _slashed),
    _rule(
        rf"the (?P<unit>week|weekend) of (?:the )?(?:{words.DAY}(?: of)? {words.MONTH}(?:,? {words.YEAR})?)", _week_of
    ),
    _rule(rf"the (?P<unit>week|weekend) of (?:{words.MONTH} {words.DAY}(?:,? {words.YEAR})?)", _week_of),
    _rule(rf"(?P<first>\d{{1,2}}) ?[-–—] ?{words.DAY} {words.MONTH}(?:,? {words.YEAR})?", _days_of_month),
    _rule(rf"{words.MONTH} (?P<first>\d{{1,2}}) ?[-–—] ?{words.DAY}(?!\d)(?:,? {words.YEAR})?", _days_of_month),
    _rule(r"(?P<first>(?:19|20)\d\d) ?[-–—] ?(?P<last>(?:19|20)\d\d)(?![-\d])", _year_range),
    _rule(rf"(?:the )?{words.DAY}[ -](?:of )?{words.MONTH}(?:[, -]{{1,2}}{words.YEAR})?", _day_of_month),
    _rule(rf"{words.MONTH}[ -]{words.DAY}(?!\d)(?:[, -]{{1,2}}{words.YEAR})?", _day_of_month),
    _rule(rf"{words.MONTH}(?:,? |-)(?:of )?{words.YEAR}", _month_of_year),
    _rule(rf"{words.QUALIFIER} {words.WEEKDAY}", _qualified_weekday),
    _rule(r"(?P<part>tonight|last night|this (?:morning|afternoon|evening))", _part_of_today),
    _rule(r"the day (?P<side>before yesterday|after tomorrow)", _day_but_one),
    _rule(r"the (?P<unit>week|weekend|month|year) (?P<side>before last|after next)", _week_but_one),
    _rule(r"the other day", _other_day),
    _rule(
        rf"(?:in |over )?(?:the )?(?P<which>last|past|previous|next|coming)(?: {words.NUMBER})? {words.UNIT}", _trailing
    ),
    _rule(rf"(?:the )?{words.QUALIFIER} (?P<unit>weekend|week|month|year)", _qualified_unit),
    _rule(rf"{words.QUALIFIER} (?:{words.SEASON}|{words.FULL_MONTH})", _qualified_recurring),
    _rule(rf"{words.QUALIFIER} {words.HOLIDAY}", _qualified_recurring),
    _rule(rf"{words.HOLIDAY},? (?:of |in )?{words.YEAR}", _holiday_of_year),
    _rule(rf"(?:about |around )?{words.NUMBER} {words.UNIT} (?:ago|back)", _ago),
    _rule(rf"{words.NUMBER} {words.UNIT} from (?P<from>now|today)", _ahead),
    _rule(rf"in (?P<from>)?{words.NUMBER} {words.UNIT}(?:' time)?", _ahead),
    _rule(rf"within (?:the next )?{words.NUMBER} {words.UNIT}", _within),
    _rule(rf"(?:the )?{words.SEASON}(?: of|,)? {words.YEAR}", _season_of_year),
    _rule(rf"q(?P<quarter>[1-4])(?:[ ,/-]{{0,2}}{words.YEAR})?", _quarter),
    _rule(r"(?P<word>today|yesterday|tomorrow|tmrw)", _plain_day),
    _rule(words.WEEKDAY, _bare_weekday),
    _rule(r"(?:the )?(?P<decade>(?:19|20)\d0)'?s", _decade),
    _rule(r"the (?P<day>3[01]|[12]\d|[1-9])(?:st|nd|rd|th)", _day_alone),
    _rule(words.YEAR, _bare_year),
    _rule(words.FULL_MONTH, _bare_month),
)
