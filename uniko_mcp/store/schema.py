"""The graph's tables: how they are made, and how those of an older version are brought up to date.

What a newer schema adds (a table, a column, a pair of an edge) is found by comparing, and needs no code. Anything else
(a renamed column, a changed meaning) is a step in `MIGRATIONS`, which runs first.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from uniko_mcp.errors import StoreError
from uniko_mcp.models.graph_schema import EDGES, NODES, SCHEMA_VERSION, EdgeTable, NodeTable
from uniko_mcp.store.statements import KUZU_TYPES
from uniko_mcp.store.view import Row

Execute: TypeAlias = Callable[[str, Mapping[str, Any]], list[Row]]

META: Final = "Meta"

MIGRATIONS: Final[Mapping[int, tuple[str, ...]]] = {}
"""Version -> the statements that make a graph of the version before it one of this version."""


def bring_up_to_date(execute: Execute) -> int:
    """Make or migrate the tables in one transaction, and return the sequence number that the graph holds.

    Raises:
        StoreError: The graph was written by a newer version, or a statement failed; the tables are as before.
    """
    tables = {row["name"] for row in execute("CALL show_tables() RETURN name", {})}
    meta = _meta(execute) if META in tables else {}
    version = meta.get("schema_version", 0)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"the graph has schema version {version}, this program knows {SCHEMA_VERSION}",
            next_step="Upgrade uniko-mcp",
        )
    if meta.get("schema_shape") == _shape():
        return meta["sequence"]
    execute("BEGIN TRANSACTION", {})
    try:
        for statement in _statements(execute, tables, version):
            execute(statement, {})
        values = {"sequence": meta.get("sequence", 0), "schema_version": SCHEMA_VERSION, "schema_shape": _shape()}
        for key, value in values.items():
            execute(f"MERGE (m:{META} {{key: $key}}) SET m.value = $value", {"key": key, "value": value})
        execute("COMMIT", {})
    except BaseException:
        _roll_back(execute)
        raise
    return meta.get("sequence", 0)


def _meta(execute: Execute) -> dict[str, int]:
    return {row["key"]: row["value"] for row in execute(f"MATCH (m:{META}) RETURN m.key AS key, m.value AS value", {})}


def _roll_back(execute: Execute) -> None:
    try:
        execute("ROLLBACK", {})
    except StoreError:
        return  # the failing statement has ended the transaction


def _statements(execute: Execute, tables: set[str], version: int) -> Iterator[str]:
    if META not in tables:
        yield f"CREATE NODE TABLE {META}(key STRING, value INT64, PRIMARY KEY(key))"
    else:
        for step in range(version + 1, SCHEMA_VERSION + 1):
            yield from MIGRATIONS.get(step, ())
    for node in NODES.values():
        yield from _additions(execute, node) if node.kind in tables else (_create_node(node),)
    for edge in EDGES.values():
        yield from _edge_additions(execute, edge) if edge.kind in tables else (_create_edge(edge),)


def _create_node(table: NodeTable) -> str:
    columns = "".join(f"`{column}` {KUZU_TYPES[type_]}, " for column, type_ in table.columns.items())
    return f"CREATE NODE TABLE {table.kind}({table.key} STRING, {columns}PRIMARY KEY({table.key}))"


def _create_edge(table: EdgeTable) -> str:
    pairs = ", ".join(f"FROM {left} TO {right}" for left, right in table.pairs)
    columns = "".join(f", `{column}` {KUZU_TYPES[type_]}" for column, type_ in table.columns.items())
    return f"CREATE REL TABLE {table.kind}({pairs}{columns})"


def _additions(execute: Execute, table: NodeTable | EdgeTable) -> Iterator[str]:
    present = {row["name"] for row in execute(f"CALL table_info('{table.kind}') RETURN name", {})}
    for column, type_ in table.columns.items():
        if column not in present:
            yield f"ALTER TABLE {table.kind} ADD `{column}` {KUZU_TYPES[type_]}"


def _edge_additions(execute: Execute, table: EdgeTable) -> Iterator[str]:
    rows = execute(f"CALL show_connection('{table.kind}') RETURN *", {})
    present = {(row["source table name"], row["destination table name"]) for row in rows}
    for left, right in table.pairs:
        if (left, right) not in present:
            yield f"ALTER TABLE {table.kind} ADD FROM {left} TO {right}"
    yield from _additions(execute, table)


def _shape() -> int:
    """A fingerprint of the whole schema, so that an open need not compare it table by table."""
    text = "\n".join([*map(_create_node, NODES.values()), *map(_create_edge, EDGES.values())])
    return zlib.crc32(text.encode())
