"""A graph of plain dictionaries that does what change sets say: the measure for the real one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from uniko_mcp.models.changes import Change, DeleteEdge, DeleteNode, PutEdge, PutNode, SetNode
from uniko_mcp.models.graph_schema import EDGES, NODES, EdgeTable, NodeTable
from uniko_mcp.store import Draft, View

Node = tuple[str, str]
Edge = tuple[str, str, str, str, str]


@dataclass
class ReferenceGraph:
    """Nodes and edges with the properties that are set. Two graphs are equal when they hold the same."""

    nodes: dict[Node, dict[str, Any]] = field(default_factory=dict)
    edges: dict[Edge, dict[str, Any]] = field(default_factory=dict)

    def apply(self, change: Change) -> bool:
        """Make the change; False when it needs a node that does not exist."""
        match change:
            case PutNode(kind, id, properties):
                _update(self.nodes.setdefault((kind, id), {}), properties)
            case SetNode(kind, id, properties):
                if (kind, id) not in self.nodes:
                    return False
                _update(self.nodes[kind, id], properties)
            case DeleteNode(kind, id):
                self.nodes.pop((kind, id), None)
                gone = [edge for edge in self.edges if (kind, id) in (edge[1:3], edge[3:5])]
                for edge in gone:
                    del self.edges[edge]
            case PutEdge(kind, from_kind, from_id, to_kind, to_id, properties):
                if (from_kind, from_id) not in self.nodes or (to_kind, to_id) not in self.nodes:
                    return False
                _update(self.edges.setdefault((kind, from_kind, from_id, to_kind, to_id), {}), properties)
            case DeleteEdge(kind, from_kind, from_id, to_kind, to_id):
                self.edges.pop((kind, from_kind, from_id, to_kind, to_id), None)
        return True


def _update(properties: dict[str, Any], changes: Any) -> None:
    properties.update(changes)
    for name in [name for name, value in properties.items() if value is None]:
        del properties[name]


def content(view: View) -> ReferenceGraph:
    """Everything the real graph holds; a node or an edge that is there twice fails."""
    graph = ReferenceGraph()
    for row in view.rows("MATCH (n) RETURN DISTINCT label(n) AS kind"):
        if row["kind"] in NODES:
            _add_nodes(graph, view, NODES[row["kind"]])
    for row in view.rows("MATCH ()-[e]->() RETURN DISTINCT label(e) AS kind"):
        for pair in EDGES[row["kind"]].pairs:
            _add_edges(graph, view, EDGES[row["kind"]], *pair)
    return graph


def _add_nodes(graph: ReferenceGraph, view: View, table: NodeTable) -> None:
    columns = "".join(f", n.`{column}` AS `{column}`" for column in table.columns)
    for row in view.rows(f"MATCH (n:{table.kind}) RETURN n.{table.key} AS key_{columns}"):
        node = (table.kind, row.pop("key_"))
        assert node not in graph.nodes
        graph.nodes[node] = {name: value for name, value in row.items() if value is not None}


def _add_edges(graph: ReferenceGraph, view: View, table: EdgeTable, left: str, right: str) -> None:
    columns = "".join(f", e.`{column}` AS `{column}`" for column in table.columns)
    ends = f"a.{NODES[left].key} AS from_, b.{NODES[right].key} AS to_"
    for row in view.rows(f"MATCH (a:{left})-[e:{table.kind}]->(b:{right}) RETURN {ends}{columns}"):
        edge = (table.kind, left, row.pop("from_"), right, row.pop("to_"))
        assert edge not in graph.edges
        graph.edges[edge] = {name: value for name, value in row.items() if value is not None}


def perform(draft: Draft, change: Change) -> None:
    """Put a change into a draft by the draft's own methods."""
    match change:
        case PutNode(kind, id, properties):
            draft.put(kind, id, **properties)
        case SetNode(kind, id, properties):
            draft.set(kind, id, **properties)
        case DeleteNode(kind, id):
            draft.delete(kind, id)
        case PutEdge(kind, from_kind, from_id, to_kind, to_id, properties):
            draft.link(kind, (from_kind, from_id), (to_kind, to_id), **properties)
        case DeleteEdge(kind, from_kind, from_id, to_kind, to_id):
            draft.unlink(kind, (from_kind, from_id), (to_kind, to_id))
