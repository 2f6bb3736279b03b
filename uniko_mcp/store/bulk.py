"""Loading a whole snapshot into an empty graph by CSV files, which Kuzu copies far faster than it merges rows."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, TextIO, TypeAlias

from uniko_mcp.models.changes import Change, PutEdge, PutNode, Scalar, SetNode
from uniko_mcp.models.graph_schema import EDGES, NODES
from uniko_mcp.store.durable import PRIVATE_DIRECTORY

Table: TypeAlias = tuple[str, ...]
"""(node kind,) or (edge kind, from kind, to kind)"""

# Texts may hold line breaks, so one thread has to read each file from its start.
_OPTIONS: Final = "header=false, auto_detect=false, parallel=false, delim=',', quote='\"', escape='\"'"


def load(
    records: Iterable[PutNode | PutEdge], scratch: Path, execute: Callable[[str, Mapping[str, Any]], Any]
) -> list[Change]:
    """Copy nodes, then edges, into a graph that has none.

    Args:
        records: What to load, each node and edge once.
        scratch: A folder to make, use and remove.
        execute: Runs a Cypher statement.

    Returns:
        The changes still to apply: CSV cannot tell an empty text from none.
    """
    scratch.mkdir(mode=PRIVATE_DIRECTORY)
    try:
        tables, leftover = _write(records, scratch)
        for (kind, *ends), path in sorted(tables.items(), key=lambda item: len(item[0])):
            pair = f"from='{ends[0]}', to='{ends[1]}', " if ends else ""
            execute(f"COPY {kind} FROM {_literal(str(path))} ({pair}{_OPTIONS})", {})
        return leftover
    finally:
        shutil.rmtree(scratch)


def _write(records: Iterable[PutNode | PutEdge], scratch: Path) -> tuple[dict[Table, Path], list[Change]]:
    files: dict[Table, TextIO] = {}
    paths: dict[Table, Path] = {}
    leftover: list[Change] = []
    with ExitStack() as stack:
        for record in records:
            table, fields, columns = _place(record)
            if table not in files:
                paths[table] = scratch / f"{'-'.join(table)}.csv"
                files[table] = stack.enter_context(paths[table].open("w", encoding="utf-8", newline=""))
            values = [*fields, *(record.properties.get(column) for column in columns)]
            files[table].write(",".join(map(_field, values)) + "\n")
            empty = {column: value for column, value in record.properties.items() if value == ""}
            if empty:
                leftover.append(_restating(record, empty))
    return paths, leftover


def _place(record: PutNode | PutEdge) -> tuple[Table, tuple[str, ...], Iterable[str]]:
    match record:
        case PutNode(kind, id):
            return (kind,), (id,), NODES[kind].columns
        case PutEdge(kind, from_kind, from_id, to_kind, to_id):
            return (kind, from_kind, to_kind), (from_id, to_id), EDGES[kind].columns


def _restating(record: PutNode | PutEdge, properties: Mapping[str, Scalar]) -> Change:
    match record:
        case PutNode(kind, id):
            return SetNode(kind, id, properties)
        case PutEdge(kind, from_kind, from_id, to_kind, to_id):
            return PutEdge(kind, from_kind, from_id, to_kind, to_id, properties)


def _field(value: Scalar) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return repr(value).lower()


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
