"""Making the graph anew from snapshot and journal, beside the old one, which is set aside when the new one is whole."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from uniko_mcp.errors import StoreError
from uniko_mcp.models.changes import ChangeSet
from uniko_mcp.store.durable import sync_directory
from uniko_mcp.store.graph import Graph
from uniko_mcp.store.journal import Entry, set_aside
from uniko_mcp.store.snapshot import SNAPSHOT_FOLDER, read_header, read_snapshot, snapshots, verify_snapshot
from uniko_mcp.store.status import Recovery, RecoveryKind

GRAPH_FOLDER: Final = "graph"
_NEW_FOLDER: Final = "graph.new"
_DAMAGED_FOLDER: Final = "graph.damaged"
_DAMAGED_KEPT: Final = 3

_ENTRIES_PER_COMMIT: Final = 500


@dataclass(slots=True)
class Report:
    """What recovery did. `snapshot_due` says that the files left could not make the graph once more."""

    recoveries: list[Recovery] = field(default_factory=list[Recovery])
    snapshot_due: bool = False

    def add(self, kind: RecoveryKind, message: str, *, kept: bool = True) -> None:
        self.recoveries.append(Recovery(kind, message, time.time_ns() // 1000, kept))


def rebuild(directory: Path, entries: Sequence[Entry], report: Report) -> None:
    """Replace the graph's folder by one made from the newest sound snapshot and the entries after it.

    Raises:
        StoreError, OSError: The disk or memory does not allow it; the old folder is still in place.
    """
    build(directory, entries, report)
    install(directory, report)


def build(directory: Path, entries: Sequence[Entry], report: Report) -> None:
    """Make the new graph, closed and sealed, ready for `install`.

    An older snapshot stands in for one that is damaged, never for one that could not be loaded for want of room.

    Raises:
        StoreError, OSError: The disk or memory does not allow it.
    """
    discard_unfinished(directory)
    for path in snapshots(directory):
        try:
            build_from(directory, path, read_header(path).sequence, entries, report)
        except StoreError as error:
            discard_unfinished(directory)
            if _is_sound(path):
                raise
            report.add("snapshot", f"{error.message}. An older one is used")
            report.snapshot_due = True
        else:
            return
    graph = Graph(directory / _NEW_FOLDER)
    try:
        replay(graph, entries, report)
    finally:
        graph.close()


def _is_sound(snapshot: Path) -> bool:
    try:
        verify_snapshot(snapshot)
    except StoreError:
        return False
    return True


def build_from(directory: Path, snapshot: Path, sequence: int, entries: Sequence[Entry], report: Report) -> None:
    """Make the new graph from this snapshot, as of that change set, and the entries after it."""
    graph = Graph(directory / _NEW_FOLDER)
    try:
        graph.load(read_snapshot(snapshot), sequence)
        replay(graph, entries, report)
    finally:
        graph.close()


def install(directory: Path, report: Report | None = None) -> None:
    """Put the new graph in the place of the old one, which is kept aside when there is a report to say so."""
    folder = directory / GRAPH_FOLDER
    if report and folder.exists():
        aside = directory / f"{_DAMAGED_FOLDER}-{time.time_ns() // 1000}"
        folder.rename(aside)
        report.add("graph", f"The files of the old graph are kept in {aside}")
    elif folder.exists():
        shutil.rmtree(folder)
    (directory / _NEW_FOLDER).rename(folder)
    sync_directory(directory)
    for old in sorted(directory.glob(f"{_DAMAGED_FOLDER}-*"))[:-_DAMAGED_KEPT]:
        shutil.rmtree(old)


def discard_unfinished(directory: Path) -> None:
    """Remove what a rebuild left behind that did not come to its end."""
    for folder in directory.glob(f"{_NEW_FOLDER}*"):
        shutil.rmtree(folder)
    for folder in (directory, directory / GRAPH_FOLDER, directory / SNAPSHOT_FOLDER):
        for file in folder.glob("*.partial"):
            file.unlink()


def replay(graph: Graph, entries: Iterable[Entry], report: Report) -> None:
    """Apply the entries that the graph lacks, many to a commit.

    Raises:
        StoreError: The graph can take no change at all.
    """
    lacking = [entry for entry in entries if entry.sequence > graph.sequence]
    _report_gaps(graph.sequence, lacking, report)
    for start in range(0, len(lacking), _ENTRIES_PER_COMMIT):
        part = lacking[start : start + _ENTRIES_PER_COMMIT]
        try:
            _apply(graph, part)
        except StoreError:
            for entry in part:
                _apply_or_set_aside(graph, entry, report)


def _report_gaps(sequence: int, lacking: Iterable[Entry], report: Report) -> None:
    for entry in lacking:
        if entry.sequence > sequence + 1:
            missing = f"{sequence + 1} to {entry.sequence - 1}"
            report.add("journal", f"Change sets {missing} are lost: the journal is damaged there", kept=False)
        sequence = entry.sequence


def _apply_or_set_aside(graph: Graph, entry: Entry, report: Report) -> None:
    """One entry that the graph refuses must not keep all others from being read for ever."""
    try:
        _apply(graph, [entry])
    except StoreError:
        _commit(graph, [], entry.sequence)  # raises when it is the graph that is at fault, not the entry
        set_aside(graph.folder.parent, [entry.line])
        report.add("journal", f"Change set {entry.sequence} cannot be applied and is kept in quarantine", kept=False)


def _apply(graph: Graph, entries: Sequence[Entry]) -> None:
    try:
        _commit(graph, [entry.changes for entry in entries], entries[-1].sequence)
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"a journal line is no change set of this schema: {type(error).__name__}") from error


def _commit(graph: Graph, changes: Iterable[ChangeSet], sequence: int) -> None:
    transaction = graph.transaction()
    for each in changes:
        transaction.add(each)
    transaction.commit(sequence)
