"""Change sets as Cypher: many changes of the same shape become one statement over a list of rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from uniko_mcp.models.changes import Change, DeleteEdge, DeleteNode, PutEdge, PutNode, Scalar, SetNode
from uniko_mcp.models.graph_schema import EDGES, NODES, ColumnType

KUZU_TYPES: Final[Mapping[ColumnType, str]] = {
    "text": "STRING",
    "json": "STRING",
    "int": "INT64",
    "time": "INT64",
    "float": "DOUBLE",
    "bool": "BOOL",
}

NodeRef: TypeAlias = tuple[str, str]
EdgeRef: TypeAlias = tuple[str, str, str, str, str]
"""(kind, from_kind, from_id, to_kind, to_id)"""
Verb: TypeAlias = Literal["create", "merge", "set"]

# A single statement over this many rows keeps Kuzu's memory small and loses no speed against longer ones.
_ROWS_PER_STATEMENT: Final = 2000


# Kuzu finds one key by its index: a change takes 0.15 to 0.7 ms. Unwound keys it joins with their whole table, which
# takes some milliseconds to plan and 0.2 microseconds a node, and then next to nothing a row: 500 edges among 100,000
# messages take 45 ms. So many rows make an UNWIND worth it, ...
_ROWS_WORTH_UNWINDING: Final = 6
# ... and one more for each so many nodes in the tables it reads.
_NODES_READ_PER_ROW: Final = 1_400

TableSize: TypeAlias = Callable[[str], int]
"""About how many nodes of a kind there are."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A Cypher text and its parameters."""

    cypher: str
    parameters: Mapping[str, Any]


@dataclass(slots=True)
class _Write:
    verb: Verb
    properties: dict[str, Scalar]


class Batch:
    """Changes that may run in the order nodes, edges, deleted edges, deleted nodes with the same effect as one by one.

    `add` refuses the first change for which that is not so; the batch then has to run before that change.
    """

    def __init__(self) -> None:
        self._nodes: dict[NodeRef, _Write] = {}
        self._edges: dict[EdgeRef, _Write] = {}
        self._deleted_edges: dict[EdgeRef, None] = {}
        self._deleted_nodes: dict[NodeRef, None] = {}

    def add(self, change: Change, fresh: Collection[NodeRef]) -> bool:
        """Take the change, or answer False. `fresh` names nodes that are surely not in the graph yet."""
        match change:
            case PutNode(kind, id, properties):
                return self._put((kind, id), "create" if (kind, id) in fresh else "merge", properties)
            case SetNode(kind, id, properties):
                return self._put((kind, id), "set", properties)
            case PutEdge(kind, from_kind, from_id, to_kind, to_id, properties):
                return self._link((kind, from_kind, from_id, to_kind, to_id), properties, fresh)
            case DeleteEdge(kind, from_kind, from_id, to_kind, to_id):
                if self._deleted_nodes:
                    return False
                self._deleted_edges[kind, from_kind, from_id, to_kind, to_id] = None
            case DeleteNode(kind, id):
                self._deleted_nodes[kind, id] = None
        return True

    def statements(self, size: TableSize) -> Iterator[Statement]:
        """The statements that make these changes, in order."""
        yield from _node_statements(self._nodes, size)
        yield from _edge_statements(self._edges, size)
        yield from _edge_deletes(self._deleted_edges)
        yield from _node_deletes(self._deleted_nodes, size)

    def _put(self, node: NodeRef, verb: Verb, properties: Mapping[str, Scalar]) -> bool:
        if self._deleted_nodes or self._deleted_edges:
            return False
        earlier = self._nodes.get(node)
        if earlier is None:
            self._nodes[node] = _Write(verb, dict(properties))
            return True
        if earlier.verb == "set" and verb != "set":
            return False  # the earlier SET meant an existing node only; merging the two would create its properties
        earlier.properties.update(properties)
        return True

    def _link(self, edge: EdgeRef, properties: Mapping[str, Scalar], fresh: Collection[NodeRef]) -> bool:
        if self._deleted_nodes or self._deleted_edges:
            return False
        _, *ends = edge
        is_new = any((kind, id) in fresh and self._creates((kind, id)) for kind, id in (ends[:2], ends[2:]))
        write = self._edges.setdefault(edge, _Write("create" if is_new else "merge", {}))
        write.properties.update(properties)
        return True

    def _creates(self, node: NodeRef) -> bool:
        write = self._nodes.get(node)
        return write is not None and write.verb == "create"


def _node_statements(nodes: Mapping[NodeRef, _Write], size: TableSize) -> Iterator[Statement]:
    shapes: dict[tuple[str, Verb, tuple[str, ...]], list[dict[str, Scalar]]] = {}
    for (kind, id), write in nodes.items():
        columns = tuple(sorted(write.properties))
        row = {"id": id, **{f"p{i}": write.properties[column] for i, column in enumerate(columns)}}
        shapes.setdefault((kind, write.verb, columns), []).append(row)
    for (kind, verb, columns), rows in shapes.items():
        table = NODES[kind]
        types = [KUZU_TYPES[table.columns[column]] for column in columns]
        for source, parameters in _sources(rows, 0 if verb == "create" else size(kind)):
            values = _values(source, types)
            node = f"{kind} {_key(kind, source.key('id'))}"
            if verb == "create":
                pairs = "".join(f", `{column}`: {value}" for column, value in zip(columns, values, strict=True))
                yield Statement(f"{source.start('id')}CREATE (:{node[:-1]}{pairs}}})", parameters)
                continue
            match = "MERGE" if verb == "merge" else "MATCH"
            assignments = _assignments("n", columns, values)
            if verb == "set" and not assignments:
                continue
            yield Statement(f"{source.start('id')}{match} (n:{node}){assignments}", parameters)


def _edge_statements(edges: Mapping[EdgeRef, _Write], size: TableSize) -> Iterator[Statement]:
    shapes: dict[tuple[str, str, str, Verb, tuple[str, ...]], list[dict[str, Scalar]]] = {}
    for (kind, from_kind, from_id, to_kind, to_id), write in edges.items():
        columns = tuple(sorted(write.properties))
        row = {"a": from_id, "b": to_id, **{f"p{i}": write.properties[column] for i, column in enumerate(columns)}}
        shapes.setdefault((kind, from_kind, to_kind, write.verb, columns), []).append(row)
    for (kind, from_kind, to_kind, verb, columns), rows in shapes.items():
        types = [KUZU_TYPES[EDGES[kind].columns[column]] for column in columns]
        for source, parameters in _sources(rows, size(from_kind) + size(to_kind)):
            values = _values(source, types)
            match = _match_ends(source, from_kind, to_kind)
            if verb == "create":
                pairs = ", ".join(f"`{column}`: {value}" for column, value in zip(columns, values, strict=True))
                yield Statement(f"{match} CREATE (a)-[:{kind} {{{pairs}}}]->(b)", parameters)
            else:
                yield Statement(f"{match} MERGE (a)-[e:{kind}]->(b){_assignments('e', columns, values)}", parameters)


def _edge_deletes(edges: Mapping[EdgeRef, None]) -> Iterator[Statement]:
    """One by one: they are few, for the edges of a node go with it."""
    for kind, from_kind, from_id, to_kind, to_id in edges:
        a, b = _key(from_kind, "$a"), _key(to_kind, "$b")
        cypher = f"MATCH (:{from_kind} {a})-[e:{kind}]->(:{to_kind} {b}) DELETE e"
        yield Statement(cypher, {"a": from_id, "b": to_id})


def _node_deletes(nodes: Mapping[NodeRef, None], size: TableSize) -> Iterator[Statement]:
    """By equality of keys: `WHERE key IN list ... DELETE` deletes other rows than those, where some are uncommitted."""
    kinds: dict[str, list[dict[str, Scalar]]] = {}
    for kind, id in nodes:
        kinds.setdefault(kind, []).append({"id": id})
    for kind, rows in kinds.items():
        for source, parameters in _sources(rows, size(kind)):
            node = f"{kind} {_key(kind, source.key('id'))}"
            yield Statement(f"{source.start('id')}MATCH (n:{node}) DETACH DELETE n", parameters)


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a statement's values come from: its own parameters for one row, an unwound list for more.

    Keys are taken out of the unwound row by themselves. By a field of a row (`r.id`) Kuzu compares each row with each
    node, and two keys in one MATCH it multiplies: 500 edges among 20,000 messages took a second, among 100,000 more
    memory than there is.
    """

    many: bool

    def start(self, *keys: str) -> str:
        """How a statement that looks these keys up begins."""
        named = "".join(f", r.{key} AS {key}_key" for key in keys)
        return f"UNWIND $rows AS r WITH r{named} " if self.many else ""

    def key(self, name: str) -> str:
        return f"{name}_key" if self.many else f"${name}"

    def of(self, name: str) -> str:
        return f"r.{name}" if self.many else f"${name}"


def _sources(rows: list[dict[str, Scalar]], nodes_read: int) -> Iterator[tuple[_Source, Mapping[str, Any]]]:
    if len(rows) < _ROWS_WORTH_UNWINDING + nodes_read // _NODES_READ_PER_ROW:
        for row in rows:
            yield _Source(many=False), row
        return
    for start in range(0, len(rows), _ROWS_PER_STATEMENT):
        yield _Source(many=True), {"rows": rows[start : start + _ROWS_PER_STATEMENT]}


def _values(source: _Source, types: list[str]) -> list[str]:
    """One expression per property. The casts give Kuzu the type of a column that is None in every row."""
    return [f"CAST({source.of(f'p{i}')} AS {type_})" for i, type_ in enumerate(types)]


def _assignments(variable: str, columns: tuple[str, ...], values: list[str]) -> str:
    pairs = ", ".join(f"{variable}.`{column}` = {value}" for column, value in zip(columns, values, strict=True))
    return f" SET {pairs}" if pairs else ""


def _match_ends(source: _Source, from_kind: str, to_kind: str) -> str:
    a = f"(a:{from_kind} {_key(from_kind, source.key('a'))})"
    b = f"(b:{to_kind} {_key(to_kind, source.key('b'))})"
    return f"{source.start('a', 'b')}MATCH {a} WITH r, a, b_key MATCH {b}" if source.many else f"MATCH {a}, {b}"


def _key(kind: str, value: str) -> str:
    return f"{{{NODES[kind].key}: {value}}}"
