"""The store's interface: reads on snapshots, writes as planned change sets, both off the event loop."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from uniko_mcp.errors import ReadOnlyError, StoreClosedError, StoreError
from uniko_mcp.models.graph_schema import NODES, SCHEMA_VERSION
from uniko_mcp.store.archive import Archive
from uniko_mcp.store.draft import Draft
from uniko_mcp.store.journal import Journal, quarantined
from uniko_mcp.store.lock import DirectoryLock
from uniko_mcp.store.snapshot import Progress, snapshots
from uniko_mcp.store.status import Commit, StoreStatus
from uniko_mcp.store.view import View
from uniko_mcp.store.writer import RETRY_SECONDS, Writer

T = TypeVar("T")


class Store:
    """The open memory of one data directory. Made by `Store.open`; safe to share between tasks of one event loop."""

    def __init__(self, directory: Path, *, read_only: bool = False, retry_seconds: float = RETRY_SECONDS) -> None:
        """Open, in the calling thread. See `open`."""
        self._directory = directory.absolute()
        self._read_only = read_only
        self._closed = False
        self._lock = DirectoryLock(self._directory)
        try:
            from uniko_mcp.store.rebuild import Report  # these import Kuzu, which the event loop need not wait for
            from uniko_mcp.store.recovery import open_graph

            self._report = Report()
            journal, found = Journal.open(self._directory)
            try:
                graph = open_graph(self._directory, found, self._report)
            except BaseException:
                journal.close()
                raise
        except BaseException:
            self._lock.release()
            raise
        self._writer = Writer(
            journal, graph, self._repair, lambda: self._archive.when_idle(), retry_seconds=retry_seconds
        )
        self._archive = Archive(self._directory, self._writer, self._report)
        atexit.register(self._shut)

    @classmethod
    async def open(cls, directory: Path, *, read_only: bool = False, retry_seconds: float = RETRY_SECONDS) -> Store:
        """Open the memory in a directory, or start one there.

        What had to be repaired is in `status().recoveries`. When a repair fails later, `status().failure` says why, and
        reads and writes are refused until one that comes `retry_seconds` or more afterwards has it tried with success.

        Raises:
            StoreLockedError: Another process has it open.
            StoreError: It cannot be read, or it was written by a newer version.
        """
        return await anyio.to_thread.run_sync(lambda: cls(directory, read_only=read_only, retry_seconds=retry_seconds))

    async def read(self, query: Callable[[View], T]) -> T:
        """Run a query on a snapshot that holds every write acknowledged so far. It runs in a thread of its own."""
        return await self._in_thread(lambda: self._writer.read(query))

    async def write(self, plan: Callable[[Draft], T]) -> T:
        """Plan a change set on the writer thread and return the plan's result once it is durable.

        A plan that raises writes nothing, and its exception comes out here. A caller that is cancelled leaves all of
        its change set or nothing. A plan may run more than once, so it must change nothing but the draft.

        Raises:
            ReadOnlyError: The store was opened read-only.
            StoreClosedError: The store is closed; nothing was written.
            StoreError: The disk refused, or the graph cannot be repaired; nothing was written.
        """
        self._check_writable()
        return await asyncio.wrap_future(self._writer.submit(plan))

    def on_commit(self, listener: Callable[[Commit], None]) -> Callable[[], None]:
        """Call the listener, on the writer thread and in order, after each change set is in the graph or failed to be.

        The answer is a function that ends that.
        """
        return self._writer.on_commit(listener)

    async def commits_since(self, sequence: int) -> list[Commit] | None:
        """The change sets after this sequence, in order; None when the journal does not have all of them."""
        return await self._in_thread(lambda: self._commits_since(sequence))

    async def snapshot(self, progress: Progress | None = None) -> Path:
        """Take a snapshot into the data directory and shorten the journal by what it holds; answers its path.

        `progress` is called in another thread with the number of nodes and edges done, and of all.
        """
        return await self._in_thread(lambda: self._archive.take(progress))

    async def export_snapshot(self, path: Path, progress: Progress | None = None) -> Path:
        """Write the whole memory to a file in the snapshot format, while it stays in use."""
        return await self._in_thread(lambda: self._archive.export(path, progress))

    async def restore_snapshot(self, path: Path) -> None:
        """Replace the whole memory by that of a snapshot file, which is read from end to end before.

        Listeners of `on_commit` get an empty change set: everything may have changed.

        Raises:
            StoreError: The file is damaged or of a newer version, or the disk does not allow it; the memory is as
                before.
        """
        self._check_writable()
        await self._in_thread(lambda: self._archive.restore(path))

    @property
    def sequence(self) -> int:
        """The number of the last acknowledged change set."""
        return self._writer.sequence

    def status(self) -> StoreStatus:
        """How the store is, without touching the graph."""
        from uniko_mcp.store.graph import ENGINE

        writer = self._writer
        failure = writer.failure
        return StoreStatus(
            directory=self._directory,
            engine=ENGINE,
            schema_version=SCHEMA_VERSION,
            read_only=self._read_only,
            sequence=writer.sequence,
            journal_entries=writer.journal.entries,
            journal_bytes=writer.journal.bytes,
            graph_bytes=writer.graph.bytes,
            snapshots=snapshots(self._directory),
            recoveries=tuple(self._report.recoveries),
            quarantined=quarantined(self._directory),
            failure=str(failure) if failure else None,
        )

    async def counts(self) -> dict[str, int]:
        """Number of nodes of each kind."""
        return await self.read(_counts)

    async def close(self) -> None:
        """Finish acknowledged work, checkpoint, and let go of the directory. Closing again does nothing."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._shut)

    async def _in_thread(self, call: Callable[[], T]) -> T:
        if self._closed:
            raise StoreClosedError("the store is closed")
        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True)

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnlyError("the memory was opened read-only", next_step="Start the server without --read-only")

    def _commits_since(self, sequence: int) -> list[Commit] | None:
        last = self._writer.sequence
        if sequence == last:
            return []
        entries = [entry for entry in self._writer.journal.read() if entry.sequence > sequence]
        if len(entries) < last - sequence or sequence > last:
            return None
        return [Commit(entry.sequence, entry.changes, entry.recorded_at) for entry in entries]

    def _repair(self) -> None:
        """Build the graph anew from what is durable, while readers wait. It may be tried often; what counts is told.

        Raises:
            StoreError, OSError: The disk or memory does not allow it, or the new graph would lack what a snapshot holds
                that cannot be read at present. The old files know it too, and a start opens them.
        """
        from uniko_mcp.store.rebuild import Report, build, install

        report = Report()
        report.add("graph", "The graph could not apply a change set and was rebuilt")
        build(self._directory, self._writer.journal.read(), report)
        passed_over = any(each.kind == "snapshot" for each in report.recoveries)
        if passed_over and not all(each.kept for each in report.recoveries):
            raise StoreError("a snapshot could not be loaded, and a graph rebuilt without it would not be whole")
        self._writer.graph.exchange(lambda: install(self._directory, report))
        self._report.recoveries.extend(report.recoveries)
        self._report.snapshot_due |= report.snapshot_due

    def _shut(self) -> None:
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self._shut)
        with ExitStack() as last_to_first:
            last_to_first.callback(self._lock.release)
            last_to_first.callback(self._writer.journal.close)
            last_to_first.callback(self._writer.graph.close)
            last_to_first.callback(self._writer.close)
            last_to_first.callback(self._archive.close)


def _counts(view: View) -> dict[str, int]:
    return {kind: view.rows(f"MATCH (n:{kind}) RETURN count(*) AS n")[0]["n"] for kind in NODES}
