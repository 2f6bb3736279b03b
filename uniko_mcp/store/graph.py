"""The graph in Kuzu: the only module that imports it, so the one that another engine would replace.

Kuzu is used inside its safe region: plain tables, one writing connection, explicit transactions, no checkpoint while
anybody reads, and no trust in its files without the seal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import kuzu

from uniko_mcp.errors import StoreError
from uniko_mcp.models.changes import ChangeSet
from uniko_mcp.store.durable import make_directory
from uniko_mcp.store.gate import Gate
from uniko_mcp.store.schema import META, bring_up_to_date
from uniko_mcp.store.seal import Seal
from uniko_mcp.store.statements import Batch, NodeRef
from uniko_mcp.store.view import Row, View

T = TypeVar("T")

ENGINE: Final = f"kuzu {kuzu.__version__}"
FILE_NAME: Final = "db"

# Kuzu's own defaults reserve 8 TiB of address space and 80 % of the memory.
_BUFFER_POOL_BYTES: Final = 256 << 20
_ADDRESS_SPACE_BYTES: Final = 1 << 34
_THREADS: Final = 2


class Graph:
    """An open graph folder. Queries run in any thread; writing, checkpointing and closing belong to one.

    Attributes:
        folder: The folder with Kuzu's files.
        sequence: The last change set that is committed.
    """

    def __init__(self, folder: Path) -> None:
        """Open the graph, or make an empty one, with the schema of this version.

        Raises:
            StoreError: Kuzu cannot open it, or it was written by a newer version.
        """
        self.folder = folder
        self.sequence = 0
        self._gate = Gate()
        self._idle: list[kuzu.Connection] = []
        self._open()

    def read(self, query: Callable[[View], T]) -> T:
        """Run a query on one snapshot of the graph, beside other queries and the writer."""
        with self._gate.together(), self._connection() as connection:
            session = _ReadSession(connection)
            try:
                return query(View(session.rows))
            finally:
                session.end()

    def transaction(self) -> Transaction:
        """The next write transaction. One at a time."""
        return Transaction(self, self._execute)

    def checkpoint(self, patience: float | None = None) -> bool:
        """Move what was committed into the main file and seal it.

        Answers False when a reader did not leave within `patience` seconds; then nothing was done.
        """
        with self._gate.alone(patience) as alone:
            if not alone:
                return False
            Seal.break_(self.folder)
            self._execute("CHECKPOINT", {})
            self._seal()
            return True

    def close(self) -> None:
        """Checkpoint, close and seal. Waits for the queries that are running."""
        with self._gate.alone():
            Seal.break_(self.folder)
            self._release()
            self._seal()

    def exchange(self, swap: Callable[[], None]) -> None:
        """Close, let `swap` exchange the folder for another, and open that. Queries wait meanwhile."""
        with self._gate.alone():
            Seal.break_(self.folder)
            self._release()
            try:
                swap()
            finally:
                self._open()

    @property
    def log_bytes(self) -> int:
        """Length of Kuzu's write-ahead log: what a checkpoint would move."""
        return _size(self.folder / f"{FILE_NAME}.wal")

    @property
    def bytes(self) -> int:
        return _size(self.folder / FILE_NAME) + self.log_bytes

    def _open(self) -> None:
        make_directory(self.folder)
        try:
            self._database = kuzu.Database(
                self.folder / FILE_NAME,
                buffer_pool_size=_BUFFER_POOL_BYTES,
                max_num_threads=_THREADS,
                max_db_size=_ADDRESS_SPACE_BYTES,
                auto_checkpoint=False,
            )
            self._writer = kuzu.Connection(self._database)
        except RuntimeError as error:
            raise StoreError(f"Kuzu cannot open {self.folder}: {_reason(error)}") from error
        try:
            self.sequence = bring_up_to_date(self._execute)
        except BaseException:
            self._release()
            raise

    def _seal(self) -> None:
        Seal.put(self.folder, self.folder / FILE_NAME, self.sequence)

    def _execute(self, cypher: str, parameters: Mapping[str, Any]) -> list[Row]:
        return _rows(self._writer, cypher, parameters)

    @contextmanager
    def _connection(self) -> Iterator[kuzu.Connection]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = kuzu.Connection(self._database)
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def _release(self) -> None:
        while self._idle:
            self._idle.pop().close()
        self._writer.close()
        self._database.close()


class Transaction:
    """One Kuzu transaction over many change sets, applied no sooner than someone looks.

    Kuzu ends a transaction by itself when a statement fails, and says nothing; what follows would commit statement by
    statement. So after any failure everything accepted starts again in a new transaction.
    """

    def __init__(self, graph: Graph, execute: Callable[[str, Mapping[str, Any]], list[Row]]) -> None:
        self._graph = graph
        self._execute = execute
        self._active = False
        self._accepted: list[tuple[ChangeSet, Collection[NodeRef]]] = []
        self._applied = 0

    def query(self, cypher: str, parameters: Mapping[str, Any]) -> list[Row]:
        """The rows of a query that sees every change set accepted so far."""
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
        self._graph.sequence = sequence

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
        for statement in batch.statements():
            self._execute(statement.cypher, statement.parameters)

    @contextmanager
    def _restarting(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.rollback()
            raise


class _ReadSession:
    """A read-only transaction. A failed query ends it, and the queries after that are refused."""

    def __init__(self, connection: kuzu.Connection) -> None:
        self._connection = connection
        self._failed = False
        _rows(connection, "BEGIN TRANSACTION READ ONLY", {})

    def rows(self, cypher: str, parameters: Mapping[str, Any]) -> list[Row]:
        if self._failed:
            raise StoreError("an earlier query of this read failed, which ended its snapshot")
        try:
            return _rows(self._connection, cypher, parameters)
        except StoreError:
            self._failed = True
            raise

    def end(self) -> None:
        if not self._failed:
            _rows(self._connection, "ROLLBACK", {})


def _rows(connection: kuzu.Connection, cypher: str, parameters: Mapping[str, Any]) -> list[Row]:
    try:
        result = cast("kuzu.QueryResult", connection.execute(cypher, dict(parameters)))
        try:
            columns = result.get_column_names()
            rows: list[Row] = []
            while result.has_next():
                rows.append(dict(zip(columns, cast("list[Any]", result.get_next()), strict=True)))
            return rows
        finally:
            result.close()
    except (RuntimeError, UnicodeDecodeError) as error:
        raise StoreError(f"Kuzu refused a query: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """What Kuzu says, without the values it may quote from a memory."""
    message = str(error).strip()
    kind, _, detail = message.partition(":")
    return f"{kind}:{detail}" if kind in _TEXT_FREE else kind[:80]


# Errors about the text of a query, which never holds values: those travel as parameters.
_TEXT_FREE: Final = frozenset({"Parser exception", "Binder exception", "Catalog exception", "Transaction exception"})


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
