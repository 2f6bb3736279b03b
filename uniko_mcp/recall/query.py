"""What recall is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from uniko_mcp.errors import InvalidArgumentsError

DEFAULT_LIMIT: Final = 10
DEFAULT_TOKEN_BUDGET: Final = 4_000
LONGEST_QUERY: Final = 4_000
"""Characters of a query that are read; what follows a few hundred words changes no ranking."""


@dataclass(frozen=True, slots=True)
class Window:
    """The half-open interval [start, end) in microseconds UTC that a phrase of the query names.

    `relative` phrases ("last week") point at the reference time, absolute ones ("May 2023") at the calendar.
    """

    start: int
    end: int
    relative: bool


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question, what may be searched, and how much may come back. Times are microseconds UTC.

    `viewer` is the agent that asks: what others keep private is not searched. Empty `kinds`, `session_ids` and
    `participants` (names or ids) mean all. `since` and `until` bound when a memory was said. `reference_time` is the
    moment that "last week" counts from, None for now.
    """

    query: str
    viewer: str = ""
    limit: int = DEFAULT_LIMIT
    token_budget: int = DEFAULT_TOKEN_BUDGET
    kinds: tuple[str, ...] = ()
    session_ids: tuple[str, ...] | None = None
    participants: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    reference_time: int | None = None
    include_superseded: bool = False
    explain: bool = False

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise InvalidArgumentsError("query is blank", next_step="Say in words what to look for")
        if self.limit < 1:
            raise InvalidArgumentsError(f"limit is {self.limit}", next_step="Use 1 or more")
        if self.token_budget < 1:
            raise InvalidArgumentsError(f"token_budget is {self.token_budget}", next_step="Use 1 or more")
