"""The store's interface: reads on snapshots, writes as planned change sets, both off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from uniko_mcp.errors import ReadOnlyError, StoreClosedError
from uniko_mcp.models.graph_schema import NODES, SCHEMA_VERSION
from uniko_mcp.store.draft import Draft
from uniko_mcp.store.journal import Journal, quarantined
from uniko_mcp.store.lock import DirectoryLock
from uniko_mcp.store.status import Commit, Recovery, StoreStatus
from uniko_mcp.store.view import View
from uniko_mcp.store.writer import Writer

T = TypeVar("T")


class Store:
    """The open memory of one data directory. Made by `Store.open`; safe to share between tasks."""

    def __init__(
        self, directory: Path, lock: DirectoryLock, writer: Writer, recoveries: list[Recovery], *, read_only: bool
    ) -> None:
        self._directory = directory
        self._lock = lock
        self._writer = writer
        self._recoveries = recoveries
        self._read_only = read_only
        self._closed = False

    @classmethod
    async def open(cls, directory: Path, *, read_only: bool = False) -> Store:
        """Open the memory in a directory, or start one there.

        Raises:
            StoreLockedError: Another process has it open.
            StoreError: It cannot be read, or it was written by a newer version.
        """
        return await anyio.to_thread.run_sync(lambda: cls._open(directory.absolute(), read_only=read_only))

    @classmethod
    def _open(cls, directory: Path, *, read_only: bool) -> Store:
        lock = DirectoryLock(directory)
        try:
            from uniko_mcp.store.recovery import open_graph  # imports Kuzu, which the event loop need not wait for

            journal, scanned = Journal.open(directory)
            graph, recoveries = open_graph(directory, scanned.entries)
            writer = Writer(journal, graph, lambda: None, lambda: None)
        except BaseException:
            lock.release()
            raise
        return cls(directory, lock, writer, recoveries, read_only=read_only)

    async def read(self, query: Callable[[View], T]) -> T:
        """Run a query on a snapshot that holds every write acknowledged so far. It runs in a thread of its own."""
        if self._closed:
            raise StoreClosedError("the store is closed")
        return await anyio.to_thread.run_sync(self._writer.read, query, abandon_on_cancel=True)

    async def write(self, plan: Callable[[Draft], T]) -> T:
        """Plan a change set on the writer thread and return the plan's result once it is durable.

        A plan that raises writes nothing, and its exception comes out here. A caller that is cancelled leaves all of its
        change set or nothing. A plan may run more than once, so it must change nothing but the draft.

        Raises:
            ReadOnlyError: The store was opened read-only.
            StoreClosedError: The store is closed; nothing was written.
            StoreError: The disk refused; nothing was written.
        """
        if self._read_only:
            raise ReadOnlyError("the memory was opened read-only", next_step="Start the server without --read-only")
        return await asyncio.wrap_future(self._writer.submit(plan))

    def on_commit(self, listener: Callable[[Commit], None]) -> Callable[[], None]:
        """Call the listener, on the writer thread and in order, after each change set is in the graph.

        The answer is a function that ends that.
        """
        return self._writer.on_commit(listener)

    def status(self) -> StoreStatus:
        """How the store is, without touching the graph."""
        from uniko_mcp.store.graph import ENGINE

        writer = self._writer
        return StoreStatus(
            directory=self._directory,
            engine=ENGINE,
            schema_version=SCHEMA_VERSION,
            read_only=self._read_only,
            sequence=writer.sequence,
            journal_entries=writer.journal.entries,
            journal_bytes=writer.journal.bytes,
            graph_bytes=writer.graph.bytes,
            snapshots=(),
            recoveries=tuple(self._recoveries),
            quarantined=quarantined(self._directory),
            failure=str(writer.failure) if writer.failure else None,
        )

    async def counts(self) -> dict[str, int]:
        """Number of nodes of each kind."""
        return await self.read(
            lambda view: {kind: view.rows(f"MATCH (n:{kind}) RETURN count(*) AS n")[0]["n"] for kind in NODES}
        )

    async def close(self) -> None:
        """Finish acknowledged work, checkpoint, and let go of the directory. Closing again does nothing."""
        if self._closed:
            return
        self._closed = True
        await anyio.to_thread.run_sync(self._shut)

    def _shut(self) -> None:
        self._writer.close()
        self._writer.graph.close()
        self._writer.journal.close()
        self._lock.release()
