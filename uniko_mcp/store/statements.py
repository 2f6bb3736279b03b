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


# Kuzu finds one key by its index: a change takes 0.15 to 0.7 ms. Unwound keys it compares, all with all nodes: 500
# edges from messages to their session take 10 ms among 2,000 messages, 60 ms among 20,000, 300 ms among 100,000; those
# from message to message a second among 20,000, and more memory than there is among 100,000. So many rows make an
# UNWIND worth it, ...
_ROWS_WORTH_UNWINDING: Final = 4
# ... and one more for each so many nodes in the tables it reads, ...
_NODES_READ_PER_ROW: Final = 1_000
# ... and nothing does among more nodes than these.
_MOST_NODES_READ: Final = 10_000

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
        yield from _edge_deletes(self._deleted_edges, size)
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
            if verb == "create":
                pairs = "".join(f", `{column}`: {value}" for column, value in zip(columns, values, strict=True))
                yield Statement(
                    f"{source.prefix}CREATE (:{kind} {{{table.key}: {source.of('id')}{pairs}}})", parameters
                )
                continue
            match = "MERGE" if verb == "merge" else "MATCH"
            assignments = _assignments("n", columns, values)
            if verb == "set" and not assignments:
                continue
            yield Statement(
                f"{source.prefix}{match} (n:{kind} {{{table.key}: {source.of('id')}}}){assignments}", parameters
            )


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
            match = f"{source.prefix}{_match_ends(source, from_kind, to_kind)}"
            if verb == "create":
                pairs = ", ".join(f"`{column}`: {value}" for column, value in zip(columns, values, strict=True))
                yield Statement(f"{match} CREATE (a)-[:{kind} {{{pairs}}}]->(b)", parameters)
            else:
                yield Statement(f"{match} MERGE (a)-[e:{kind}]->(b){_assignments('e', columns, values)}", parameters)


def _edge_deletes(edges: Mapping[EdgeRef, None], size: TableSize) -> Iterator[Statement]:
    shapes: dict[tuple[str, str, str], list[dict[str, Scalar]]] = {}
    for kind, from_kind, from_id, to_kind, to_id in edges:
        shapes.setdefault((kind, from_kind, to_kind), []).append({"a": from_id, "b": to_id})
    for (kind, from_kind, to_kind), rows in shapes.items():
        for source, parameters in _sources(rows, size(from_kind) + size(to_kind)):
            a, b = _key(from_kind, source.of("a")), _key(to_kind, source.of("b"))
            yield Statement(
                f"{source.prefix}MATCH (:{from_kind} {a})-[e:{kind}]->(:{to_kind} {b}) DELETE e", parameters
            )


def _node_deletes(nodes: Mapping[NodeRef, None], size: TableSize) -> Iterator[Statement]:
    """By equality of keys: `WHERE key IN list ... DELETE` deletes other rows than those, where some are uncommitted."""
    kinds: dict[str, list[dict[str, Scalar]]] = {}
    for kind, id in nodes:
        kinds.setdefault(kind, []).append({"id": id})
    for kind, rows in kinds.items():
        for source, parameters in _sources(rows, size(kind)):
            yield Statement(
                f"{source.prefix}MATCH (n:{kind} {_key(kind, source.of('id'))}) DETACH DELETE n", parameters
            )


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a statement's values come from: its own parameters for one row, an unwound list for more."""

    many: bool

    @property
    def prefix(self) -> str:
        return "UNWIND $rows AS r " if self.many else ""

    def of(self, name: str) -> str:
        return f"r.{name}" if self.many else f"${name}"


def _sources(rows: list[dict[str, Scalar]], nodes_read: int) -> Iterator[tuple[_Source, Mapping[str, Any]]]:
    if nodes_read > _MOST_NODES_READ or len(rows) < _ROWS_WORTH_UNWINDING + nodes_read // _NODES_READ_PER_ROW:
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
    return f"MATCH (a:{from_kind} {_key(from_kind, source.of('a'))}), (b:{to_kind} {_key(to_kind, source.of('b'))})"


def _key(kind: str, value: str) -> str:
    return f"{{{NODES[kind].key}: {value}}}"
