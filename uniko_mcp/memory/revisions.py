"""Which of two revisions of a source is the older one: as dates, numbers and versions tell it, and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from uniko_mcp.models.time import Span, parse_span

_VERSION: Final = re.compile(
    r"(?:v|r|rev|revision|version)?[ .]?(?P<numbers>\d+(?:[.-]\d+)*)"
    r"(?:[.-]?(?P<before>alpha|beta|rc|preview|pre|dev)[.-]?(?P<count>\d*))?(?:\+[0-9a-z.-]+)?",
    re.IGNORECASE,
)
_STAGES: Final = ("dev", "alpha", "beta", "pre", "preview", "rc")
"""What comes before a release, in this order."""


@dataclass(frozen=True, slots=True, order=True)
class _Version:
    """Numbers, the first of them the weightiest, and how near to the release of that number it is."""

    numbers: tuple[int, ...]
    stage: int
    count: int


def is_older(revision: str | None, other: str | None) -> bool:
    """Whether a revision came before another: of two dates, or of two numbers or versions ("2", "v1.10", "2.0-rc1").

    False where that cannot be told, as of names and commits: then what comes later is the newer.
    """
    if revision is None or other is None:
        return False
    dates = _date(revision), _date(other)
    if dates[0] is not None and dates[1] is not None:
        return dates[0].end <= dates[1].start
    versions = _version(revision), _version(other)
    return versions[0] is not None and versions[1] is not None and versions[0] < versions[1]


def _date(revision: str) -> Span | None:
    try:
        return parse_span(revision)
    except ValueError:
        return None


def _version(revision: str) -> _Version | None:
    revision = revision.strip()
    match = _VERSION.fullmatch(revision)
    if match is None or (_date(revision) and not revision.isdecimal()):
        return None
    numbers = [int(number) for number in re.split("[.-]", match["numbers"])]
    while numbers[1:] and numbers[-1] == 0:  # 1.0 is 1
        numbers.pop()
    stage = _STAGES.index(match["before"].lower()) if match["before"] else len(_STAGES)
    return _Version(tuple(numbers), stage, int(match["count"] or 0))
