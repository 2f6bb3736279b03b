"""The time that a query names with words such as "last week": whether only what is of that time is searched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.recall.features import Signals
from uniko_mcp.recall.query import Window
from uniko_mcp.recall.scope import Scope, in_windows
from uniko_mcp.store.index.labels import Labels

NEAR_IN_WORDS: Final = 0.5
NEAR_IN_MEANING: Final = 0.8
"""What of the best memory at any time the best of the named time must reach to fit the query. Measured on LoCoMo, the
time being a session: 97 in 100 of those with the evidence fit, 26 in 100 of the others (94 and 16 by words alone)."""

ONLY_THAT_TIME: Final = "Only memories of the time that the query names were searched."
ALL_TIMES: Final = "Nothing of the time that the query names fits it well; all times were searched."
NOTHING_THEN: Final = "There is no memory of the time that the query names."

_SAYING: Final = re.compile(
    r"\b(?:say|says|said|told|tell(?!\s+(?:me|us)\b)|tells|mention(?:s|ed)?|write|writes|wrote|written|talk(?:s|ed)?"
    r"|speak|speaks|spoke|spoken|ask(?:s|ed)?|discuss(?:es|ed)?)\b",
    re.IGNORECASE,
)
_OTHER_VERB: Final = re.compile(
    r"\b(?:am|is|are|was|were|be|been|did|do|does|had|has|have|will|would|went|came|got|took|made|saw|met|left|broke"
    r"|\w{3,}ed)\b",
    re.IGNORECASE,
)
"""Verbs that a time behind them belongs to, rather than to the saying: "she said it failed last week"."""


@dataclass(frozen=True, slots=True)
class Timeframe:
    """What of the scope is searched, and a note where a relative time of the query had a say in that."""

    scope: Scope
    notes: tuple[str, ...] = ()


def find_timeframe(signals: Signals, labels: Labels) -> Timeframe:
    """Narrow the scope to the relative times that a query names, if something of them fits the query.

    A query that is about nothing but a time is answered by all that is of that time.
    """
    scope, intent = signals.scope, signals.intent
    windows = [window for window in intent.windows if window.relative]
    if not windows:
        return Timeframe(scope)
    inside = in_windows(scope.columns, windows, said_only=_asks_what_was_said(intent.text, windows))
    if not intent.topic:
        found = bool((scope.wanted & inside).any())
        return Timeframe(scope.narrowed(inside, windowed=True), (ONLY_THAT_TIME if found else NOTHING_THEN,))
    if _fits(signals, inside & scope.wanted, labels):
        return Timeframe(scope.narrowed(inside, windowed=False), (ONLY_THAT_TIME,))
    return Timeframe(scope, (ALL_TIMES,))


def _asks_what_was_said(query: str, windows: Sequence[Window]) -> bool:
    """Whether the times say when something was said, as in "what was said last week?", and not what it is about."""
    sayings = list(_SAYING.finditer(query))
    if not sayings:
        return False
    for window in windows:
        place = query.find(window.phrase)
        before = [saying.end() for saying in sayings if saying.end() <= place]
        if before and _OTHER_VERB.search(query, before[-1], place):
            return False
    return True


def _fits(signals: Signals, inside: NDArray[np.bool_], labels: Labels) -> bool:
    """Whether something inside is said by those whom alone the query names, or comes near the best there is."""
    if signals.intent.names_only:
        senders = signals.scope.columns.records["sender_name"][inside]
        if np.isin(senders, labels.codes("sender_name", signals.intent.persons)).any():
            return True
    return _comes_near(_words_held(signals), inside, signals, NEAR_IN_WORDS) or _comes_near(
        _closeness(signals), inside, signals, NEAR_IN_MEANING
    )


def _comes_near(strengths: NDArray[np.float64], inside: NDArray[np.bool_], signals: Signals, share: float) -> bool:
    best = float(strengths[signals.scope.wanted].max(initial=0.0))
    return best > 0 and float(strengths[inside].max(initial=0.0)) >= share * best


def _words_held(signals: Signals) -> NDArray[np.float64]:
    """For each row, how rare the words of the query's topic are that it holds, summed; names of senders only alone."""
    words, intent = signals.words, signals.intent
    topic = intent.topic - intent.name_tokens or intent.topic
    places = [place for place, term in enumerate(words.terms) if term in topic]
    held = np.zeros(len(signals.scope.wanted))
    held[words.rows] = words.idf[places] @ (words.gains[places, :-1] > 0)
    return held


def _closeness(signals: Signals) -> NDArray[np.float64]:
    """For each row, how much closer than the mean its meaning is."""
    meaning = signals.meaning
    if meaning is None:
        return np.zeros(len(signals.scope.wanted))
    return np.maximum(meaning.best.astype(np.float64) - meaning.mean, 0.0)
