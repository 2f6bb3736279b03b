"""Completion: the ids and names that begin as a person has typed so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from uniko_mcp.memory.entities import ENTITY_SEEN
from uniko_mcp.memory.visibility import visible
from uniko_mcp.store import View

Completable: TypeAlias = Literal["Goal", "Session", "Entity", "Fact"]


@dataclass(frozen=True, slots=True)
class _Source:
    """What is searched, as a pattern that binds `n` and its condition; the column that is completed and others that are
    searched beside it; and the rank by which what is likeliest comes first."""

    match: str
    columns: tuple[str, ...]
    rank: str
    private: bool = False


_SOURCES: Final[dict[Completable, _Source]] = {
    "Goal": _Source("MATCH (n:Goal) WHERE true", ("goal_id", "title"), "n.updated_at"),
    "Session": _Source("MATCH (n:Session) WHERE true", ("session_id", "topic"), "n.started_at"),
    "Entity": _Source(ENTITY_SEEN, ("name",), "count(*)", private=True),
    "Fact": _Source(f"MATCH (n:Fact) WHERE {visible('n')}", ("fact_id", "subject"), "n.recorded_at", private=True),
}


def complete(view: View, kind: Completable, typed: str, *, viewer: str, limit: int) -> tuple[list[str], int]:
    """At most `limit` values of `kind` that begin with `typed`, or whose title does, and how many there are in all.

    Letter case does not matter. What `viewer` may not see is not there.
    """
    source = _SOURCES[kind]
    value = f"n.{source.columns[0]}"
    begins = " OR ".join(f"starts_with(lower(n.{column}), $typed)" for column in source.columns)
    match = f"{source.match} AND ({begins})"
    parameters = {"typed": typed.lower(), **({"viewer": viewer} if source.private else {})}
    total = view.row(f"{match} RETURN count(DISTINCT {value}) AS total", **parameters)
    rows = view.rows(
        f"{match} RETURN {value} AS value, {source.rank} AS rank ORDER BY rank DESC, value LIMIT $most",
        most=limit,
        **parameters,
    )
    return [row["value"] for row in rows], total["total"] if total else 0
