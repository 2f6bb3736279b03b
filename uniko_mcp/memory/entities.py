"""Entities: the things, people, places and ideas that memories are about, one for each name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from uniko_mcp.memory.visibility import visible
from uniko_mcp.models.names import entity_id, normalise
from uniko_mcp.store import Draft, View

ENTITY_SEEN: Final = f"MATCH (n:Entity)<-[:MENTIONS|ABOUT]-(m) WHERE {visible('m')}"
"""The entities that the agent `$viewer` sees: those that a memory names which it sees, once for each such memory.

An entity belongs to nobody, so what only private memories name would tell what they are about.
"""


@dataclass(frozen=True, slots=True)
class Mention:
    """An edge of kind `edge` from the node `start` to the entity that `name` names."""

    edge: str
    start: tuple[str, str]
    name: str
    entity_type: str | None = None


def link_entities(draft: Draft, mentions: Iterable[Mention]) -> list[str]:
    """Link each node to the entity it mentions, making those that are new; the entities' ids, each once.

    Blank names name no entity and are passed over. A node that mentions an entity twice is linked once.
    """
    links: dict[tuple[str, tuple[str, str], str], None] = {}
    first: dict[str, Mention] = {}
    for mention in mentions:
        if normalise(mention.name):
            id = entity_id(mention.name)
            links[mention.edge, mention.start, id] = None
            first.setdefault(id, mention)
    known = draft.existing("Entity", first)
    for id, mention in first.items():
        if id not in known:
            draft.put("Entity", id, name=" ".join(mention.name.split()), entity_type=mention.entity_type)
    for edge, start, id in links:
        draft.link(edge, start, ("Entity", id))
    return list(first)


def count_mentions(view: View, id: str, viewer: str) -> int:
    """How many memories that the viewer sees name the entity. Without any, it is not there for the viewer."""
    row = view.row(f"{ENTITY_SEEN} AND n.entity_id = $id RETURN count(*) AS mentions", id=id, viewer=viewer)
    return row["mentions"] if row else 0
