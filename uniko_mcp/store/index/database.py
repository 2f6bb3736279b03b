"""The SQLite file of the rank index: its tables, one connection that writes and a few that read."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from uniko_mcp.errors import StoreClosedError, StoreError

FORMAT: Final = "4"
"""Raised whenever tables, tokens or columns change their meaning: an index of another format is thrown away."""

_TOKEN_CHARACTERS: Final = "!#$%&()*+,-./:;<=>?@[]^_`{|}~\\''"
"""FTS5's own tokenizer must only split at spaces, since the text it gets is already tokens: all punctuation belongs to
them (the quote twice, as SQL writes it)."""

_IDLE_READERS: Final = 4
"""Connections kept open for the next readers; more are opened, and closed again, when more read at once."""

_TABLES: Final = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE label (code INTEGER PRIMARY KEY, space TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (space, name));
CREATE TABLE document (
    row INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, fields TEXT NOT NULL,
    record BLOB NOT NULL, UNIQUE (kind, id)
);
CREATE TABLE origin (
    row INTEGER NOT NULL, session INTEGER NOT NULL, sender INTEGER NOT NULL, said_at INTEGER NOT NULL, message TEXT
);
CREATE INDEX origin_row ON origin (row);
CREATE INDEX origin_message ON origin (message);
CREATE TABLE entity_link (entity TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (entity, row)) WITHOUT ROWID;
CREATE INDEX entity_link_row ON entity_link (row);
CREATE VIRTUAL TABLE words USING fts5 (
    prose, code, context, content = '', tokenize = "ascii tokenchars '{_TOKEN_CHARACTERS}'"
);
CREATE VIRTUAL TABLE posting USING fts5vocab (words, instance);
"""


class Database:
    """Owns `rank.sqlite`. Derived data: a file that cannot be read is replaced by an empty one.

    What SQLite raises comes out as a StoreError; after `close`, every method raises StoreClosedError.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or start it.

        Raises:
            StoreError: There can be no such file, or it cannot be replaced.
        """
        self.path: Final = path
        self._write_lock = threading.RLock()
        self._pool = threading.Condition()
        self._reading = 0
        self._idle_readers: list[sqlite3.Connection] = []
        self._closed = False
        try:
            self._writer: Final = _connect(path) if self.sound() else self._create()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the rank index {str(path)!r} cannot be opened: {error}",
                next_step="Free disk space or mend the permissions; the index is made again from the memory",
            ) from error

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """A transaction: committed at the end, rolled back when the block raises. One at a time."""
        with self._write_lock, _store_errors(self.path):
            self._require_open()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """A connection for the block alone; sees what is committed and waits for nobody."""
        with _store_errors(self.path):
            connection = self._take_reader()
            try:
                yield connection
            finally:
                self._give_back(connection)

    def meta(self, name: str) -> str | None:
        """A value that `set_meta` stored."""
        with self.reading() as connection:
            row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def sound(self) -> bool:
        """Whether the file is a readable index of this format, and not closed."""
        if self._closed or not self.path.exists():
            return False
        try:
            with closing(sqlite3.connect(self.path)) as connection:
                row = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
                return row == (FORMAT,) and connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
        except sqlite3.DatabaseError:
            return False

    def clear(self) -> None:
        """Drop all documents, and with them every row number: a new `generation` begins."""
        with self.writing() as connection:
            for table in ("document", "origin", "entity_link", "label"):
                connection.execute(f"DELETE FROM {table}")
            connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
            set_meta(connection, "sequence", "0")
            set_meta(connection, "generation", uuid4().hex)

    def close(self) -> None:
        """Close when the write and the reads at hand are done.

        A connection that stayed open would, when it is closed, delete the log of a file that came after this one.
        """
        with self._write_lock, self._pool:
            self._closed = True
            self._pool.wait_for(lambda: not self._reading)
            for connection in (*self._idle_readers, self._writer):
                connection.close()
            self._idle_readers.clear()

    def _require_open(self) -> None:
        if self._closed:
            raise StoreClosedError("the rank index is closed")

    def _take_reader(self) -> sqlite3.Connection:
        with self._pool:
            self._require_open()
            connection = self._idle_readers.pop() if self._idle_readers else _connect(self.path, query_only=True)
            self._reading += 1
            return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._pool:
            if len(self._idle_readers) < _IDLE_READERS:
                self._idle_readers.append(connection)
            else:
                connection.close()
            self._reading -= 1
            self._pool.notify_all()

    def _create(self) -> sqlite3.Connection:
        self._discard()
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = _connect(self.path)
        with _closed_on_error(connection):
            connection.executescript(_TABLES)
            for name, value in (("format", FORMAT), ("sequence", "0"), ("generation", uuid4().hex)):
                set_meta(connection, name, value)
        return connection

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                self.path.with_name(self.path.name + suffix).unlink()


def set_meta(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Store a value under a name, in the transaction that is open."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))


@contextmanager
def _store_errors(path: Path) -> Generator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"the rank index {str(path)!r} failed: {error}") from error


def _connect(path: Path, *, query_only: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    with _closed_on_error(connection):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")  # derived: after a power failure it is replayed or built again
        connection.execute(f"PRAGMA query_only = {query_only}")
    return connection


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Generator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise
