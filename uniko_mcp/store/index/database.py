"""The SQLite file of the rank index: its tables, one connection that writes and one for each thread that reads."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from uniko_mcp.errors import StoreError

FORMAT: Final = "1"
"""Raised whenever tables, tokens or columns change their meaning: an index of another format is thrown away."""

_TOKEN_CHARACTERS: Final = "!#$%&()*+,-./:;<=>?@[]^_`{|}~\\''"
"""FTS5's own tokenizer must only split at spaces, since the text it gets is already tokens: all punctuation belongs to
them (the quote twice, as SQL writes it)."""

_TABLES: Final = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE label (code INTEGER PRIMARY KEY, space TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (space, name));
CREATE TABLE document (
    row INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, fields TEXT NOT NULL,
    record BLOB NOT NULL, UNIQUE (kind, id)
);
CREATE TABLE entity_link (entity TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (entity, row)) WITHOUT ROWID;
CREATE INDEX entity_link_row ON entity_link (row);
CREATE VIRTUAL TABLE words USING fts5 (
    prose, code, context, content = '', tokenize = "ascii tokenchars '{_TOKEN_CHARACTERS}'"
);
CREATE VIRTUAL TABLE posting USING fts5vocab (words, instance);
"""


class Database:
    """Owns `rank.sqlite`. Derived data: a file that cannot be read is replaced by an empty one, and `fresh` says so."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self._write_lock = threading.RLock()
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._closed = False
        writer = self._open_existing()
        self.fresh: Final = writer is None
        self._writer: Final = writer or self._create()

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """A transaction: committed at the end, rolled back when the block raises. One at a time."""
        with self._write_lock:
            self._require_open()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

    def reading(self) -> sqlite3.Connection:
        """This thread's own connection; sees what is committed and waits for nobody."""
        self._require_open()
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = _connect(self.path)
            connection.execute("PRAGMA query_only = ON")
            self._local.connection = connection
            with self._write_lock:
                self._readers.append(connection)
        return connection

    def meta(self, name: str) -> str | None:
        """A value that `set_meta` stored."""
        row = self.reading().execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def clear(self) -> None:
        """Drop all documents, and with them every row number: a new `generation` begins."""
        with self.writing() as connection:
            for table in ("document", "entity_link", "label"):
                connection.execute(f"DELETE FROM {table}")
            connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
            set_meta(connection, "sequence", "0")
            set_meta(connection, "generation", uuid4().hex)

    def close(self) -> None:
        with self._write_lock:
            self._closed = True
            for connection in (*self._readers, self._writer):
                connection.close()
            self._readers.clear()

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("the rank index is closed")

    def _open_existing(self) -> sqlite3.Connection | None:
        """The connection to a sound index of this format, or None."""
        if not self.path.exists():
            return None
        connection = sqlite3.connect(self.path)
        try:
            row = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
            sound = row == (FORMAT,) and connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
        except sqlite3.DatabaseError:
            sound = False
        finally:
            connection.close()
        return _connect(self.path) if sound else None

    def _create(self) -> sqlite3.Connection:
        self._discard()
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = _connect(self.path)
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


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")  # derived: after a power failure it is replayed or built again
    return connection
