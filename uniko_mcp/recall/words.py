"""The channel of words: what each term of the query contributes to each document, by BM25.

BM25 after Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with fields weighted
into one frequency before saturation (BM25F, section 3.6). Document frequencies are those of the documents in scope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.recall.scope import Scope
from uniko_mcp.store.index.columns import NOWHERE
from uniko_mcp.store.index.fulltext import Postings
from uniko_mcp.store.index.rank_index import RankIndex

SATURATION: Final = 1.2
"""BM25's k1."""
LENGTH_NORMALISATION: Final = 0.5
"""BM25's b: .4 to .75 measured alike on short turns and long messages."""
MOST_TERMS: Final = 48
"""Terms of a query that are looked up; of longer ones the first."""


@dataclass(frozen=True, slots=True)
class WordMatches:
    """What the terms found. `rows` are the matching rows and the neighbours of matching messages, ascending.

    `gains[t, i]` is what term t adds to the score of `rows[i]`; the last column is zero and stands for rows that are
    not there. `idf[t]` is how rare the term is, `frequency[t]` in how many documents of the scope it occurs.
    """

    terms: tuple[str, ...]
    idf: NDArray[np.float64]
    frequency: NDArray[np.int64]
    rows: NDArray[np.intp]
    gains: NDArray[np.float64]

    def at(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The gains at any rows, of shape (terms, rows); zero where nothing matched or the row is NOWHERE."""
        if not len(self.rows):
            return np.zeros((len(self.terms), len(rows)))
        places = np.searchsorted(self.rows, rows).clip(max=len(self.rows) - 1)
        return self.gains[:, np.where(self.rows[places] == rows, places, len(self.rows))]


def look_up(index: RankIndex, terms: Sequence[str]) -> dict[str, Postings]:
    """Where the terms occur, whatever may be read. Those that occur everywhere are left out beside rarer ones."""
    found = {term: index.postings(term) for term in terms[:MOST_TERMS]}
    rare = {term: postings for term, postings in found.items() if postings is not None}
    if rare or not terms:
        return rare
    everywhere = index.postings(terms[0], limit=None)
    assert everywhere is not None
    return {terms[0]: everywhere}


def match_words(found: Mapping[str, Postings], scope: Scope) -> WordMatches:
    """What the terms that were looked up contribute to the readable rows."""
    kept = [(term, _readable(postings, scope)) for term, postings in found.items()]
    total = int(scope.readable.sum())
    frequency = np.array([len(postings.rows) for _, postings in kept], dtype=np.int64)
    idf = np.log1p((total - frequency + 0.5) / (frequency + 0.5))
    rows = _with_neighbours(np.concatenate([np.zeros(0, np.intp), *(postings.rows for _, postings in kept)]), scope)
    gains = np.zeros((len(kept), len(rows) + 1))
    norm = _length_norms(scope, rows)
    for place, (_, postings) in enumerate(kept):
        at = np.searchsorted(rows, postings.rows)
        frequencies = postings.frequencies
        gains[place, at] = idf[place] * frequencies * (SATURATION + 1) / (frequencies + norm[at])
    return WordMatches(tuple(term for term, _ in kept), idf, frequency, rows, gains)


def _readable(postings: Postings, scope: Scope) -> Postings:
    inside = postings.rows < len(scope.columns)  # documents that came in since the query began
    rows, frequencies = postings.rows[inside], postings.frequencies[inside]
    readable = scope.readable[rows]
    return Postings(rows[readable], frequencies[readable])


def _with_neighbours(rows: NDArray[np.intp], scope: Scope) -> NDArray[np.intp]:
    records = scope.columns.records
    around = np.concatenate([rows, records["previous"][rows], records["next"][rows]])
    found = np.zeros(len(scope.columns), dtype=bool)
    found[around[around != NOWHERE]] = True
    return np.flatnonzero(found & scope.readable)


def _length_norms(scope: Scope, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    lengths = scope.columns.records["length"]
    average = float(lengths[scope.readable].mean()) if scope.readable.any() else 1.0
    relative = lengths[rows] / (average or 1.0)
    return SATURATION * (1 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * relative)
