"""Snapshots: the whole graph in one portable file, for backup, export, import and recovery.

Format `uniko-snapshot`, version 1: gzip-compressed UTF-8, one JSON object per line.

    {"format":"uniko-snapshot","version":1,"schema_version":1,"sequence":812,"created_at":1764497501000000}
    {"node":"Goal","id":"g1","properties":{"title":"Ship","created_at":1764497500000000}}
    {"edge":"OWNED_BY","from":["Goal","g1"],"to":["Participant","assistant"],"properties":{}}
    {"end":true,"nodes":2,"edges":1,"crc32":"5f0c81aa"}

First the header, then every node, then every edge, then the trailer. `sequence` is the last change set the graph held;
`created_at` and all times in it are microseconds UTC; properties that are not set are left out; kinds and columns are
those of `uniko_mcp.models.graph_schema`; `crc32` (IEEE) covers all uncompressed bytes before the trailer's line.
"""

from __future__ import annotations

import gzip
import json
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from uniko_mcp.errors import StoreError
from uniko_mcp.models.changes import PutEdge, PutNode
from uniko_mcp.models.graph_schema import EDGES, NODES, SCHEMA_VERSION
from uniko_mcp.store.durable import make_directory, replacing
from uniko_mcp.store.validation import checked_edge, checked_node
from uniko_mcp.store.view import View

FORMAT: Final = "uniko-snapshot"
FORMAT_VERSION: Final = 1
SNAPSHOT_FOLDER: Final = "snapshots"

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of nodes and edges done so far, and of all."""

_ROWS_PER_REPORT: Final = 1000
_TRAILER_START: Final = b'{"end":'
_FASTEST: Final = 1  # gzip level: a quarter of the time of the default for a tenth more bytes


@dataclass(frozen=True, slots=True)
class SnapshotHeader:
    """What a snapshot says of itself in its first line."""

    schema_version: int
    sequence: int
    created_at: int


def export_snapshot(view: View, path: Path, sequence: int, progress: Progress | None = None) -> None:
    """Write the graph to a file, which is there whole or not at all.

    Args:
        view: A snapshot of the graph; the file holds exactly that.
        path: The file to write; an existing one is replaced.
        sequence: The last change set in the view.
        progress: Told now and then how far it is; what it raises ends the export.
    """
    make_directory(path.parent)
    total = _count(view)
    header = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "schema_version": SCHEMA_VERSION,
        "sequence": sequence,
        "created_at": time.time_ns() // 1000,
    }
    with replacing(path) as file, gzip.GzipFile("", "wb", _FASTEST, file, mtime=0) as out:
        checksum = 0
        nodes = edges = 0

        def write(record: dict[str, Any]) -> None:
            nonlocal checksum
            line = _line(record)
            checksum = zlib.crc32(line, checksum)
            out.write(line)
            if progress and (nodes + edges) % _ROWS_PER_REPORT == 0:
                progress(nodes + edges, total)

        write(header)
        for record in _node_records(view):
            nodes += 1
            write(record)
        for record in _edge_records(view):
            edges += 1
            write(record)
        out.write(_line({"end": True, "nodes": nodes, "edges": edges, "crc32": f"{checksum:08x}"}))
    if progress:
        progress(total, total)


def read_header(path: Path) -> SnapshotHeader:
    """The first line of a snapshot.

    Raises:
        StoreError: It is no snapshot, or one of a newer version.
    """
    try:
        with gzip.open(path) as file:
            return _header(path, file.readline())
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from error


def read_snapshot(path: Path) -> Iterator[PutNode | PutEdge]:
    """Every node, then every edge of a snapshot, each checked against the schema; the checksum is compared at the end.

    Raises:
        StoreError: The file is damaged, incomplete, no snapshot, or one of a newer version.
    """
    try:
        with gzip.open(path) as file:
            yield from _checked_records(path, file)
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, error) from error


def verify_snapshot(path: Path) -> SnapshotHeader:
    """Read a snapshot from end to end.

    Raises:
        StoreError: As of `read_snapshot`.
    """
    header = read_header(path)
    for _ in read_snapshot(path):
        pass
    return header


def restamp_snapshot(source: Path, target: Path, sequence: int) -> None:
    """Copy a sound snapshot as that of another change set; the copy is there whole or not at all."""
    make_directory(target.parent)
    with gzip.open(source) as lines, replacing(target) as file, gzip.GzipFile("", "wb", _FASTEST, file, mtime=0) as out:
        header = {**cast("dict[str, Any]", json.loads(lines.readline())), "sequence": sequence}
        line = _line(header)
        checksum = 0
        for following in lines:
            if not following.startswith(_TRAILER_START):
                out.write(line)
                checksum = zlib.crc32(line, checksum)
                line = following
                continue
            out.write(line)
            checksum = zlib.crc32(line, checksum)
            out.write(_line({**json.loads(following), "crc32": f"{checksum:08x}"}))


def snapshots(directory: Path) -> tuple[Path, ...]:
    """The snapshots of a data directory, newest first. Their names sort by sequence."""
    return tuple(sorted((directory / SNAPSHOT_FOLDER).glob(f"{'[0-9]' * 12}.jsonl.gz"), reverse=True))


def snapshot_sequence(path: Path) -> int:
    """The change set that a snapshot of a data directory is of, by its name."""
    return int(path.name.partition(".")[0])


def snapshot_path(directory: Path, sequence: int) -> Path:
    """Where the snapshot of this change set goes."""
    return directory / SNAPSHOT_FOLDER / f"{sequence:012}.jsonl.gz"


def _checked_records(path: Path, lines: Iterator[bytes]) -> Iterator[PutNode | PutEdge]:
    first = next(lines, b"")
    _header(path, first)
    checksum = zlib.crc32(first)
    nodes = edges = 0
    for line in lines:
        record = cast("dict[str, Any]", json.loads(line))
        if "end" in record:
            if (record["nodes"], record["edges"], record["crc32"]) != (nodes, edges, f"{checksum:08x}"):
                raise StoreError(f"the snapshot {path} is damaged: its checksum does not fit")
            return
        checksum = zlib.crc32(line, checksum)
        if "node" in record:
            nodes += 1
            kind, id = record["node"], record["id"]
            yield PutNode(kind, id, checked_node(kind, id, record["properties"]))
        else:
            edges += 1
            (from_kind, from_id), (to_kind, to_id) = record["from"], record["to"]
            properties = checked_edge(record["edge"], from_kind, to_kind, record["properties"])
            yield PutEdge(record["edge"], from_kind, from_id, to_kind, to_id, properties)
    raise StoreError(f"the snapshot {path} is incomplete: it has no last line")


def _header(path: Path, line: bytes) -> SnapshotHeader:
    try:
        record = cast("dict[str, Any]", json.loads(line))
        if record["format"] != FORMAT:
            raise ValueError("another format")
        newer = record["version"] > FORMAT_VERSION or record["schema_version"] > SCHEMA_VERSION
        header = SnapshotHeader(int(record["schema_version"]), int(record["sequence"]), int(record["created_at"]))
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} is not a snapshot") from error
    if newer:
        raise StoreError(f"the snapshot {path} is of a newer version", next_step="Upgrade uniko-mcp")
    return header


def _unreadable(path: Path, error: Exception) -> StoreError:
    return StoreError(f"the snapshot {path} cannot be read: {type(error).__name__}")


def _count(view: View) -> int:
    nodes = sum(row["n"] for kind in NODES for row in view.rows(f"MATCH (n:{kind}) RETURN count(*) AS n"))
    pairs = [(edge.kind, left, right) for edge in EDGES.values() for left, right in edge.pairs]
    return nodes + sum(
        row["n"]
        for kind, left, right in pairs
        for row in view.rows(f"MATCH (:{left})-[e:{kind}]->(:{right}) RETURN count(*) AS n")
    )


def _node_records(view: View) -> Iterator[dict[str, Any]]:
    for table in NODES.values():
        columns = "".join(f", n.`{column}` AS `{column}`" for column in table.columns)
        for row in view.stream(f"MATCH (n:{table.kind}) RETURN n.{table.key} AS {table.key}{columns}"):
            id = row.pop(table.key)
            yield {"node": table.kind, "id": id, "properties": _set_only(row)}


def _edge_records(view: View) -> Iterator[dict[str, Any]]:
    for table in EDGES.values():
        columns = "".join(f", e.`{column}` AS `{column}`" for column in table.columns)
        for left, right in table.pairs:
            ends = f"a.{NODES[left].key} AS `from`, b.{NODES[right].key} AS `to`"
            for row in view.stream(f"MATCH (a:{left})-[e:{table.kind}]->(b:{right}) RETURN {ends}{columns}"):
                start, end = [left, row.pop("from")], [right, row.pop("to")]
                yield {"edge": table.kind, "from": start, "to": end, "properties": _set_only(row)}


def _set_only(row: dict[str, Any]) -> dict[str, Any]:
    return {column: value for column, value in row.items() if value is not None}


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
