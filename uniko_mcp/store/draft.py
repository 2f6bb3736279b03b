"""A write being planned: reads see the graph, changes are checked and collected."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from uniko_mcp.errors import StoreError
from uniko_mcp.models.changes import Change, ChangeSet, DeleteEdge, DeleteNode, PutEdge, PutNode, Scalar, SetNode
from uniko_mcp.models.graph_schema import NodeTable
from uniko_mcp.store.validation import checked_edge, checked_id, checked_node
from uniko_mcp.store.view import Query, Row, View

NodeRef: TypeAlias = tuple[str, str]
"""(kind, id)"""

_REMEMBERED: Final = 100_000


class KnownNodes:
    """Nodes that are surely in the graph, so that a link to one needs no query.

    Exact, since there is one writer: it forgets what a change set deletes, and everything when a commit fails.
    """

    def __init__(self) -> None:
        self._nodes: set[NodeRef] = set()

    def __contains__(self, node: NodeRef) -> bool:
        return node in self._nodes

    def learn(self, draft: Draft) -> None:
        """Take over what an accepted draft found, put and deleted."""
        if len(self._nodes) > _REMEMBERED:
            self._nodes.clear()
        self._nodes |= draft.present
        self._nodes -= draft.absent

    def forget(self) -> None:
        self._nodes.clear()


class Draft(View):
    """The plan of one change set.

    Queries see all earlier writes but not this draft's own changes; `node`, `nodes`, `existing` and the checks on links
    see both. Every change is checked when it is made, so that what is journaled can always be applied.

    Raises (every change):
        ValueError: It does not fit the schema.
        StoreError: A link's end does not exist.
    """

    def __init__(self, query: Query, lookup: Query, known: KnownNodes) -> None:
        super().__init__(query, lookup)
        self._known = known
        self._changes: list[Change] = []
        self._written: dict[NodeRef, dict[str, Scalar]] = {}
        self._replaced: set[NodeRef] = set()  # deleted here, so that no older property shines through a later put
        self.present: set[NodeRef] = set()
        self.absent: set[NodeRef] = set()
        self.fresh: set[NodeRef] = set()

    def put(self, kind: str, id: str, /, **properties: Any) -> None:
        """Create the node, or set these properties on it when it is there."""
        checked = checked_node(kind, id, properties)
        node = (kind, id)
        if node in self.absent and node not in self._replaced:
            self.fresh.add(node)
        self.absent.discard(node)
        self.present.add(node)
        self._written.setdefault(node, {}).update(checked)
        self._changes.append(PutNode(kind, id, checked))

    def set(self, kind: str, id: str, /, **properties: Any) -> None:
        """Set properties of a node; nothing happens when it does not exist."""
        checked = checked_node(kind, id, properties)
        node = (kind, id)
        if not self._exists(node):
            return
        self._written.setdefault(node, {}).update(checked)
        self._changes.append(SetNode(kind, id, checked))

    def link(self, edge: str, start: NodeRef, end: NodeRef, /, **properties: Any) -> None:
        """Create the edge between two existing nodes, each (kind, id), or set these properties on it."""
        checked = checked_edge(edge, start[0], end[0], properties)
        for node in (start, end):
            if not self._exists(node):
                raise StoreError(f"{edge} cannot link to the {node[0]} {node[1]!r}, which does not exist")
        self._changes.append(PutEdge(edge, *start, *end, checked))

    def delete(self, kind: str, id: str) -> None:
        """Delete the node and every edge at it; nothing happens when it does not exist."""
        checked_id(kind, id)
        node = (kind, id)
        self._written.pop(node, None)
        self._replaced.add(node)
        self.fresh.discard(node)
        self.present.discard(node)
        self.absent.add(node)
        self._changes.append(DeleteNode(kind, id))

    def unlink(self, edge: str, start: NodeRef, end: NodeRef) -> None:
        """Delete the edge; nothing happens when it does not exist."""
        checked_edge(edge, start[0], end[0], {})
        checked_id(*start)
        checked_id(*end)
        self._changes.append(DeleteEdge(edge, *start, *end))

    def change_set(self) -> ChangeSet:
        return ChangeSet(tuple(self._changes))

    def _nodes(self, table: NodeTable, ids: list[str]) -> dict[str, Row]:
        """With this draft's own changes."""
        refs = {id: (table.kind, id) for id in ids}
        gone = self._replaced | self.fresh | self.absent
        stored = super()._nodes(table, [id for id, ref in refs.items() if ref not in gone])
        found: dict[str, Row] = {}
        for id, ref in refs.items():
            if id in stored or ref in self.present:
                self.present.add(ref)
                blank: Row = {table.key: id, **dict.fromkeys(table.columns)}
                found[id] = {**blank, **stored.get(id, {}), **self._written.get(ref, {})}
            else:
                self.absent.add(ref)
        return found

    def _existing(self, table: NodeTable, ids: list[str]) -> set[str]:
        refs = {id: (table.kind, id) for id in ids}
        here = {
            id for id, ref in refs.items() if ref in self.present or (ref in self._known and ref not in self.absent)
        }
        open_ = [id for id, ref in refs.items() if id not in here and ref not in self.absent]
        found = super()._existing(table, open_) if open_ else set[str]()
        self.present |= {refs[id] for id in found}
        self.absent |= {refs[id] for id in open_ if id not in found}
        return here | found

    def _exists(self, node: NodeRef) -> bool:
        if node in self.present or node in self.absent:
            return node in self.present
        return node in self._known or bool(self.existing(node[0], [node[1]]))
