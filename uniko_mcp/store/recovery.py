"""Opening the graph so that it holds everything acknowledged, whatever state its files are in."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from uniko_mcp.errors import StoreError
from uniko_mcp.store.graph import Graph
from uniko_mcp.store.journal import Entry
from uniko_mcp.store.status import Recovery

GRAPH_FOLDER: Final = "graph"
_ENTRIES_PER_COMMIT: Final = 500


def replay(graph: Graph, entries: Iterable[Entry]) -> None:
    """Apply the entries that the graph lacks."""
    lacking = [entry for entry in entries if entry.sequence > graph.sequence]
    for start in range(0, len(lacking), _ENTRIES_PER_COMMIT):
        part = lacking[start : start + _ENTRIES_PER_COMMIT]
        transaction = graph.transaction()
        for entry in part:
            transaction.add(entry.changes)
        transaction.commit(part[-1].sequence)


def open_graph(directory: Path, entries: tuple[Entry, ...]) -> tuple[Graph, list[Recovery]]:
    """The graph of a data directory with all entries applied, and what had to be done for it."""
    folder = directory / GRAPH_FOLDER
    recoveries: list[Recovery] = []
    try:
        graph = Graph(folder)
    except StoreError as error:
        shutil.move(folder, directory / f"graph.damaged-{time.time_ns() // 1000}")
        recoveries.append(Recovery("graph", str(error), time.time_ns() // 1000))
        graph = Graph(folder)
    replay(graph, entries)
    return graph, recoveries
