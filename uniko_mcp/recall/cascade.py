"""The cascade: knowledge first, then what was said and done, then documents; later phases only add what is better.

Everything is ranked at once, so a gate never hides better evidence: when the knowledge of a phase covers the question,
what a later phase holds is returned where it outranks the weakest of it, and the rest is left out as padding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from uniko_mcp.recall.selection import Candidate, Selection, covered, select

_PHASES: Final[Mapping[str, int]] = {
    "Fact": 1,
    "Procedure": 1,
    "Topic": 1,
    "Summary": 1,
    "Episode": 2,
    "Observation": 2,
    "Message": 2,
    "Action": 2,
    "Goal": 2,
    "Task": 2,
}
LAST_PHASE: Final = 3
GATES: Final[Mapping[int, float]] = {1: 0.75, 2: 0.65}
"""The coverage from which a phase suffices."""
LEAST_ITEMS: Final = 3
"""A phase with fewer items never suffices."""


def phase_of(kind: str) -> int:
    """The phase that memories of a kind belong to; chunks and artifacts are the last."""
    return _PHASES.get(kind, LAST_PHASE)


def run_cascade(
    ranked: Sequence[Candidate], rarity: Mapping[str, float], *, limit: int, token_budget: int
) -> tuple[Selection, int]:
    """What to return, and the phase that sufficed. `rarity` is the weight of each word of the query."""
    for phase, gate in GATES.items():
        early = [candidate for candidate in ranked if phase_of(candidate.document.kind) <= phase]
        found = select(early, limit=limit, token_budget=token_budget)
        if len(found.chosen) >= LEAST_ITEMS and covered(found.chosen, rarity) >= gate:
            weakest = min(candidate.score for candidate in found.chosen)
            is_padding = partial(_is_padding, phase=phase, weakest=weakest)
            return select(ranked, limit=limit, token_budget=token_budget, is_padding=is_padding), phase
    return select(ranked, limit=limit, token_budget=token_budget), LAST_PHASE


def _is_padding(candidate: Candidate, *, phase: int, weakest: float) -> bool:
    return phase_of(candidate.document.kind) > phase and candidate.score <= weakest
