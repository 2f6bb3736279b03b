"""The snapshots of an open store: taken beside running writes, exported, restored."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from uniko_mcp.errors import StoreClosedError, StoreError
from uniko_mcp.models.changes import ChangeSet
from uniko_mcp.store.schema import META
from uniko_mcp.store.seal import Seal
from uniko_mcp.store.snapshot import (
    Progress,
    export_snapshot,
    restamp_snapshot,
    snapshot_path,
    snapshots,
    verify_snapshot,
)
from uniko_mcp.store.status import Commit
from uniko_mcp.store.view import View

if TYPE_CHECKING:
    from uniko_mcp.store.rebuild import Report
    from uniko_mcp.store.writer import Writer

_log = logging.getLogger(__name__)

_SNAPSHOTS_KEPT: Final = 2

# A journal is replaced by a snapshot when it is larger than this, and than the newest snapshot: so all the snapshots
# that a growing memory ever writes are together about as long as its journal.
_JOURNAL_BYTES: Final = 16 << 20


class Archive:
    """Takes snapshots of one open store. One at a time; the store is read and written meanwhile."""

    def __init__(self, directory: Path, writer: Writer, report: Report) -> None:
        self._directory = directory
        self._writer = writer
        self._report = report
        self._busy = threading.Lock()
        self._closing = threading.Event()

    def take(self, progress: Progress | None = None) -> Path:
        """Write a snapshot, read it back, and drop what it holds from the journal.

        Raises:
            StoreError: It could not be written; journal and older snapshots are as before.
        """
        with self._busy:
            path, sequence = self._export(None, progress)
            verify_snapshot(path)
            self._writer.between_commits(lambda: self._shorten_journal(sequence)).result()
            for old in snapshots(self._directory)[_SNAPSHOTS_KEPT:]:
                old.unlink()
            return path

    def export(self, path: Path, progress: Progress | None = None) -> Path:
        """Write a snapshot to any file. The store's own snapshots and journal stay as they are."""
        return self._export(path, progress)[0]

    def restore(self, path: Path) -> None:
        """Put the content of a snapshot in the place of the memory, of which a snapshot is taken before.

        Whatever fails leaves the memory as before.

        Raises:
            StoreError: The snapshot is damaged or of a newer version, or the disk does not allow it.
        """
        verify_snapshot(path)
        self.take()
        with self._busy:
            self._writer.between_commits(lambda: self._replace_by(path)).result()

    def when_idle(self) -> None:
        """Take a snapshot in a thread of its own when one is due."""
        newest = snapshots(self._directory)[:1]
        limit = max([_JOURNAL_BYTES, *(path.stat().st_size for path in newest)])
        if self._report.snapshot_due or self._writer.journal.bytes > limit:
            threading.Thread(target=self._take_quietly, name="uniko-store-snapshot", daemon=True).start()

    def close(self) -> None:
        """Let a snapshot that is being taken end without a result."""
        self._closing.set()

    def _take_quietly(self) -> None:
        try:
            self.take()
        except StoreClosedError:
            return
        except (StoreError, OSError) as error:
            _log.warning("no snapshot could be taken: %s", error)

    def _export(self, path: Path | None, progress: Progress | None) -> tuple[Path, int]:
        def write(view: View) -> tuple[Path, int]:
            [row] = view.rows(f"MATCH (m:{META} {{key: 'sequence'}}) RETURN m.value AS sequence")
            sequence = row["sequence"]
            target = path or snapshot_path(self._directory, sequence)
            export_snapshot(view, target, sequence, self._watched(progress))
            return target, sequence

        return self._writer.read(write)

    def _watched(self, progress: Progress | None) -> Progress:
        def report(done: int, total: int) -> None:
            if self._closing.is_set():
                raise StoreClosedError("the store is closing; the snapshot was not finished")
            if progress:
                progress(done, total)

        return report

    def _shorten_journal(self, sequence: int) -> None:
        """Only what is in the sealed file too may leave the journal: what it keeps continues that file."""
        seal = Seal.read(self._writer.graph.folder)
        sealed = seal is not None and seal.sequence >= sequence
        if sealed or self._writer.graph.checkpoint(patience=1.0):
            self._writer.journal.drop_through(sequence)
            self._report.snapshot_due = False

    def _replace_by(self, path: Path) -> None:
        """Build the new graph beside the old one; the memory changes when its snapshot takes its name.

        A crash before that leaves the old memory. After it, the next open finds a snapshot that is newer than graph and
        journal, and rebuilds from it.
        """
        from uniko_mcp.store.rebuild import build_from, discard_unfinished, install

        writer, directory = self._writer, self._directory
        sequence = writer.sequence + 1
        try:
            build_from(directory, path, sequence, (), self._report)
            restamp_snapshot(path, snapshot_path(directory, sequence), sequence)
        except BaseException:
            discard_unfinished(directory)
            raise
        writer.graph.exchange(lambda: install(directory))
        writer.journal.drop_through(sequence)
        writer.announce([Commit(sequence, ChangeSet(()), time.time_ns() // 1000)])
