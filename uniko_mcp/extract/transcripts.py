"""Transcripts: a chat as people paste it, one speaker's name before each turn, read into who said what and when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TURN: Final = re.compile(
    r"""
    (?:\[?(?P<time>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?)\]?[ ,-]*)?
    (?P<speaker>[^\W\d_][\w .'’()-]{0,38}?)\s?:(?:\s+(?P<text>.*))?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """What one speaker said in one go; `time` is ISO 8601 as it was last written, None when there was none yet."""

    speaker: str
    text: str
    time: str | None


def read_transcript(text: str) -> list[SpokenTurn]:
    """The turns of a transcript such as `Ana: Is it done?` or `[2026-03-01 10:00] Ana: Is it done?`, in order.

    A line that names no speaker goes on with the turn before it; what stands before the first speaker is left out. A
    name counts as a speaker's when it begins a line, is at most 40 characters long and ends in a colon.
    """
    turns: list[SpokenTurn] = []
    for line in text.splitlines():
        if match := _TURN.fullmatch(line.strip()):
            time = match["time"] or (turns[-1].time if turns else None)
            turns.append(SpokenTurn(match["speaker"].strip(), match["text"] or "", time))
        elif turns:
            last = turns[-1]
            turns[-1] = SpokenTurn(last.speaker, f"{last.text}\n{line}", last.time)
    return [SpokenTurn(turn.speaker, turn.text.strip(), turn.time) for turn in turns if turn.text.strip()]
