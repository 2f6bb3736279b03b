"""What recall answers: ranked evidence with its sources, and how far the search reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from uniko_mcp.store.index.documents import Source


@dataclass(frozen=True, slots=True)
class RecallItem:
    """One piece of evidence, whole. `score` in (0, 1) orders the items of one result.

    `timestamp` is when it was said or recorded; of a fact, since when it holds. `derived` tells what was concluded
    (observations, facts, summaries) from what was said or read. `explanation` is what each feature of the ranking, and
    the cross-encoder if there is one, contributed, when asked for.
    """

    kind: str
    id: str
    text: str
    score: float
    timestamp: int
    derived: bool
    sender: str
    session_id: str
    sources: tuple[Source, ...]
    explanation: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class RecallBundle:
    """The answer to a query.

    `coverage` in [0, 1] is the share of the query's rare words that the items hold between them, `phase` the step
    of the cascade at which it sufficed (3: all was searched). `tokens` is the size of the items' texts,
    `total_considered` the number of memories that passed the filters. `truncated` says that more matched than fit.
    `notes` says in words what limited the search.
    """

    items: tuple[RecallItem, ...]
    coverage: float
    phase: int
    tokens: int
    total_considered: int
    truncated: bool
    notes: tuple[str, ...] = field(default=())
