"""Entities: the things, people, places and ideas that memories are about, one for each name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from uniko_mcp.models.names import entity_id, normalise
from uniko_mcp.store import Draft


@dataclass(frozen=True, slots=True)
class Mention:
    """An edge of kind `edge` from the node `start` to the entity that `name` names."""

    edge: str
    start: tuple[str, str]
    name: str
    entity_type: str | None = None


def link_entities(draft: Draft, mentions: Iterable[Mention]) -> list[str]:
    """Link each node to the entity it mentions, making those that are new; the entities' ids, each once.

    Blank names name no entity and are passed over. A node that mentions an entity twice is linked and counted once.
    """
    links: dict[tuple[str, tuple[str, str], str], Mention] = {}
    first: dict[str, Mention] = {}
    for mention in mentions:
        if normalise(mention.name):
            id = entity_id(mention.name)
            links.setdefault((mention.edge, mention.start, id), mention)
            first.setdefault(id, mention)
    counts = Counter(id for _, _, id in links)
    known = draft.nodes("Entity", counts)
    for id, count in counts.items():
        if id in known:
            draft.set("Entity", id, mention_count=(known[id]["mention_count"] or 0) + count)
        else:
            name = " ".join(first[id].name.split())
            draft.put("Entity", id, name=name, entity_type=first[id].entity_type, mention_count=count)
    for edge, start, id in links:
        draft.link(edge, start, ("Entity", id))
    return list(counts)
