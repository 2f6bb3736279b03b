"""A consistent look at the graph: what reads and write plans query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from uniko_mcp.models.graph_schema import NODES, NodeTable

Row: TypeAlias = dict[str, Any]
Query: TypeAlias = Callable[[str, Mapping[str, Any]], Iterable[Row]]

# A key given by itself is found by the index, a list of keys by reading the whole table: at 100,000 nodes 20 lookups in
# one query take 4 ms, `IN` 24 ms, and `UNWIND` 20 to 32 ms however many keys there are.
_KEYS_WORTH_A_SCAN: Final = 100
# Few sizes, since each is a statement of its own to prepare.
_LOOKUPS_PER_QUERY: Final = (20, 5, 1)

# Longer lists are asked for in parts, so that no query grows without bound.
_KEYS_PER_QUERY: Final = 1000

# Kuzu looks one key up, and compares a list of them with every node: 350 ms for 500 among 100,000. Ids that are asked
# for together mostly lie close together, so the nodes outside their range are passed over first: 30 ms.
_AMONG: Final = re.compile(r"([\w.]+) AMONG \$ids")
_ONE_KEY: Final = r"\1 = $first"
_MANY_KEYS: Final = r"(\1 >= $first AND \1 <= $last AND \1 IN $ids)"


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

    def rows_for(self, cypher: str, ids: Iterable[str], /, **parameters: Any) -> list[Row]:
        """All rows of a query about several nodes, whose keys it names so: `WHERE m.message_id AMONG $ids`.

        Many keys are asked for in parts, so what a query sums up over all of them comes once for each part.

        Raises:
            StoreError: The graph refused the query.
        """
        keys = sorted(set(ids))
        if len(keys) == 1:
            return self.rows(_AMONG.sub(_ONE_KEY, cypher), first=keys[0], **parameters)
        many = _AMONG.sub(_MANY_KEYS, cypher)
        rows: list[Row] = []
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            part = keys[start : start + _KEYS_PER_QUERY]
            rows += self.rows(many, ids=part, first=part[0], last=part[-1], **parameters)
        return rows

    def stream(self, cypher: str, /, **parameters: Any) -> Iterator[Row]:
        """The rows of a query one by one, for results too large to hold as Python objects at once."""
        return iter(self._query(cypher, parameters))

    def row(self, cypher: str, /, **parameters: Any) -> Row | None:
        """The first row of a query; None when it has none."""
        rows = self.rows(cypher, **parameters)
        return rows[0] if rows else None

    def node(self, kind: str, id: str) -> Row | None:
        """The key and all columns of a node, unset ones as None; None when it does not exist."""
        return self._nodes(NODES[kind], [id]).get(id)

    def nodes(self, kind: str, ids: Iterable[str]) -> dict[str, Row]:
        """Those of the ids that are nodes of this kind, each as `node` gives it."""
        return self._nodes(NODES[kind], list(dict.fromkeys(ids)))

    def existing(self, kind: str, ids: Iterable[str]) -> set[str]:
        """Those of the ids that are nodes of this kind."""
        return self._existing(NODES[kind], list(dict.fromkeys(ids)))

    def _nodes(self, table: NodeTable, ids: list[str]) -> dict[str, Row]:
        columns = (table.key, *table.columns)
        found = (row["node"] for row in self._by_keys(table, ids, "n AS node"))
        return {node[table.key]: {column: node[column] for column in columns} for node in found}

    def _existing(self, table: NodeTable, ids: list[str]) -> set[str]:
        return {row["id"] for row in self._by_keys(table, ids, f"n.{table.key} AS id")}

    def _by_keys(self, table: NodeTable, ids: list[str], answer: str) -> Iterator[Row]:
        if len(ids) > _KEYS_WORTH_A_SCAN:
            cypher = f"UNWIND $keys AS key MATCH (n:{table.kind} {{{table.key}: key}}) RETURN {answer}"
            for start in range(0, len(ids), _KEYS_PER_QUERY):
                yield from self._lookup(cypher, {"keys": ids[start : start + _KEYS_PER_QUERY]})
            return
        for part in _lookups(ids):
            keys = {f"key{number}": id for number, id in enumerate(part)}
            lookups = (f"MATCH (n:{table.kind} {{{table.key}: ${name}}}) RETURN {answer}" for name in keys)
            yield from self._lookup(" UNION ALL ".join(lookups), keys)


def _lookups(ids: list[str]) -> Iterator[list[str]]:
    """The ids in order, in parts of the sizes that one query looks up."""
    start = 0
    for size in _LOOKUPS_PER_QUERY:
        while len(ids) - start >= size:
            yield ids[start : start + size]
            start += size
