"""What the tables of the rank index say of words, links and documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from uniko_mcp.store.index.database import Database
from uniko_mcp.store.index.documents import IndexDocument
from uniko_mcp.store.index.fulltext import MOST_POSTINGS, Postings, read_postings

_MOST_LINKS: Final = 2_000
"""An entity that is mentioned more often than this leads nowhere in particular."""
_ROWS_PER_QUERY: Final = 500


class Lookups:
    """The questions that need the tables alone. `RankIndex` sets both attributes, again where the files change."""

    _database: Database
    _common: set[str]

    def postings(self, term: str, *, limit: int | None = MOST_POSTINGS) -> Postings | None:
        """The documents that hold a token; None when it occurs more than `limit` times.

        A term that was found to be so common once stays so until the index is opened again or rebuilt.
        """
        if limit is not None and term in self._common:
            return None
        with self._database.reading() as connection:
            postings = read_postings(connection, term, limit)
        if postings is None:
            self._common.add(term)
        return postings

    def known_entities(self, entities: Sequence[str]) -> list[str]:
        """Those of the entity keys that any document mentions."""
        query = "SELECT 1 FROM entity_link WHERE entity = ? LIMIT 1"
        with self._database.reading() as connection:
            return [entity for entity in entities if connection.execute(query, (entity,)).fetchone()]

    def mentions(self, entity: str) -> list[int]:
        """The rows of the documents that mention an entity, ascending; none for one that is mentioned everywhere."""
        query = "SELECT row FROM entity_link WHERE entity = ? LIMIT ?"
        with self._database.reading() as connection:
            rows = [row for (row,) in connection.execute(query, (entity, _MOST_LINKS + 1))]
        return rows if len(rows) <= _MOST_LINKS else []

    def entities_of(self, rows: Sequence[int]) -> dict[int, list[str]]:
        """The keys of the entities that the documents at these rows mention."""
        found: dict[int, list[str]] = {}
        query = "SELECT row, entity, '' FROM entity_link WHERE row IN ({}) ORDER BY row, entity"
        for row, entity, _ in self._select_rows(query, rows):
            found.setdefault(row, []).append(entity)
        return found

    def evidence_of(self, rows: Sequence[int]) -> dict[int, list[int]]:
        """The rows of the messages that the documents at these rows rest on, each but for itself."""
        named = {
            row: [source.message_id for source in document.sources if source.message_id not in (None, document.id)]
            for row, document in self.documents(rows).items()
        }
        ids = list(dict.fromkeys(id for of_one in named.values() for id in of_one))
        query = "SELECT row, id, '' FROM document WHERE kind = 'Message' AND id IN ({})"
        row_of = {id: row for row, id, _ in self._select_rows(query, ids)}
        return {row: [row_of[id] for id in of_one if id in row_of] for row, of_one in named.items()}

    def documents(self, rows: Sequence[int]) -> dict[int, IndexDocument]:
        """The documents at these rows; rows that were deleted meanwhile are missing."""
        query = "SELECT row, fields, text FROM document WHERE row IN ({})"
        return {row: IndexDocument.from_json(fields, text) for row, fields, text in self._select_rows(query, rows)}

    def _select_rows(self, query: str, keys: Sequence[int | str | None]) -> Iterator[tuple[int, str, str]]:
        remaining = iter(keys)
        while some := tuple(islice(remaining, _ROWS_PER_QUERY)):
            with self._database.reading() as connection:
                found = connection.execute(query.format(",".join("?" * len(some))), some).fetchall()
            yield from found
