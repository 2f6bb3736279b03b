"""Recall, the way in: runs the channels for a query, fuses them and returns the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.recall.candidates import find_candidates
from uniko_mcp.recall.cascade import LAST_PHASE, run_cascade
from uniko_mcp.recall.features import Signals, extract_features
from uniko_mcp.recall.fusion import Fusion, family_scores, fuse, squash
from uniko_mcp.recall.intent import Intent, ReadDates, read_intent
from uniko_mcp.recall.links import spread_activation
from uniko_mcp.recall.meaning import match_meaning
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.recall.reranker import MOST_RERANKED, Judgement, Reranker
from uniko_mcp.recall.result import RecallBundle, RecallItem
from uniko_mcp.recall.scope import Scope, find_scope
from uniko_mcp.recall.selection import Candidate, Selection, covered, has_distinct, one_per_evidence
from uniko_mcp.recall.timeframe import Timeframe, find_timeframe
from uniko_mcp.recall.words import look_up, match_words
from uniko_mcp.store.index.columns import NOWHERE
from uniko_mcp.store.index.documents import IndexDocument, Source
from uniko_mcp.store.index.labels import Labels, Space
from uniko_mcp.store.index.rank_index import RankIndex

SAID: Final = frozenset({"Message", "Chunk", "Artifact"})
"""Kinds that hold what was said or read; all others are derived from it or decided by an agent."""
_NAMED: Final = 5
"""Names that a note repeats."""
_NO_WORDS: Final = "The query has no words that tell memories apart, so nothing was searched."
_PADDING: Final = "These cover the query, so what else matches but fits less well was left out; name kinds to have it."
_DIGITS: Final = 9
"""Of a score. What differs in later ones is tied: those depend on the order in which sums happened to be made."""
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
        scope = find_scope(query, self._index.columns, self._index.labels)
        if not intent.tokens and not intent.windows:
            return _bundle(query, (), Selection(), 0.0, LAST_PHASE, scope, [_NO_WORDS])
        signals, timeframe = self._search(intent, scope)
        scope = timeframe.scope
        notes = [*self._embedder.notes(), *timeframe.notes]  # now it is known whether the query could be embedded
        notes += _unknown(query, self._index.labels)
        rows = find_candidates(signals, self._index.labels)
        if not len(rows):
            return _bundle(query, (), Selection(), 0.0, LAST_PHASE, scope, notes)
        fusion = fuse(extract_features(signals, rows, self._index.labels))
        ranked = self._ranked(rows, fusion, scope, limit=query.limit)
        if self._reranker is not None:
            judgement = self._reranker.judge(intent.text, [each.document.text for each in ranked[:MOST_RERANKED]])
            ranked = _reranked(ranked, judgement)
            notes += judgement.notes
        rarity = dict(zip(signals.words.terms, signals.words.idf.tolist(), strict=True))
        rarity |= {term: max(rarity.values(), default=1.0) for term in intent.tokens if term not in rarity}
        selection, phase = run_cascade(
            one_per_evidence(ranked), rarity, limit=query.limit, token_budget=query.token_budget
        )
        if selection.padding:
            notes.append(_PADDING)
        items = _items(selection, fusion, rows, query)
        coverage = covered(selection.chosen, rarity)
        return _bundle(query, items, selection, coverage, phase, scope, notes)

    def signals(self, query: RecallQuery) -> Signals:
        """What all channels find for a query, before it is ranked; the weights are learnt from this."""
        intent = self._intent(query)
        return self._search(intent, find_scope(query, self._index.columns, self._index.labels))[0]

    def _intent(self, query: RecallQuery) -> Intent:
        labels = self._index.labels
        roles = {name for _, name in labels.in_space("role")}
        senders = [name for _, name in labels.in_space("sender_name") if name not in roles]
        return read_intent(query, senders, now=query.moment, read_dates=self._read_dates)

    def _search(self, intent: Intent, scope: Scope) -> tuple[Signals, Timeframe]:
        """What the channels find in what of the scope the time that the query names leaves."""
        postings = look_up(self._index, intent.tokens)
        vector = self._embedder.embed_query(intent.text)

        def signals_in(scope: Scope) -> Signals:
            meaning = None if vector is None else match_meaning(self._index, scope, vector)
            links = spread_activation(self._index, scope, intent.entities)
            return Signals(scope, intent, match_words(postings, scope), meaning, links)

        signals = signals_in(scope)
        timeframe = find_timeframe(signals, self._index.labels)
        return signals if timeframe.scope is scope else signals_in(timeframe.scope), timeframe

    def _ranked(self, rows: NDArray[np.intp], fusion: Fusion, scope: Scope, *, limit: int) -> list[Candidate]:
        """The best candidates with their texts: as many as it takes to know `limit` that do not repeat each other, and
        whether there are more. The newer ones of those that are tied come first, and then kind and id decide."""
        parents, lengths, times = (scope.columns.records[name][rows] for name in ("parent", "prose", "timestamp"))
        scores = family_scores(rows, parents, fusion.scores, lengths).round(_DIGITS)
        order, ties = _order(scores, fusion.scores.round(_DIGITS), times)
        rows, scores, parents = rows[order], scores[order], parents[order]
        read = 0
        ranked: list[Candidate] = []
        while read < len(rows) and not has_distinct(ranked, limit + 1):
            last = min(max(limit, read) * _READ_IN_FULL, len(rows)) - 1
            read = int((ties <= ties[last]).sum())
            ranked = self._read(rows[:read], scores[:read], parents[:read], ties[:read])
        return ranked

    def _read(
        self,
        rows: NDArray[np.intp],
        scores: NDArray[np.float64],
        parents: NDArray[np.int32],
        ties: NDArray[np.intp],
    ) -> list[Candidate]:
        documents = self._index.documents(rows.tolist())
        found = [
            (tie, documents[row].key, Candidate(row, score, documents[row], parent))
            for row, score, parent, tie in zip(*(each.tolist() for each in (rows, scores, parents, ties)), strict=True)
            if row in documents
        ]
        return [candidate for *_, candidate in sorted(found, key=lambda each: each[:2])]


def _order(
    scores: NDArray[np.float64], own: NDArray[np.float64], said: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places from the best to the worst, the newest first; and for each of them a number that those tied share."""
    order = np.lexsort((-said, -own, -scores))
    differs = np.any([values[order][1:] != values[order][:-1] for values in (scores, own, said)], axis=0)
    return order, np.concatenate([np.zeros(1, np.intp), np.cumsum(differs)])


def _unknown(query: RecallQuery, labels: Labels) -> list[str]:
    """Which of the filters' names no memory has: nothing being found may be for a slip of the pen."""
    spaces: tuple[Space, ...] = ("sender_name", "sender")
    people = [name for name in query.participants if not any(labels.alike(space, [name]) for space in spaces)]
    sessions = [id for id in query.session_ids or () if labels.code("session", id) == NOWHERE]
    notes: list[str] = []
    if people:
        notes.append(f"No memory comes from {', '.join(people[:_NAMED])}.")
    if sessions:
        notes.append(f"No memory comes from conversation {', '.join(sessions[:_NAMED])}.")
    return notes


def _reranked(ranked: list[Candidate], judgement: Judgement) -> list[Candidate]:
    """The best candidates in the order of both judgements, each in standard deviations; the rest behind them."""
    if not judgement.scores:
        return ranked
    best, rest = ranked[: len(judgement.scores)], ranked[len(judgement.scores) :]
    fused = np.array([candidate.score for candidate in best])
    judged = _standardised(np.array(judgement.scores))
    both = _standardised(fused) + judged
    floor = rest[0].score if rest else float(fused.min())
    placed = [
        replace(candidate, score=floor + float(lead), judgement=float(share))
        for candidate, lead, share in zip(best, both - both.min(), judged, strict=True)
    ]
    return [*sorted(placed, key=lambda candidate: -candidate.score), *rest]


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return (values - values.mean()) / (values.std() or 1.0)


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
        if candidate.judgement is not None:
            explanation["cross_encoder"] = candidate.judgement
    return RecallItem(
        kind=document.kind,
        id=document.id,
        text=document.text,
        score=squash(candidate.score, best),
        timestamp=_shown_time(document),
        derived=document.kind not in SAID,
        sender=document.sender,
        session_id=document.session_id,
        sources=document.sources or _own_source(document),
        explanation=explanation,
    )


def _shown_time(document: IndexDocument) -> int:
    return document.about_from if document.kind == "Fact" and document.about_from is not None else document.timestamp


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
        notes=tuple(notes),
    )
