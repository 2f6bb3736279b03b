"""Transcripts: a chat as people paste or export it, read into who said what and when."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from uniko_mcp.errors import InvalidArgumentsError
from uniko_mcp.extract.stamps import STAMP, Stamp, day_comes_first, resolve, stamp_of
from uniko_mcp.models.names import digest

_FLAGS: Final = re.VERBOSE | re.IGNORECASE
_NAME: Final = r"[^\W\d_][\w .'’()-]{0,38}?"
_ANY_NAME: Final = r"[^\s:\[(\"“][^:\"“”]{0,58}?"
_TEXT: Final = r"\s?:\**(?:\s+(?P<text>.*))?"
_SIMPLE: Final = re.compile(rf"\**(?P<speaker>{_NAME})\**{_TEXT}", _FLAGS)
_BEHIND: Final = re.compile(rf"\**(?P<speaker>{_NAME})\**\s*[\[(](?:{STAMP})[\])]\**{_TEXT}", _FLAGS)
_BEFORE: Final = re.compile(
    rf"(?P<open>[\[(])?(?:{STAMP})[\])]?(?P<dash>[\s,–—-]*)(?!\d)\**(?P<speaker>{_ANY_NAME})\**{_TEXT}",
    _FLAGS,
)
_NOTICE: Final = re.compile(rf"(?P<open>[\[(])?(?:{STAMP})(?:[\])]|\s[–—-](?=\s))(?P<text>.*)", _FLAGS)
_LOOKS_DATED: Final = re.compile(
    r"""[\[(]?
    (?:[^\W\d_]{2,9}\.?,?\s)?
    (?:\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{1,4}
       |\d{1,2}(?:\.|st|nd|rd|th)?\s(?:of\s)?[^\W\d_]{3,9}\.?|[^\W\d_]{3,9}\.?\s\d{1,2}(?:st|nd|rd|th)?)
    \b.{0,14}?\d{1,2}[:.h]\d{2}.{0,12}?(?:[\])]|\s[–—-]\s)\s*-?\s*[^\s:][^:]{0,58}:(?:\s.*)?""",
    _FLAGS,
)
_MARKS: Final = "\ufeff\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069"
"""Invisible marks of writing direction, which exports put around names and times."""


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """What one speaker said in one go; `time` is ISO 8601 as it was last written, None when there was none yet.

    `occurrence` counts the turns before it with the same speaker and text.
    """

    speaker: str
    text: str
    time: str | None
    occurrence: int = 0

    @property
    def digest(self) -> str:
        """What tells this turn from the others of its transcript, and is the same when the transcript grew."""
        return digest(self.speaker, self.text, self.occurrence)[:12]


@dataclass(frozen=True, slots=True)
class Transcript:
    """The turns of a chat in order, and how much of it is not in them.

    `unspoken` counts the lines before the first speaker and the notices of a chat program, which belong to nobody;
    `dayless` the turns with a clock time of which no day is known.
    """

    turns: tuple[SpokenTurn, ...]
    unspoken: int = 0
    dayless: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a transcript: a turn when it has a speaker, a notice when it has only a stamp, else a continuation."""

    number: int
    text: str
    speaker: str = ""
    stamp: Stamp | None = None


def read_transcript(text: str) -> Transcript:
    """Read a chat whose turns begin with `Ana:`, perhaps in bold and with a time: `[2026-03-01 10:00] Ana: Hi`.

    Also read are `10/05/26, 09:15 - Ana: Hi` and `[10.05.26, 09:15:00] Ana: Hi` as phones export them, with AM or PM
    or without, and `Ana (09:15): Hi`. A line that names no speaker goes on with the turn before it; in an export, so
    does every line without a date. A plain name is at most 40 characters long. Raises InvalidArgumentsError when a line
    looks like a turn with a date that cannot be read, since what was said there would be lost.
    """
    written = text.splitlines()
    lines = [_read(number, line) for number, line in enumerate(written, 1)]
    stamps = [line.stamp for line in lines if line.stamp]
    exported = any(stamp.exported for stamp in stamps)
    settled = [_settled(line, as_written, exported) for line, as_written in zip(lines, written, strict=True)]
    return _spoken(settled, day_first=day_comes_first(stamps))


def _read(number: int, written: str) -> _Line:
    line = written.strip().lstrip(_MARKS)
    for pattern in (_BEFORE, _BEHIND):
        if (match := pattern.fullmatch(line)) and _is_turn(match):
            speaker = match["speaker"].strip(_MARKS + " ~\u202f")
            return _Line(number, match["text"] or "", speaker, stamp_of(match))
    if match := _NOTICE.fullmatch(line):
        stamp = stamp_of(match)
        if stamp.parts and stamp.clock:
            return _Line(number, written, stamp=stamp)
    if _LOOKS_DATED.fullmatch(line):
        raise _unreadable(number)
    if match := _SIMPLE.fullmatch(line):
        return _Line(number, match["text"] or "", match["speaker"].strip())
    return _Line(number, written)


def _is_turn(match: re.Match[str]) -> bool:
    """Whether a stamp and a name make a turn: a lone number does not, and an unusual name needs a date and a time."""
    marks = match.groupdict()
    stamp = stamp_of(match)
    enclosed = "open" not in marks or bool(marks["open"]) or "-" in (marks["dash"] or "")
    if stamp.exported and not (stamp.clock or enclosed):
        return False
    return bool(stamp.parts and stamp.clock) or re.fullmatch(_NAME, match["speaker"], _FLAGS) is not None


def _settled(line: _Line, written: str, exported: bool) -> _Line:
    """The line as what it is in its transcript: in an export, only what has a date is more than a continuation."""
    dated = line.stamp is not None and bool(line.stamp.parts)
    if (exported and not dated) or (not exported and not line.speaker):
        return _Line(line.number, written)
    return line


def _spoken(lines: Sequence[_Line], *, day_first: bool) -> Transcript:
    turns: list[SpokenTurn] = []
    unspoken = dayless = 0
    for line in lines:
        if not line.speaker:
            if line.stamp is not None or not turns:
                unspoken += bool(line.text.strip())
            else:
                turns[-1] = replace(turns[-1], text=f"{turns[-1].text}\n{line.text}")
            continue
        before = turns[-1].time if turns else None
        time = _time(line.stamp, line.number, day_first, before) if line.stamp else before
        dayless += line.stamp is not None and time is None
        turns.append(SpokenTurn(line.speaker, line.text, time))
    return Transcript(_counted(turns), unspoken, dayless)


def _time(stamp: Stamp, number: int, day_first: bool, before: str | None) -> str | None:
    try:
        return resolve(stamp, day_first=day_first, before=before)
    except ValueError as error:
        raise _unreadable(number) from error


def _counted(turns: Sequence[SpokenTurn]) -> tuple[SpokenTurn, ...]:
    """The turns that say something, each with how often the same was said by the same before."""
    seen: Counter[tuple[str, str]] = Counter()
    said: list[SpokenTurn] = []
    for turn in turns:
        if text := turn.text.strip():
            said.append(replace(turn, text=text, occurrence=seen[turn.speaker, text]))
            seen[turn.speaker, text] += 1
    return tuple(said)


def _unreadable(number: int) -> InvalidArgumentsError:
    return InvalidArgumentsError(
        f"line {number} of the transcript looks like a turn with a date or time that cannot be read",
        next_step="Write it as in `[2026-05-10 09:15] Ana: Hello`; `uniko-mcp record --help` names the other forms",
    )
