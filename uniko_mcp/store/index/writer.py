"""Adds, replaces and removes documents in the tables of the rank index, inside a transaction that is open."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final
from zlib import crc32

import numpy as np

from uniko_mcp.store.index.columns import NOWHERE, UNKNOWN_TIME, ColumnTable, Origin, record_dtype
from uniko_mcp.store.index.documents import DocumentKey, IndexDocument
from uniko_mcp.store.index.fulltext import Fields, add_words, fields_of, remove_words
from uniko_mcp.store.index.labels import Labels, Space
from uniko_mcp.store.index.passages import passage_of
from uniko_mcp.store.index.shape import shape_of
from uniko_mcp.store.index.tokens import entity_key

MESSAGE: Final = "Message"
"""The kind whose documents are neighbours in their session."""

_PARENT: Final = "SELECT row FROM document WHERE kind IN ('Message', 'Artifact') AND id = ? ORDER BY kind DESC"


class DocumentWriter:
    """One transaction's changes. `stale_vectors` are the rows whose vector no longer fits; call `finish` at the end."""

    def __init__(self, connection: sqlite3.Connection, table: ColumnTable, labels: Labels) -> None:
        self.stale_vectors: Final[list[int]] = []
        self._connection = connection
        self._table = table
        self._labels = labels
        self._sessions: set[int] = set()
        self._origins: dict[int, list[Origin]] = {}

    def put(self, documents: Iterable[IndexDocument]) -> None:
        """Add documents, or replace those of the same kind and id. Parents come before what is a piece of them."""
        for document in sorted(documents, key=lambda document: bool(document.parent_id)):
            self._put(document)

    def delete(self, keys: Iterable[DocumentKey]) -> None:
        """Take documents out; unknown ones are passed over."""
        for key in keys:
            row, document = self._find(key)
            if document is not None:
                self._unindex(row, document)
                self._connection.execute("DELETE FROM document WHERE row = ?", (row,))
                self._table.remove(row)
                self.stale_vectors.append(row)

    def finish(self) -> None:
        """Link the messages of every session that changed to their neighbours, and put origins into the table."""
        self._table.link_neighbours(self._sessions - {NOWHERE}, self._labels.code("kind", MESSAGE))
        if self._origins:
            self._table.set_origins(self._origins, [origin for of_row in self._origins.values() for origin in of_row])

    def _put(self, document: IndexDocument) -> None:
        row, before = self._find(document.key)
        if before == document:
            return
        if before is None:
            row = len(self._table.columns())
        else:
            self._unindex(row, before)
            if passage_of(before) != passage_of(document):
                self.stale_vectors.append(row)
        fields = fields_of(document)
        record = self._record(document, fields)
        self._connection.execute(
            "INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?, ?, ?)",
            (row, document.kind, document.id, document.text, document.to_json(), record.tobytes()),
        )
        add_words(self._connection, row, fields)
        links = [(entity_key(name), row) for name in document.entities]
        self._connection.executemany("INSERT OR IGNORE INTO entity_link VALUES (?, ?)", links)
        if origins := self._origins_of(document, row):
            rows = [(*origin, message_id) for message_id, origin in origins]
            self._connection.executemany("INSERT INTO origin VALUES (?, ?, ?, ?, ?)", rows)
            self._origins[row] = list(dict.fromkeys(origin for _, origin in origins))
        self._table.set(row, record)
        self._sessions.add(self._labels.code("session", document.session_id))

    def _unindex(self, row: int, document: IndexDocument) -> None:
        remove_words(self._connection, row, fields_of(document))
        self._connection.execute("DELETE FROM entity_link WHERE row = ?", (row,))
        if self._connection.execute("DELETE FROM origin WHERE row = ?", (row,)).rowcount:
            self._origins[row] = []
        self._sessions.add(self._labels.code("session", document.session_id))

    def _find(self, key: DocumentKey) -> tuple[int, IndexDocument | None]:
        query = "SELECT row, fields, text FROM document WHERE kind = ? AND id = ?"
        found = self._connection.execute(query, key).fetchone()
        return (found[0], IndexDocument.from_json(found[1], found[2])) if found else (NOWHERE, None)

    def _label(self, space: Space, name: str) -> int:
        return self._labels.assign(self._connection, space, name)

    def _parent(self, id: str) -> int:
        found = self._connection.execute(_PARENT, (id,)).fetchone() if id else None
        return found[0] if found else NOWHERE

    def _origins_of(self, document: IndexDocument, row: int) -> list[tuple[str | None, Origin]]:
        """The messages that the document rests on and who said them, where that is not who said the document itself."""
        own = (document.session_id, document.sender_id)
        origins: list[tuple[str | None, Origin]] = []
        for source in document.sources:
            session, sender = source.session_id or "", source.sender or ""
            if (session, sender) != own:
                said_at = document.timestamp if source.said_at is None else source.said_at
                origin = (row, self._label("session", session), self._label("sender", sender), said_at)
                origins.append((source.message_id, origin))
        return origins

    def _record(self, document: IndexDocument, fields: Fields) -> np.void:
        record = np.zeros(1, dtype=record_dtype())[0]
        record["alive"] = True
        record["shares_vector"] = document.shares_vector
        record["kind"] = self._label("kind", document.kind)
        record["role"] = self._label("role", document.role)
        record["session"] = self._label("session", document.session_id)
        record["sender"] = self._label("sender", document.sender_id or document.sender)
        record["sender_name"] = self._label("sender_name", document.sender)
        record["owner"] = self._label("owner", document.owner)
        record["parent"] = self._parent(document.parent_id)
        record["previous"] = record["next"] = NOWHERE
        record["ordinal"] = document.ordinal
        record["tie"] = crc32("\0".join(document.key).encode("utf-8", "surrogatepass"))
        record["timestamp"] = document.timestamp
        for name in ("about_from", "about_to", "superseded_at"):
            time = getattr(document, name)
            record[name] = UNKNOWN_TIME if time is None else time
        record["length"] = fields.length
        record["prose"] = len(fields.prose)
        record["shape"] = shape_of(document.text).values()
        return record
