"""Hypothesis strategies for changes over the whole schema, on few ids, so that they meet."""

from __future__ import annotations

from hypothesis import strategies as st

from uniko_mcp.models.changes import Change, DeleteEdge, DeleteNode, PutEdge, PutNode, SetNode
from uniko_mcp.models.graph_schema import EDGES, NODES, ColumnType

IDS = ["a", "b", 'c"', "d\\'", "ü 東京"]

_TEXTS = st.one_of(
    st.sampled_from(["", "null", "NULL", "\\N", '"', "'", "a,b\r\nc", "1", "2026-03-01", "[1]", "\x00", "é😀", "$p0"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
_VALUES: dict[ColumnType, st.SearchStrategy[object]] = {
    "text": _TEXTS,
    "json": _TEXTS,
    "int": st.integers(-(2**62), 2**62 - 1),
    "time": st.integers(-(2**62), 2**62 - 1),
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
}

_PAIRS = [(edge.kind, *pair) for edge in EDGES.values() for pair in edge.pairs]


def _properties(columns: dict[str, ColumnType]) -> st.SearchStrategy[dict[str, object]]:
    values = {name: st.one_of(st.none(), _VALUES[column]) for name, column in columns.items()}
    return st.fixed_dictionaries({}, optional=values)


@st.composite
def _node_change(draw: st.DrawFn) -> Change:
    table = NODES[draw(st.sampled_from(sorted(NODES)))]
    id = draw(st.sampled_from(IDS))
    match draw(st.sampled_from(["put", "put", "put", "set", "delete"])):
        case "put":
            return PutNode(table.kind, id, draw(_properties(dict(table.columns))))
        case "set":
            return SetNode(table.kind, id, draw(_properties(dict(table.columns))))
        case _:
            return DeleteNode(table.kind, id)


@st.composite
def _edge_change(draw: st.DrawFn) -> list[Change]:
    """An edge, mostly with the nodes it needs."""
    kind, left, right = draw(st.sampled_from(_PAIRS))
    start, end = draw(st.sampled_from(IDS)), draw(st.sampled_from(IDS))
    if draw(st.integers(0, 4)) == 0:
        return [DeleteEdge(kind, left, start, right, end)]
    ends: list[Change] = [PutNode(left, start, {}), PutNode(right, end, {})] if draw(st.integers(0, 3)) else []
    return [*ends, PutEdge(kind, left, start, right, end, draw(_properties(dict(EDGES[kind].columns))))]


def change_sets(size: int = 6) -> st.SearchStrategy[list[Change]]:
    """The changes of one write."""
    pieces = st.one_of(_node_change().map(lambda change: [change]), _edge_change())
    return st.lists(pieces, min_size=1, max_size=size).map(lambda lists: [change for part in lists for change in part])


def histories(writes: int) -> st.SearchStrategy[list[list[Change]]]:
    """The changes of many writes, one after the other."""
    return st.lists(change_sets(), min_size=1, max_size=writes)
