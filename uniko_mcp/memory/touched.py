"""What change sets mean for the rank index: which memories may read differently after them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from uniko_mcp.memory.projection import RECALLABLE
from uniko_mcp.models.changes import DeleteEdge, DeleteNode, PutEdge, PutNode, SetNode
from uniko_mcp.models.graph_schema import NODES
from uniko_mcp.store import Commit, View
from uniko_mcp.store.index.documents import DocumentKey

_DEPENDENTS: Final = {
    "Session": (
        "(d:Message)-[:IN_SESSION]->(n:Session)",
        "(d:Observation)-[:OBSERVED_IN]->(:Message)-[:IN_SESSION]->(n:Session)",
        "(d:Chunk)<-[:HAS_CHUNK]-(:Message)-[:IN_SESSION]->(n:Session)",
        "(d:Episode)-[:IN_SESSION]->(n:Session)",
        "(d:Summary)-[:SUMMARIZES]->(n:Session)",
    ),
    "Message": (
        "(d:Observation)-[:OBSERVED_IN]->(n:Message)",
        "(d:Chunk)<-[:HAS_CHUNK]-(n:Message)",
        "(d:Chunk)<-[:HAS_CHUNK]-(:Artifact)-[:ATTACHED_TO]->(n:Message)",
        "(d:Fact)-[:SUPPORTED_BY]->(:Observation)-[:OBSERVED_IN]->(n:Message)",
        "(d:Summary)-[:DERIVED_FROM]->(n:Message)",
        "(d:Topic)<-[:BELONGS_TO]-(n:Message)",
        "(d:Topic)<-[:BELONGS_TO]-(:Observation)-[:OBSERVED_IN]->(n:Message)",
        "(d:Topic)<-[:BELONGS_TO]-(:Fact)-[:SUPPORTED_BY]->(:Observation)-[:OBSERVED_IN]->(n:Message)",
    ),
    "Artifact": ("(d:Chunk)<-[:HAS_CHUNK]-(n:Artifact)",),
}
"""Whose documents say something of the node, beside its own."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What a change set touches: much less to hold on to than its changes, in which every text stands.

    `keys` are the memories that it names, `shown` the nodes of which it changed what documents of others show, and
    `deleted` those that are gone. After a change set without changes `everything` may be different.
    """

    sequence: int
    keys: frozenset[DocumentKey]
    shown: frozenset[tuple[str, str]]
    deleted: frozenset[DocumentKey]
    everything: bool

    @classmethod
    def by(cls, commit: Commit) -> Touched:
        keys: set[DocumentKey] = set()
        shown: set[tuple[str, str]] = set()
        deleted: set[DocumentKey] = set()
        for change in commit.changes:
            match change:
                case PutEdge() | DeleteEdge():
                    keys |= {(change.from_kind, change.from_id), (change.to_kind, change.to_id)}
                case DeleteNode():
                    deleted.add((change.kind, change.id))
                case PutNode() | SetNode():
                    keys.add((change.kind, change.id))
                    if _shows_elsewhere(change):
                        shown.add((change.kind, change.id))
        return cls(
            commit.sequence,
            frozenset(key for key in keys | deleted if key[0] in RECALLABLE),
            frozenset(shown),
            frozenset(deleted),
            everything=not commit.changes,
        )


def touched_documents(view: View, touched: Iterable[Touched]) -> frozenset[DocumentKey]:
    """The memories whose documents may read differently, as far as the graph still knows."""
    keys: set[DocumentKey] = set()
    shown: dict[str, set[str]] = {}
    for each in touched:
        keys |= each.keys
        for kind, id in each.shown:
            shown.setdefault(kind, set()).add(id)
    for kind, ids in shown.items():
        keys |= _dependents(view, kind, ids)
    return frozenset(keys)


def _shows_elsewhere(change: PutNode | SetNode) -> bool:
    """Whether the change is one that documents of other nodes show: a topic, a forgotten message, an old revision."""
    shown = {"Session": "topic", "Message": "forgotten_at", "Artifact": "superseded_at"}.get(change.kind)
    if shown is None or shown not in change.properties:
        return False
    return isinstance(change, SetNode) or change.properties[shown] is not None


def _dependents(view: View, kind: str, ids: set[str]) -> set[DocumentKey]:
    keys: set[DocumentKey] = set()
    for pattern in _DEPENDENTS[kind]:
        dependent = pattern[3 : pattern.index(")")]
        rows = view.rows_for(
            f"MATCH {pattern} WHERE n.{NODES[kind].key} AMONG $ids RETURN d.{NODES[dependent].key} AS id", sorted(ids)
        )
        keys |= {(dependent, row["id"]) for row in rows}
    return keys
