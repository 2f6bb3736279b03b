"""One write transaction over many change sets, and the order in which they become visible."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from uniko_mcp.errors import StoreError
from uniko_mcp.models.changes import ChangeSet
from uniko_mcp.store.schema import META, Execute
from uniko_mcp.store.statements import Batch, NodeRef, TableSize
from uniko_mcp.store.view import Row


class UncommittedError(BaseException):
    """A plan has to run again once the change sets before it are committed. Not for `except Exception` to swallow."""


class Transaction:
    """One Kuzu transaction over many change sets, applied no sooner than someone looks.

    Kuzu ends a transaction by itself when a statement fails, and says nothing; what follows would commit statement by
    statement. So after any failure everything accepted starts again in a new transaction.
    """

    def __init__(self, execute: Execute, size: TableSize, committed: Callable[[int], None]) -> None:
        """`execute` runs a statement on the writing connection; `committed` is told the sequence number."""
        self._size = size
        self._execute = execute
        self._committed = committed
        self._active = False
        self._accepted: list[tuple[ChangeSet, Collection[NodeRef]]] = []
        self._applied = 0

    def query(self, cypher: str, parameters: Mapping[str, Any]) -> list[Row]:
        """The rows of a query that sees every change set accepted so far.

        Raises:
            UncommittedError: Something is accepted and not committed. Kuzu answers some queries wrongly then: an edge
                comes once for every pair of kinds that its table joins.
            StoreError: Kuzu refused.
        """
        if self._accepted:
            raise UncommittedError
        return self.lookup(cypher, parameters)

    def lookup(self, cypher: str, parameters: Mapping[str, Any]) -> list[Row]:
        """As `query`, for finding nodes by their keys, which Kuzu does right at any time."""
        with self._restarting():
            self._catch_up()
            return self._execute(cypher, parameters)

    def add(self, changes: ChangeSet, fresh: Collection[NodeRef] = ()) -> None:
        """Accept a change set. `fresh` names the nodes it creates that are surely not there yet."""
        self._accepted.append((changes, fresh))

    def commit(self, sequence: int) -> None:
        """Apply what is left and commit, together with the number of the last change set.

        Raises:
            StoreError: Kuzu refused; the graph is as before.
        """
        with self._restarting():
            self._catch_up()
            self._execute(f"MATCH (m:{META} {{key: 'sequence'}}) SET m.value = $sequence", {"sequence": sequence})
            self._execute("COMMIT", {})
        self._active = False
        self._committed(sequence)

    def rollback(self) -> None:
        """End the transaction; nothing of it stays."""
        if self._active:
            with suppress(StoreError):  # there is none when a failing statement has ended it
                self._execute("ROLLBACK", {})
        self._active = False
        self._applied = 0

    def _catch_up(self) -> None:
        if not self._active:
            self._execute("BEGIN TRANSACTION", {})
            self._active = True
        batch = Batch()
        for changes, fresh in self._accepted[self._applied :]:
            for change in changes:
                if not batch.add(change, fresh):
                    self._run(batch)
                    batch = Batch()
                    batch.add(change, fresh)
        self._run(batch)
        self._applied = len(self._accepted)

    def _run(self, batch: Batch) -> None:
        for statement in batch.statements(self._size):
            self._execute(statement.cypher, statement.parameters)

    @contextmanager
    def _restarting(self) -> Generator[None, None, None]:
        try:
            yield
        except BaseException:
            self.rollback()
            raise
