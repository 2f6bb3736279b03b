"""Full text: which documents hold a term and how heavily, kept by SQLite's FTS5, scored with BM25 here.

FTS5 keeps the postings (incremental, transactional); its own `bm25()` gives one number for a whole query, where ranking
needs one for each term, so the postings are read and the arithmetic is done on arrays.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.store.index.documents import IndexDocument
from uniko_mcp.store.index.shape import split_code
from uniko_mcp.store.index.tokens import document_tokens

CODE_WEIGHT: Final = 0.3
"""A term in a fenced code block counts this much of one in prose, so that long listings do not drown what was said."""
CONTEXT_WEIGHT: Final = 0.5
"""A term in the session's topic or the heading above."""
MOST_POSTINGS: Final = 10_000
"""A term with more occurrences says next to nothing and costs milliseconds: it is left out."""

_FIELDS: Final = ("prose", "code", "context")
_POSTINGS: Final = """
SELECT doc * 4 + CASE col WHEN 'prose' THEN 0 WHEN 'code' THEN 1 ELSE 2 END FROM posting WHERE term = ? LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Fields:
    """The tokens of a document, field by field."""

    prose: list[str]
    code: list[str]
    context: list[str]

    @property
    def length(self) -> float:
        """The weighted number of tokens, which BM25 normalises by."""
        return len(self.prose) + CODE_WEIGHT * len(self.code) + CONTEXT_WEIGHT * len(self.context)


@dataclass(frozen=True, slots=True)
class Postings:
    """The rows of the documents that hold a term, ascending, and the term's weighted frequency in each."""

    rows: NDArray[np.intp]
    frequencies: NDArray[np.float64]


def fields_of(document: IndexDocument) -> Fields:
    """What of a document is indexed as words; the same document always gives the same."""
    prose, code = split_code(document.text)
    return Fields(
        document_tokens(prose), document_tokens(code), document_tokens(f"{document.topic} {document.heading}")
    )


def add_words(connection: sqlite3.Connection, row: int, fields: Fields) -> None:
    """Index a document's tokens under a row that has none."""
    connection.execute("INSERT INTO words (rowid, prose, code, context) VALUES (?, ?, ?, ?)", (row, *_joined(fields)))


def remove_words(connection: sqlite3.Connection, row: int, fields: Fields) -> None:
    """Take a document's tokens out again; they must be those it was added with."""
    connection.execute(
        "INSERT INTO words (words, rowid, prose, code, context) VALUES ('delete', ?, ?, ?, ?)", (row, *_joined(fields))
    )


def read_postings(connection: sqlite3.Connection, term: str, limit: int | None) -> Postings | None:
    """Where a term occurs; None when it occurs more than `limit` times."""
    found = connection.execute(_POSTINGS, (term, -1 if limit is None else limit + 1)).fetchall()
    if limit is not None and len(found) > limit:
        return None
    coded = np.fromiter((code for (code,) in found), dtype=np.int64, count=len(found))
    weights = np.array([1.0, CODE_WEIGHT, CONTEXT_WEIGHT])[coded & 3]
    rows, positions = np.unique(coded >> 2, return_inverse=True)
    frequencies = np.bincount(positions, weights=weights, minlength=len(rows)).astype(np.float64)
    return Postings(rows.astype(np.intp), frequencies)


def _joined(fields: Fields) -> tuple[str, ...]:
    return tuple(" ".join(getattr(fields, name)) for name in _FIELDS)
