"""What speaks for a document as evidence, as numbers that mean the same for every query and corpus.

Words, meaning, links and the shape of texts are made comparable within the query: divided by the best, or as deviations
from the mean. What a corpus is like (short turns or long replies, people or an assistant) enters only through such
numbers, never as a setting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.recall.intent import Intent
from uniko_mcp.recall.meaning import Meaning
from uniko_mcp.recall.scope import Scope, in_windows
from uniko_mcp.recall.words import LENGTH_NORMALISATION, SATURATION, WordMatches
from uniko_mcp.store.index.columns import NOWHERE
from uniko_mcp.store.index.labels import Labels
from uniko_mcp.store.index.shape import TRAITS
from uniko_mcp.store.index.writer import MESSAGE

SHORT_TEXT: Final = 25
"""Tokens. Up to here a longer text says more; beyond, it says less to the point."""
PREVIOUS_SHARE: Final = 0.5
NEXT_SHARE: Final = 0.4
"""What a term counts when it stands in the message before (the question that is answered) or after."""


@dataclass(frozen=True, slots=True)
class Signals:
    """Everything the channels found for one query."""

    scope: Scope
    intent: Intent
    words: WordMatches
    meaning: Meaning | None
    links: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Around:
    """For each candidate, the message it stands for and the neighbours of that; NOWHERE where there is none."""

    anchor: NDArray[np.intp]
    before: NDArray[np.intp]
    after: NDArray[np.intp]


def extract_features(signals: Signals, rows: NDArray[np.intp], labels: Labels) -> dict[str, NDArray[np.float64]]:
    """Each feature's value for each of the candidate rows."""
    around = _around(signals.scope, rows, labels)
    features = _word_features(signals, rows, around)
    features |= _talk_features(signals, rows, labels)
    features |= _shape_features(signals, rows)
    features["links"] = _link_feature(signals, rows)
    if signals.meaning is not None:
        features |= _meaning_features(signals.meaning, signals.scope, rows, around)
    return features


def _around(scope: Scope, rows: NDArray[np.intp], labels: Labels) -> Around:
    records = scope.columns.records
    message = labels.code("kind", MESSAGE)
    parents = records["parent"][rows]
    of_message = (parents != NOWHERE) & (records["kind"][parents] == message) & records["alive"][parents]
    anchor = np.where(of_message, parents, rows).astype(np.intp)
    before, after = (records[name][anchor].astype(np.intp) for name in ("previous", "next"))
    linked = records["kind"][anchor] == message
    return Around(anchor, np.where(linked, before, NOWHERE), np.where(linked, after, NOWHERE))


def content_gains(signals: Signals, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """The gains of the terms that are not just a sender's name; of all terms when there are no others."""
    return signals.words.at(rows)[_content_terms(signals)]


def _content_terms(signals: Signals) -> NDArray[np.intp]:
    terms = signals.words.terms
    content = [place for place, term in enumerate(terms) if term not in signals.intent.name_tokens]
    return np.array(content or range(len(terms)), dtype=np.intp)


def _fused(own: NDArray[np.float64], before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each term where it counts most: in the text itself, the message before or the one after; summed over terms."""
    return np.maximum(own, np.maximum(PREVIOUS_SHARE * before, NEXT_SHARE * after)).sum(axis=0)


def _word_features(signals: Signals, rows: NDArray[np.intp], around: Around) -> dict[str, NDArray[np.float64]]:
    own, before, after = (content_gains(signals, some) for some in (rows, around.before, around.after))
    idf = signals.words.idf[_content_terms(signals)]
    top = _peak(own.sum(axis=0))
    fused = _fused(own, before, after)
    together = (own > 0) | (before > 0) | (after > 0)
    return {
        "words": own.sum(axis=0) / top,
        "words_before": before.sum(axis=0) / top,
        "words_after": after.sum(axis=0) / top,
        "words_around": fused / _peak(fused),
        "words_covered": idf @ together / (idf.sum() or 1.0),
        "words_session": _session_scores(signals)[_session_places(signals, around.anchor)],
        "name_said": np.where(_one_person(signals), _name_gains(signals, rows) > 0, 0.0).astype(np.float64),
    }


def _session_places(signals: Signals, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    return signals.scope.columns.records["session"][rows].astype(np.intp) + 1


def _session_scores(signals: Signals) -> NDArray[np.float64]:
    """BM25 of whole sessions, the best being 1, by session code + 1; place 0 is for documents without a session.

    A term's frequency in a session is the number of its documents that hold the term.
    """
    scope, words = signals.scope, signals.words
    records = scope.columns.records
    places = records["session"].astype(np.intp) + 1
    lengths = np.bincount(places[scope.readable], weights=records["length"][scope.readable], minlength=places.max() + 1)
    sessions = max(1, int((lengths[1:] > 0).sum()))
    average = lengths[1:].sum() / sessions or 1.0
    norm = SATURATION * (1 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * lengths / average)
    scores = np.zeros(len(lengths))
    for gains in words.gains[:, :-1]:
        frequency = np.bincount(places[words.rows[gains > 0]], minlength=len(lengths)).astype(np.float64)
        held = int((frequency[1:] > 0).sum())
        rarity = math.log1p((sessions - held + 0.5) / (held + 0.5))
        scores += rarity * frequency * (SATURATION + 1) / (frequency + norm)
    scores[0] = 0.0
    return scores / _peak(scores)


def _one_person(signals: Signals) -> bool:
    return len(signals.intent.persons) == 1


def _name_gains(signals: Signals, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    names = [place for place, term in enumerate(signals.words.terms) if term in signals.intent.name_tokens]
    return signals.words.at(rows)[names].sum(axis=0) if names else np.zeros(len(rows))


def _talk_features(signals: Signals, rows: NDArray[np.intp], labels: Labels) -> dict[str, NDArray[np.float64]]:
    records = signals.scope.columns.records
    person = labels.code("sender_name", signals.intent.persons[0]) if _one_person(signals) else NOWHERE
    user = labels.code("role", "user")
    others = (records["role"] != user) & (records["role"] != NOWHERE) & signals.scope.readable
    mixed = user != NOWHERE and bool(others.any())
    said_by = (records["sender_name"][rows] == person) & (person != NOWHERE)
    windows = [window for window in signals.intent.windows if not window.relative]
    return {
        "said_by_person": said_by.astype(np.float64),
        "said_by_user": ((records["role"][rows] == user) & mixed).astype(np.float64),
        "in_window": in_windows(signals.scope.columns, windows)[rows].astype(np.float64),
    }


def _shape_features(signals: Signals, rows: NDArray[np.intp]) -> dict[str, NDArray[np.float64]]:
    records = signals.scope.columns.records
    size = np.log1p(records["prose"][rows].astype(np.float64))
    shape = records["shape"][rows].astype(np.float64)
    traits = {name: shape[:, place] for place, name in enumerate(TRAITS)}
    return {
        **traits,
        "names_time_asked": traits["names_time"] * signals.intent.asks_when,
        "instructs_advice": traits["instructs"] * signals.intent.wants_advice,
        "size": np.minimum(size, math.log(SHORT_TEXT)),
        "excess": np.maximum(size - math.log(SHORT_TEXT), 0),
    }


def _link_feature(signals: Signals, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.array([signals.links.get(int(row), 0.0) for row in rows])


def _meaning_features(
    meaning: Meaning, scope: Scope, rows: NDArray[np.intp], around: Around
) -> dict[str, NDArray[np.float64]]:
    own = meaning.own.astype(np.float64)
    sessions = scope.columns.records["session"].astype(np.intp) + 1
    closest = np.full(sessions.max() + 1, -1.0)
    np.maximum.at(closest, sessions[meaning.known], own[meaning.known])
    places = sessions[around.anchor]
    return {
        "meaning": own[rows],
        "meaning_deviation": (own[rows] - meaning.mean) / (meaning.spread or 1.0),
        "meaning_best": meaning.best[rows].astype(np.float64),
        "meaning_before": np.where(around.before == NOWHERE, 0.0, own[around.before]),
        "meaning_after": np.where(around.after == NOWHERE, 0.0, own[around.after]),
        "meaning_session": np.where(places == 0, own[rows], closest[places]),  # without a session it is its own
    }


def _peak(values: NDArray[np.float64]) -> float:
    return float(values.max(initial=0.0)) or 1.0
