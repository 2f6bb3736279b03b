"""The graph in Kuzu: the only module that imports it, so the one that another engine would replace.

Kuzu is used inside its safe region: plain tables, one writing connection, explicit transactions, no checkpoint while
anybody reads, and no trust in its files without the seal.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import kuzu

from uniko_mcp.errors import StoreError
from uniko_mcp.models.changes import ChangeSet, PutEdge, PutNode
from uniko_mcp.store.bulk import load
from uniko_mcp.store.durable import PRIVATE_FILE, make_directory
from uniko_mcp.store.gate import Gate
from uniko_mcp.store.schema import bring_up_to_date
from uniko_mcp.store.seal import Seal
from uniko_mcp.store.transaction import Transaction
from uniko_mcp.store.view import Row, View

T = TypeVar("T")

ENGINE: Final = f"kuzu {kuzu.__version__}"
FILE_NAME: Final = "db"

# Kuzu's own defaults reserve 8 TiB of address space and 80 % of the memory.
_BUFFER_POOL_BYTES: Final = 256 << 20
_ADDRESS_SPACE_BYTES: Final = 1 << 34
_THREADS: Final = 2

_STATEMENTS_KEPT: Final = 512
"""More than there are different texts of statements, so that hardly one is prepared twice."""


class UnopenableError(StoreError):
    """Kuzu cannot open its own files."""


_QUICK_LOG_BYTES: Final = 2 << 20
_QUICK_FILE_BYTES: Final = 128 << 20
"""What a checkpoint at the end may have to move, and how large the graph may be then: half a second's work."""


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
        self._idle: list[_Connection] = []
        self._is_open = False
        self._sizes: dict[str, int] = {}
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
        return Transaction(self._execute, self._size, self._committed)

    def load(self, records: Iterable[PutNode | PutEdge], sequence: int) -> None:
        """Fill an empty graph with nodes, then edges, as of this change set."""
        leftover = load(records, self.folder.with_name(f"{self.folder.name}.csv"), self._execute)
        transaction = self.transaction()
        transaction.add(ChangeSet(tuple(leftover)))
        transaction.commit(sequence)

    def checkpoint(self, patience: float | None = None) -> bool:
        """Move what was committed into the main file and seal it.

        Answers False when a reader did not leave within `patience` seconds; then nothing was done.
        """
        with self._gate.alone(patience) as alone:
            if not alone:
                return False
            Seal.break_(self.folder)
            self._execute("CHECKPOINT", {})
            self._sizes.clear()
            self._seal()
            return True

    def close(self) -> None:
        """Checkpoint, close and seal, where that is quick. Waits for the queries that are running.

        A process that is to end has two seconds. A checkpoint that is cut off leaves a file that nothing vouches for,
        so a long one is not begun: the file keeps its seal, and what it lacks is replayed from the journal.
        """
        with self._gate.alone():
            if self._is_open and not self._closes_quickly():
                self._execute("CALL force_checkpoint_on_close = false", {})
                self._release()
                return
            Seal.break_(self.folder)
            was_open = self._is_open
            self._release()
            if was_open and not self.log_bytes:  # with a log left, Kuzu could not write the file and did not say so
                self._seal()

    def _closes_quickly(self) -> bool:
        return self.log_bytes <= _QUICK_LOG_BYTES and self.bytes <= _QUICK_FILE_BYTES

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
            self._writer = _Connection(self._database)
        except RuntimeError as error:
            if _HELD in str(error):
                raise StoreError(
                    f"another process has {self.folder} open", next_step="Stop it, then start again"
                ) from error
            raise UnopenableError(f"Kuzu cannot open {self.folder}: {_reason(error)}") from error
        (self.folder / FILE_NAME).chmod(PRIVATE_FILE)
        try:
            self.sequence = bring_up_to_date(self._execute)
        except BaseException:
            self._release()
            raise
        self._is_open = True

    def _size(self, kind: str) -> int:
        """Nodes of this kind, as of some time since the last checkpoint: near enough to choose a statement by."""
        if kind not in self._sizes:
            [row] = self._execute(f"MATCH (n:{kind}) RETURN count(*) AS size", {})
            self._sizes[kind] = row["size"]
        return self._sizes[kind]

    def _committed(self, sequence: int) -> None:
        self.sequence = sequence

    def _seal(self) -> None:
        Seal.put(self.folder, self.folder / FILE_NAME, self.sequence)

    def _execute(self, cypher: str, parameters: Mapping[str, Any]) -> list[Row]:
        return list(self._writer.rows(cypher, parameters))

    @contextmanager
    def _connection(self) -> Generator[_Connection, None, None]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = _Connection(self._database)
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def _release(self) -> None:
        self._is_open = False
        while self._idle:
            self._idle.pop().close()
        self._writer.close()
        self._database.close()


class _Connection:
    """A connection of Kuzu's that prepares each statement once.

    Given as text, a statement is parsed and planned, then planned again with its values, and what was prepared is never
    let go: several times the work, and 9 kB for each call. A prepared one is planned anew at each call, so nothing of
    it grows old.
    """

    def __init__(self, database: kuzu.Database) -> None:
        connection = kuzu.Connection(database)

        def prepare(cypher: str) -> kuzu.PreparedStatement:
            statement = kuzu.PreparedStatement(connection, cypher)  # what `Connection.prepare` calls, with a warning
            if not statement.is_success():  # raised, so that it is not kept: what failed may pass
                raise RuntimeError(statement.get_error_message())
            return statement

        self._connection = connection
        self._prepare = lru_cache(_STATEMENTS_KEPT)(prepare)

    def rows(self, cypher: str, parameters: Mapping[str, Any]) -> Iterator[Row]:
        """The rows of a statement, as they are asked for.

        Raises:
            StoreError: Kuzu refused it.
        """
        try:
            statement = self._prepare(cypher) if parameters else cypher
            result = cast("kuzu.QueryResult", self._connection.execute(statement, dict(parameters)))
            try:
                columns = result.get_column_names()
                while result.has_next():
                    yield dict(zip(columns, cast("list[Any]", result.get_next()), strict=True))
            finally:
                result.close()
        except (RuntimeError, UnicodeDecodeError) as error:
            raise StoreError(f"Kuzu refused a query: {_reason(error)}") from error

    def run(self, cypher: str) -> None:
        """Run a statement that has no parameters and answers nothing."""
        for _ in self.rows(cypher, {}):
            pass

    def close(self) -> None:
        self._prepare.cache_clear()
        self._connection.close()


class _ReadSession:
    """A read-only transaction. A failed query ends it, and the queries after that are refused."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self._failed = False
        connection.run("BEGIN TRANSACTION READ ONLY")

    def rows(self, cypher: str, parameters: Mapping[str, Any]) -> Iterator[Row]:
        if self._failed:
            raise StoreError("an earlier query of this read failed, which ended its snapshot")
        try:
            yield from self._connection.rows(cypher, parameters)
        except StoreError:
            self._failed = True
            raise

    def end(self) -> None:
        with suppress(StoreError):  # some errors end the transaction, others do not
            self._connection.run("ROLLBACK")


def _reason(error: Exception) -> str:
    """What Kuzu says, without the values it may quote from a memory."""
    message = str(error).strip()
    kind, _, detail = message.partition(":")
    return f"{kind}:{detail}" if kind in _TEXT_FREE else kind[:80]


# Errors about the text of a query, which never holds values: those travel as parameters.
_TEXT_FREE: Final = frozenset({"Parser exception", "Binder exception", "Catalog exception", "Transaction exception"})


_HELD: Final = "Could not set lock"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
