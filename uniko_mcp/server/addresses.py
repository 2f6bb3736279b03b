"""Addresses: the URIs under which memories can be read, and which of them a change touches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from mcp.shared.uri_template import UriTemplate

from uniko_mcp.models.changes import Change, ChangeSet, DeleteEdge, PutEdge
from uniko_mcp.models.names import entity_id

Place: TypeAlias = Literal["status", "short-term", "long-term", "goals", "goal", "session", "entity", "fact"]

SINGLE: Final[tuple[Place, ...]] = ("status", "short-term", "long-term")
"""Places that hold one thing."""

TEMPLATES: Final[dict[Place, UriTemplate]] = {
    "goals": UriTemplate.parse("memory://goals/{phase}"),
    "goal": UriTemplate.parse("memory://goal/{goal_id}"),
    "session": UriTemplate.parse("memory://session/{session_id}"),
    "entity": UriTemplate.parse("memory://entity/{name}"),
    "fact": UriTemplate.parse("memory://fact/{fact_id}"),
}

_PLACE_OF_KIND: Final[dict[str, Place]] = {"Goal": "goal", "Session": "session", "Entity": "entity", "Fact": "fact"}
_IN_A_GOALS_CONTEXT: Final = frozenset({"Task", "Session", "Message", "Fact", "Entity"})


@dataclass(frozen=True, slots=True)
class Address:
    """Where a memory can be read: a kind of place, and which one there; "" for all there, or where there is but one.

    Values are percent-encoded in URIs. `memory://entity/{name}` finds the same entity however its name is written.
    """

    place: Place
    value: str = ""

    @property
    def uri(self) -> str:
        """Its URI."""
        if self.place in SINGLE:
            return f"memory://{self.place}"
        template = TEMPLATES[self.place]
        return template.expand({template.variable_names[0]: self.value})

    @property
    def key(self) -> Address:
        """The address by node id, as changes name it."""
        return Address(self.place, entity_id(self.value)) if self.place == "entity" else self


def parse(uri: str) -> Address | None:
    """The address that a URI names; None when it is none of ours."""
    uri = uri.rstrip("/")
    for place in SINGLE:
        if uri == Address(place).uri:
            return Address(place)
    for place, template in TEMPLATES.items():
        if (match := template.match(uri)) is not None:
            (value,) = match.values()
            return Address(place, value) if isinstance(value, str) and value else None
    return None


def touched_by(changes: ChangeSet) -> frozenset[Address]:
    """The addresses, by node id, at which something else may be read after these changes.

    The context of a goal gathers what hangs together over several edges, so any change of its kind may touch any goal.
    """
    touched = {Address("status")}
    for change in changes:
        for kind, id in _ends(change):
            if place := _PLACE_OF_KIND.get(kind):
                touched.add(Address(place, id))
            if kind in _IN_A_GOALS_CONTEXT:
                touched.add(Address("goal"))
            if kind == "Goal":
                touched.add(Address("goals"))
    return frozenset(touched)


def _ends(change: Change) -> Iterator[tuple[str, str]]:
    if isinstance(change, PutEdge | DeleteEdge):
        yield change.from_kind, change.from_id
        yield change.to_kind, change.to_id
    else:
        yield change.kind, change.id


def is_touched(address: Address, touched: frozenset[Address]) -> bool:
    """Whether what is read at `address` may have changed."""
    return Address(address.place) in touched or address.key in touched
