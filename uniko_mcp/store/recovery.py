"""Opening the graph so that it holds everything acknowledged, whatever state its files are in.

A sealed file and the checksummed journal are all it takes: the graph is the file plus the entries it lacks, and Kuzu's
own log, which has no checksums, is thrown away. The log is believed only for what the journal has lost. Without a sound
file the graph is rebuilt from the newest snapshot and the journal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from uniko_mcp.store.graph import FILE_NAME, Graph, UnopenableError
from uniko_mcp.store.journal import JournalScan
from uniko_mcp.store.probe import probe
from uniko_mcp.store.rebuild import GRAPH_FOLDER, Report, discard_unfinished, rebuild, replay
from uniko_mcp.store.seal import Seal
from uniko_mcp.store.snapshot import snapshot_sequence, snapshots

# Up to here a rebuild takes no longer than to find out whether it is needed, and its outcome is certain.
_CHEAP_REBUILD_BYTES: Final = 4 << 20


def open_graph(directory: Path, journal: JournalScan, report: Report) -> Graph:
    """The graph of a data directory, with every entry of the journal applied.

    Raises:
        StoreError: It was written by a newer version, or the disk or memory does not allow to open or rebuild it.
    """
    discard_unfinished(directory)
    if not _Files(directory, journal, report).make_trustworthy():
        rebuild(directory, journal.entries, report)
    graph = _open(directory, journal, report)
    try:
        _account(journal, graph.sequence, _covered(directory, journal), report)
        replay(graph, journal.entries, report)
        if Seal.read(graph.folder) is None:
            graph.checkpoint()
    except BaseException:
        graph.close()
        raise
    return graph


def _open(directory: Path, journal: JournalScan, report: Report) -> Graph:
    try:
        return Graph(directory / GRAPH_FOLDER)
    except UnopenableError as error:
        report.add("graph", f"{error.message}; it was rebuilt")
        rebuild(directory, journal.entries, report)
        return Graph(directory / GRAPH_FOLDER)


class _Files:
    """The graph's files as they were found."""

    def __init__(self, directory: Path, journal: JournalScan, report: Report) -> None:
        self._directory = directory
        self._journal = journal
        self._report = report
        self._folder = directory / GRAPH_FOLDER
        self._file = self._folder / FILE_NAME
        self._logs = list(self._folder.glob(f"{FILE_NAME}.*"))

    def make_trustworthy(self) -> bool:
        """Leave files that Kuzu may open, and answer True; or False when the graph has to be rebuilt."""
        if not self._file.exists():
            return self._is_new()
        seal = Seal.read(self._folder)
        if seal is None:
            return self._trust_unsealed()
        if not seal.fits(self._file):
            self._report.add("graph", f"The graph's file {self._file} is damaged and was rebuilt")
            return False
        if self._is_behind(seal.sequence):
            self._report.add("graph", "The graph was older than the newest snapshot and was rebuilt")
            return False
        if self._logs:
            self._choose_log(seal)
        return True

    def _is_new(self) -> bool:
        if self._folder.exists() or self._journal.entries or snapshots(self._directory):
            self._report.add("graph", "The graph's file was missing and was rebuilt")
            return False
        return True

    def _is_behind(self, sequence: int) -> bool:
        """Whether entries between the graph and the journal's first are in a snapshot only."""
        newest = max(map(snapshot_sequence, snapshots(self._directory)), default=0)
        return newest > sequence and (not self._journal.entries or self._journal.entries[0].sequence > sequence + 1)

    def _choose_log(self, seal: Seal) -> None:
        """After an unclean end: believe Kuzu's log only when the journal has lost what the log still holds."""
        reached = probe(self._file)
        lost = any(sequence > seal.sequence for sequence in self._journal.missing)
        ahead = reached is not None and reached > max(self._journal.last, seal.sequence)
        if (ahead or lost) and probe(self._file, all_rows=True) is not None:
            self._report.add("graph", "Change sets that the journal had lost were taken from the graph's own log")
            Seal.break_(self._folder)
            return
        if reached is None:
            self._report.add("graph", "The graph's own log is damaged; its change sets were taken from the journal")
        for path in self._logs:
            path.unlink()

    def _trust_unsealed(self) -> bool:
        """Kuzu was writing the file when the process ended. It recovers from that, but nothing proves it."""
        reached = probe(self._file, all_rows=True)
        if reached is None:
            self._report.add("graph", f"The graph's file {self._file} cannot be read and was rebuilt")
            return False
        complete = not self._journal.missing and _covered(self._directory, self._journal) >= reached
        if complete and self._rebuild_bytes() <= _CHEAP_REBUILD_BYTES:
            self._report.add("graph", "The process ended while the graph's file was written; it was rebuilt")
            return False
        self._report.add("graph", "The process ended while the graph's file was written; every row was read again")
        return True

    def _rebuild_bytes(self) -> int:
        newest = snapshots(self._directory)[:1]
        return sum(path.stat().st_size for path in newest) + sum(len(entry.line) for entry in self._journal.entries)


def _covered(directory: Path, journal: JournalScan) -> int:
    """The last change set that journal or snapshots hold."""
    return max([journal.last, *map(snapshot_sequence, snapshots(directory))])


def _account(journal: JournalScan, had: int, covered: int, report: Report) -> None:
    """Say what the journal's damage means. `had` is what the graph held by itself, `covered` what its sources hold."""
    if journal.damaged:
        report.add("journal", f"{len(journal.damaged)} damaged lines of the journal are kept in quarantine")
    if journal.torn:
        report.add("journal", "The last line of the journal was cut, as by a write never acknowledged, and was dropped")
    if had > covered:
        report.add("journal", f"The journal ends at change set {covered}, the graph holds {had}: nothing is lost")
    report.snapshot_due |= bool(journal.damaged or journal.missing) or had > covered
