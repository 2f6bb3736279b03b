"""Transcripts: a chat as people paste it, one speaker's name before each turn, read into who said what and when."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from uniko_mcp.models.names import digest

_TURN: Final = re.compile(
    r"""
    (?:[\[(]?
       (?P<time>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?|\d{1,2}:\d{2})
    [\])]?[ ,-]*)?
    \**(?P<speaker>[^\W\d_][\w .'’()-]{0,38}?)\**\s?:\**(?:\s+(?P<text>.*))?
    """,
    re.VERBOSE,
)
_CLOCK_ALONE: Final = 5
"""Characters of a time without its day, such as 10:00, which says when only to those who were there."""


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


def lines_before_first_turn(transcript: str) -> int:
    """How many lines that say something stand before the first speaker, and so belong to nobody."""
    before = itertools.takewhile(lambda line: not _TURN.fullmatch(line.strip()), transcript.splitlines())
    return sum(1 for line in before if line.strip())


def read_transcript(transcript: str) -> list[SpokenTurn]:
    """The turns of a transcript such as `Ana: Is it done?` or `[2026-03-01 10:00] Ana: Is it done?`, in order.

    A line that names no speaker goes on with the turn before it; what stands before the first speaker is left out. A
    name counts as a speaker's when it begins a line, perhaps in bold and behind a time, is at most 40 characters long
    and ends in a colon.
    """
    turns: list[SpokenTurn] = []
    for line in transcript.splitlines():
        if match := _TURN.fullmatch(line.strip()):
            dated = match["time"] if len(match["time"] or "") > _CLOCK_ALONE else None
            time = dated or (turns[-1].time if turns else None)
            turns.append(SpokenTurn(match["speaker"].strip(), match["text"] or "", time))
        elif turns:
            last = turns[-1]
            turns[-1] = SpokenTurn(last.speaker, f"{last.text}\n{line}", last.time)
    seen: Counter[tuple[str, str]] = Counter()
    said: list[SpokenTurn] = []
    for turn in turns:
        if text := turn.text.strip():
            said.append(SpokenTurn(turn.speaker, text, turn.time, seen[turn.speaker, text]))
            seen[turn.speaker, text] += 1
    return said
