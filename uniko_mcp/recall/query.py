"""What recall is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from uniko_mcp.errors import InvalidArgumentsError
from uniko_mcp.models import time

DEFAULT_LIMIT: Final = 10
DEFAULT_TOKEN_BUDGET: Final = 4_000
LONGEST_QUERY: Final = 4_000
"""Characters of a query that are read; what follows a few hundred words changes no ranking."""


@dataclass(frozen=True, slots=True)
class Window:
    """The half-open interval [start, end) in microseconds UTC that a phrase of the query names.

    A `relative` phrase ("last week") points at the reference time, an absolute one ("May 2023") at the calendar.
    """

    start: int
    end: int
    relative: bool
    phrase: str = ""


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question, what may be searched, and how much may come back. Times are microseconds UTC.

    `viewer` is the agent that asks: what others keep private is not searched. Empty `kinds` and `participants` (names
    or ids, in any case) mean all, and so does None for `session_ids`. `since` and `until` bound when a memory was said,
    or when a fact begins to hold. `reference_time` is the moment that the question is asked at, if not `now`: "last
    week" counts from it, and facts must be true then. What was first said or recorded at `known_until` or later is as
    if it were not there.
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
    known_until: int | None = None
    now: int = field(default_factory=time.now)
    include_superseded: bool = False
    explain: bool = False

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise InvalidArgumentsError("query is blank", next_step="Say in words what to look for")
        if self.limit < 1:
            raise InvalidArgumentsError(f"limit is {self.limit}", next_step="Use 1 or more")
        if self.token_budget < 1:
            raise InvalidArgumentsError(f"token_budget is {self.token_budget}", next_step="Use 1 or more")

    @property
    def moment(self) -> int:
        """The instant that the question is asked at, or as if."""
        return self.now if self.reference_time is None else self.reference_time

    @property
    def filters_origins(self) -> bool:
        """Whether it matters who said something, in which session, or when."""
        return (
            self.session_ids is not None or bool(self.participants) or self.since is not None or self.until is not None
        )
