"""The change set: the ordered list of graph changes that one write makes, with ids and times already decided.

Applying a change set twice gives the same graph as applying it once, so replay after a crash and retries are safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Scalar: TypeAlias = str | int | float | bool | None
Properties: TypeAlias = Mapping[str, Scalar]

EMPTY: Final[Properties] = {}


@dataclass(frozen=True, slots=True)
class PutNode:
    """Create the node, or set these properties on it when it is there. Properties not named keep their value."""

    kind: str
    id: str
    properties: Properties


@dataclass(frozen=True, slots=True)
class SetNode:
    """Set properties of a node that exists; nothing happens when it does not."""

    kind: str
    id: str
    properties: Properties


@dataclass(frozen=True, slots=True)
class DeleteNode:
    """Delete the node and every edge at it; nothing happens when it does not exist."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class PutEdge:
    """Create the edge between two nodes that exist, or set these properties on it. At most one per kind and pair."""

    kind: str
    from_kind: str
    from_id: str
    to_kind: str
    to_id: str
    properties: Properties = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class DeleteEdge:
    """Delete the edge; nothing happens when it does not exist."""

    kind: str
    from_kind: str
    from_id: str
    to_kind: str
    to_id: str


Change: TypeAlias = PutNode | SetNode | DeleteNode | PutEdge | DeleteEdge


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """All changes of one write. Atomic: the graph holds all of them or none."""

    changes: tuple[Change, ...]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def to_json(self) -> list[list[Any]]:
        """One short list per change: `[code, field, ...]`, the form the journal keeps."""
        return [[_CODES[type(change)], *(_values(change))] for change in self.changes]

    @classmethod
    def from_json(cls, rows: list[list[Any]]) -> ChangeSet:
        """The change set that `to_json` wrote.

        Raises:
            KeyError, TypeError: A row is not one of the five changes.
        """
        return cls(tuple(_TYPES[code](*values) for code, *values in rows))


def _values(change: Change) -> list[Any]:
    values = [getattr(change, name) for name in change.__slots__]
    return [dict(value) if isinstance(value, Mapping) else value for value in values]  # pyright: ignore[reportUnknownArgumentType]


_CODES: Final[dict[type[Change], str]] = {
    PutNode: "n",
    SetNode: "s",
    DeleteNode: "dn",
    PutEdge: "e",
    DeleteEdge: "de",
}
_TYPES: Final[dict[str, type[Change]]] = {code: kind for kind, code in _CODES.items()}
