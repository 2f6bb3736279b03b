"""The two times of a fact: the interval in which it holds, and what was known of that at each moment.

A change keeps the version that it replaces, with the moment until which that one was believed. Only the count of
assertions has no history: it is always today's.
"""

from __future__ import annotations

from typing import Any, Final

from uniko_mcp.models import json_text
from uniko_mcp.store import Draft

_VERSIONED: Final = ("valid_from", "valid_to", "confidence", "retracted_at", "retraction_reason")


def holds(node: str) -> str:
    """The Cypher condition under which a fact holds at some moment of [$since, $until); `holds_in` for a query."""
    ends_later = f"({node}.valid_to > $since AND {node}.valid_to > {node}.valid_from)"
    return f"{node}.valid_from < $until AND ({node}.valid_to IS NULL OR {ends_later})"


def holds_in(fact: dict[str, Any], since: int, until: int) -> bool:
    """Whether the fact holds at some moment of [since, until). One that was never true holds at none."""
    return fact["valid_from"] < until and ends_after(fact, since)


def ends_after(fact: dict[str, Any], moment: int) -> bool:
    """Whether the fact ends later than `moment`, or not at all. One that was never true has no end to come."""
    return fact["valid_to"] is None or fact["valid_to"] > max(moment, fact["valid_from"])


def revise(draft: Draft, fact: dict[str, Any], now: int, /, **changes: Any) -> dict[str, Any]:
    """Change the fact, keeping the version that was believed until now; the fact as it then is."""
    replaced = {column: fact[column] for column in _VERSIONED}
    if any(changes.get(column, value) != value for column, value in replaced.items()):
        versions = [*_earlier_versions(fact), {"until": now, **replaced}]
        changes |= {"revised_at": now, "history": json_text.dump(versions)}
    draft.set("Fact", fact["fact_id"], **changes)
    return {**fact, **changes}


def as_known(fact: dict[str, Any], moment: int) -> dict[str, Any]:
    """The fact as it was believed at `moment`, which is not before it was recorded."""
    version = next((version for version in _earlier_versions(fact) if moment < version["until"]), fact)
    return fact | {column: version[column] for column in _VERSIONED}


def _earlier_versions(fact: dict[str, Any]) -> list[dict[str, Any]]:
    """The oldest first."""
    return json_text.load(fact["history"]) or []
