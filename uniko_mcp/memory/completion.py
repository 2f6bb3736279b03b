"""Completion: the ids and names that begin as a person has typed so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from uniko_mcp.memory.visibility import visible
from uniko_mcp.store import View

Completable: TypeAlias = Literal["Goal", "Session", "Entity", "Fact"]


@dataclass(frozen=True, slots=True)
class _Source:
    """The column that is completed, one that is searched beside it, and the order: what is likeliest comes first."""

    column: str
    also: str | None
    order: str
    condition: str = "true"


_SOURCES: Final[dict[Completable, _Source]] = {
    "Goal": _Source("goal_id", "title", "n.updated_at DESC, n.goal_id"),
    "Session": _Source("session_id", "topic", "n.started_at DESC, n.session_id"),
    "Entity": _Source("name", None, "n.mention_count DESC, n.name"),
    "Fact": _Source("fact_id", "subject", "n.recorded_at DESC, n.fact_id", visible("n")),
}


def complete(view: View, kind: Completable, typed: str, *, viewer: str, limit: int) -> tuple[list[str], int]:
    """At most `limit` values of `kind` that begin with `typed`, or whose title does, and how many there are in all.

    Letter case does not matter. Facts that `viewer` may not see are not there.
    """
    source = _SOURCES[kind]
    columns = [source.column, *([source.also] if source.also else [])]
    begins = " OR ".join(f"starts_with(lower(n.{column}), $typed)" for column in columns)
    match = f"MATCH (n:{kind}) WHERE ({begins}) AND {source.condition}"
    parameters = {"typed": typed.lower(), **({"viewer": viewer} if kind == "Fact" else {})}
    total = view.row(f"{match} RETURN count(n) AS total", **parameters)
    rows = view.rows(f"{match} RETURN n.{source.column} AS value ORDER BY {source.order} LIMIT {limit}", **parameters)
    return [row["value"] for row in rows], total["total"] if total else 0
