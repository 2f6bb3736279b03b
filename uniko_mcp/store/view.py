"""A consistent look at the graph: what reads and write plans query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from uniko_mcp.models.graph_schema import NODES, NodeTable

Row: TypeAlias = dict[str, Any]
Query: TypeAlias = Callable[[str, Mapping[str, Any]], Iterable[Row]]

# One key is found by the index, a list of them by reading the whole table.
_KEYS_WORTH_A_SCAN: Final = 16

# Longer lists are asked for in parts, so that no query grows without bound.
_KEYS_PER_QUERY: Final = 1000


class View:
    """The graph as it was at one moment."""

    def __init__(self, query: Query, lookup: Query | None = None) -> None:
        """`lookup` finds nodes by their keys; without one, `query` does."""
        self._query = query
        self._lookup = lookup or query

    def rows(self, cypher: str, /, **parameters: Any) -> list[Row]:
        """All rows of a query, each as column alias -> value.

        Raises:
            StoreError: The graph refused the query.
        """
        return list(self._query(cypher, parameters))

    def stream(self, cypher: str, /, **parameters: Any) -> Iterator[Row]:
        """The rows of a query one by one, for results too large to hold as Python objects at once."""
        return iter(self._query(cypher, parameters))

    def row(self, cypher: str, /, **parameters: Any) -> Row | None:
        """The first row of a query; None when it has none."""
        rows = self.rows(cypher, **parameters)
        return rows[0] if rows else None

    def node(self, kind: str, id: str) -> Row | None:
        """The key and all columns of a node, unset ones as None; None when it does not exist."""
        rows = self._lookup(*_node_query(NODES[kind], id))
        return next(iter(rows), None)

    def existing(self, kind: str, ids: Iterable[str]) -> set[str]:
        """Those of the ids that are nodes of this kind."""
        wanted = list(dict.fromkeys(ids))
        found: set[str] = set()
        for start in range(0, len(wanted), _KEYS_PER_QUERY):
            found |= self._existing(NODES[kind], wanted[start : start + _KEYS_PER_QUERY])
        return found

    def _existing(self, table: NodeTable, ids: list[str]) -> set[str]:
        if len(ids) < _KEYS_WORTH_A_SCAN:
            cypher = f"MATCH (n:{table.kind} {{{table.key}: $id}}) RETURN n.{table.key} AS id"
            return {row["id"] for id in ids for row in self._lookup(cypher, {"id": id})}
        cypher = f"MATCH (n:{table.kind}) WHERE n.{table.key} IN $ids RETURN n.{table.key} AS id"
        return {row["id"] for row in self._lookup(cypher, {"ids": ids})}


def _node_query(table: NodeTable, id: str) -> tuple[str, Mapping[str, Any]]:
    columns = ", ".join(f"n.`{column}` AS `{column}`" for column in (table.key, *table.columns))
    return f"MATCH (n:{table.kind} {{{table.key}: $id}}) RETURN {columns}", {"id": id}
