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

_NAMED: Final = "name"
"""The type of what is only known to have a name."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An edge of kind `edge` from the node `start` to the entity that `name` names."""

    edge: str
    start: tuple[str, str]
    name: str
    entity_type: str | None = None


def link_entities(draft: Draft, mentions: Iterable[Mention]) -> list[str]:
    """Link each node to the entity it mentions, making those that are new; the entities' ids, each once.

    Blank names name no entity and are passed over. A node that mentions an entity twice is linked once. The first
    mention that tells what an entity is, and not only that it has a name, decides its type.
    """
    links: dict[tuple[str, tuple[str, str], str], None] = {}
    names: dict[str, str] = {}
    types: dict[str, str] = {}
    for mention in mentions:
        if normalise(mention.name):
            id = entity_id(mention.name)
            links[mention.edge, mention.start, id] = None
            names.setdefault(id, " ".join(mention.name.split()))
            if mention.entity_type is not None and types.get(id, _NAMED) == _NAMED:
                types[id] = mention.entity_type
    stored = draft.nodes("Entity", types)
    known = stored.keys() | draft.existing("Entity", names.keys() - types.keys())
    for id, name in names.items():
        if id not in known:
            draft.put("Entity", id, name=name, entity_type=types.get(id))
        elif id in stored and stored[id]["entity_type"] in (None, _NAMED) and stored[id]["entity_type"] != types[id]:
            draft.set("Entity", id, entity_type=types[id])
    for edge, start, id in links:
        draft.link(edge, start, ("Entity", id))
    return list(names)


def count_mentions(view: View, id: str, viewer: str) -> int:
    """How many memories that the viewer sees name the entity. Without any, it is not there for the viewer."""
    row = view.row(f"{ENTITY_SEEN} AND n.entity_id = $id RETURN count(*) AS mentions", id=id, viewer=viewer)
    return row["mentions"] if row else 0
