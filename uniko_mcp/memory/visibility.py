"""Who may see what: private knowledge belongs to the agent that recorded it, and is not there for others."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

Visibility: TypeAlias = Literal["shared", "private"]

DEFAULT: Final[Visibility] = "shared"


def visible(node: str) -> str:
    """The Cypher condition under which the agent `$viewer` sees a node that may have a visibility."""
    return f"({shared(node)} OR {node}.recorded_by = $viewer)"


def shared(node: str) -> str:
    """The Cypher condition under which every agent sees a node that may have a visibility."""
    return f"({node}.visibility IS NULL OR {node}.visibility <> 'private')"


def is_visible(properties: dict[str, Any], viewer: str) -> bool:
    """Whether `viewer` sees the node; kinds without a visibility are seen by all."""
    return properties.get("visibility") != "private" or properties.get("recorded_by") == viewer
