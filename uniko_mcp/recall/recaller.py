"""Recall, the way in: runs the channels for a query, fuses them and returns the evidence."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.models import time
from uniko_mcp.recall.candidates import find_candidates
from uniko_mcp.recall.cascade import LAST_PHASE, run_cascade
from uniko_mcp.recall.features import Signals, extract_features
from uniko_mcp.recall.fusion import Fusion, family_scores, fuse, squash
from uniko_mcp.recall.intent import Intent, ReadDates, read_intent
from uniko_mcp.recall.links import spread_activation
from uniko_mcp.recall.meaning import match_meaning
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.recall.reranker import MOST_RERANKED, Reranker
from uniko_mcp.recall.result import RecallBundle, RecallItem, RecallScope
from uniko_mcp.recall.scope import Scope, find_scope
from uniko_mcp.recall.selection import Candidate, Selection, covered, has_distinct, one_per_evidence
from uniko_mcp.recall.words import match_words
from uniko_mcp.store.index.documents import IndexDocument, Source
from uniko_mcp.store.index.rank_index import RankIndex

logger = logging.getLogger(__name__)

SAID: Final = frozenset({"Message", "Chunk", "Artifact"})
"""Kinds that hold what was said or read; all others are derived from it or decided by an agent."""
_READ_IN_FULL: Final = 4
"""Ranked candidates whose text is read, for each item asked for: pieces and repetitions fall away. When too few are
left, so many times more are read."""


class QueryEmbedder(Protocol):
    """Gives the vector of a query, or None with the reason in `notes` while there is no model."""

    def embed_query(self, text: str) -> NDArray[np.float32] | None: ...

    def notes(self) -> Sequence[str]: ...


class Recaller:
    """Answers queries from one index. Blocking; any thread may call it, never the event loop."""

    def __init__(
        self,
        index: RankIndex,
        embedder: QueryEmbedder,
        *,
        read_dates: ReadDates | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._read_dates = read_dates
        self._reranker = reranker

    def recall(self, query: RecallQuery) -> RecallBundle:
        """The best evidence for a query, the same for the same index.

        Raises:
            StoreError: The index is closed.
        """
        intent = self._intent(query)
        scope = find_scope(query, intent.windows, self._index.columns, self._index.labels)
        notes = [*self._embedder.notes(), *_notes(query, intent, scope)]
        if not intent.tokens and not scope.windowed:
            notes.append("The query has no words that tell memories apart, so nothing was searched.")
            return _bundle(query, (), Selection((), 0, False), 0.0, LAST_PHASE, scope, notes)
        signals = self._signals(intent, scope)
        rows = find_candidates(signals, self._index.labels)
        if not len(rows):
            return _bundle(query, (), Selection((), 0, False), 0.0, LAST_PHASE, scope, notes)
        fusion = fuse(extract_features(signals, rows, self._index.labels))
        ranked = self._ranked(rows, fusion, scope, limit=query.limit)
        if self._reranker is not None:
            ranked = self._reranked(ranked, intent, self._reranker)
            notes += self._reranker.notes()
        rarity = dict(zip(signals.words.terms, signals.words.idf.tolist(), strict=True))
        rarity |= {term: max(rarity.values(), default=1.0) for term in intent.tokens if term not in rarity}
        selection, phase = run_cascade(
            one_per_evidence(ranked), rarity, limit=query.limit, token_budget=query.token_budget
        )
        items = _items(selection, fusion, rows, query)
        coverage = covered(selection.chosen, rarity)
        return _bundle(query, items, selection, coverage, phase, scope, notes)

    def signals(self, query: RecallQuery) -> Signals:
        """What all channels find for a query, before it is ranked; the weights are learnt from this."""
        intent = self._intent(query)
        scope = find_scope(query, intent.windows, self._index.columns, self._index.labels)
        return self._signals(intent, scope)

    def _intent(self, query: RecallQuery) -> Intent:
        labels = self._index.labels
        roles = {name for _, name in labels.in_space("role")}
        senders = [name for _, name in labels.in_space("sender_name") if name not in roles]
        now = time.now() if query.reference_time is None else query.reference_time
        return read_intent(query, senders, now=now, read_dates=self._read_dates)

    def _signals(self, intent: Intent, scope: Scope) -> Signals:
        words = match_words(self._index, scope, intent.tokens)
        vector = self._embedder.embed_query(intent.text)
        meaning = None if vector is None else match_meaning(self._index, scope, vector)
        return Signals(scope, intent, words, meaning, spread_activation(self._index, scope, intent.entities))

    def _ranked(self, rows: NDArray[np.intp], fusion: Fusion, scope: Scope, *, limit: int) -> list[Candidate]:
        """The best candidates with their texts: as many as it takes for `limit` that do not repeat each other."""
        parents = scope.columns.records["parent"][rows]
        scores = family_scores(rows, parents, fusion.scores)
        order = np.lexsort((rows, -fusion.scores, -scores))
        wanted = limit * _READ_IN_FULL
        ranked = self._read(order[:wanted], rows, parents, scores)
        while wanted < len(order) and not has_distinct(ranked, limit):
            wanted *= _READ_IN_FULL
            ranked = self._read(order[:wanted], rows, parents, scores)
        return ranked

    def _read(
        self, order: NDArray[np.intp], rows: NDArray[np.intp], parents: NDArray[np.intp], scores: NDArray[np.float64]
    ) -> list[Candidate]:
        documents = self._index.documents([int(row) for row in rows[order]])
        return [
            Candidate(int(rows[place]), float(scores[place]), documents[int(rows[place])], int(parents[place]))
            for place in order
            if int(rows[place]) in documents
        ]

    def _reranked(self, ranked: list[Candidate], intent: Intent, reranker: Reranker) -> list[Candidate]:
        """The best candidates in the order of both judgements, each in standard deviations; the rest behind them."""
        best, rest = ranked[:MOST_RERANKED], ranked[MOST_RERANKED:]
        judged = reranker.scores(intent.text, [candidate.document.text for candidate in best])
        if judged is None or len(best) < 2:
            return ranked
        fused = np.array([candidate.score for candidate in best])
        both = _standardised(fused) + _standardised(np.array(judged))
        floor = rest[0].score if rest else float(fused.min())
        placed = [
            replace(candidate, score=floor + float(lead))
            for candidate, lead in zip(best, both - both.min(), strict=True)
        ]
        return [*sorted(placed, key=lambda candidate: (-candidate.score, candidate.row)), *rest]


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return (values - values.mean()) / (values.std() or 1.0)


def _notes(query: RecallQuery, intent: Intent, scope: Scope) -> list[str]:
    relative = any(window.relative for window in intent.windows)
    if scope.windowed:
        return ["Only memories of the time that the query names were searched."]
    if relative:
        return ["Nothing was said in the time that the query names; all times were searched."]
    return []


def _items(selection: Selection, fusion: Fusion, rows: NDArray[np.intp], query: RecallQuery) -> tuple[RecallItem, ...]:
    best = max((candidate.score for candidate in selection.chosen), default=0.0)
    places = {int(row): place for place, row in enumerate(rows)}
    return tuple(
        _item(candidate, best, fusion, places[candidate.row] if query.explain else None)
        for candidate in selection.chosen
    )


def _item(candidate: Candidate, best: float, fusion: Fusion, place: int | None) -> RecallItem:
    document = candidate.document
    explanation = None
    if place is not None:
        explanation = {name: float(values[place]) for name, values in fusion.contributions.items()}
    return RecallItem(
        kind=document.kind,
        id=document.id,
        text=document.text,
        score=squash(candidate.score, best),
        timestamp=document.timestamp,
        derived=document.kind not in SAID,
        sender=document.sender,
        session_id=document.session_id,
        sources=document.sources or _own_source(document),
        explanation=explanation,
    )


def _own_source(document: IndexDocument) -> tuple[Source, ...]:
    if document.kind == "Message":
        return (Source(document.id, document.session_id or None, document.sender or None),)
    if document.kind == "Artifact":
        return (Source(artifact_id=document.id),)
    return ()


def _bundle(
    query: RecallQuery,
    items: tuple[RecallItem, ...],
    selection: Selection,
    coverage: float,
    phase: int,
    scope: Scope,
    notes: Sequence[str],
) -> RecallBundle:
    return RecallBundle(
        items=items,
        coverage=coverage,
        phase=phase,
        tokens=selection.tokens,
        total_considered=int(scope.wanted.sum()),
        truncated=selection.truncated,
        scope=RecallScope(
            kinds=query.kinds,
            session_ids=query.session_ids,
            participants=query.participants,
            since=query.since,
            until=query.until,
            include_superseded=query.include_superseded,
        ),
        notes=tuple(notes),
    )
