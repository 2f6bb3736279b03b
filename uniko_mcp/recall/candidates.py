"""Which documents are worth the full set of features: the best of every channel, or simply all while they are few."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.recall.features import Signals, content_gains
from uniko_mcp.recall.scope import in_windows
from uniko_mcp.store.index.columns import Records
from uniko_mcp.store.index.labels import Labels

FEW: Final = 1_500
"""Up to so many documents in scope all are candidates."""
BEST_OF_CHANNEL: Final = 400

CLOSE: Final = 1.0
"""Standard deviations above the mean cosine from which meaning alone makes a document an answer. The closer one of two
lies just there, and a single one at the mean."""
_ROUNDING: Final = 1e-6


def find_candidates(signals: Signals, labels: Labels) -> NDArray[np.intp]:
    """The rows to rank, ascending: wanted ones for which at least one channel speaks."""
    wanted = signals.scope.wanted
    named = wanted & _said_by_the_named(signals, labels)
    touched = _touched(signals) | named
    if int(wanted.sum()) <= FEW:
        return np.flatnonzero(touched & wanted)
    records = signals.scope.columns.records
    chosen = np.zeros(len(wanted), dtype=bool)
    word_rows = signals.words.rows
    chosen[_best(word_rows, content_gains(signals, word_rows).sum(axis=0), records)] = True
    if signals.meaning is not None:
        close = np.flatnonzero(touched & wanted & signals.meaning.known)
        chosen[_best(close, signals.meaning.best[close], records)] = True
    chosen[list(signals.links)] = True
    chosen[_latest(named, records)] = True
    if signals.scope.windowed:
        chosen[_latest(wanted, records)] = True
    leaders = np.flatnonzero(chosen)
    for name in ("previous", "next", "parent"):
        neighbours = records[name][leaders]
        chosen[neighbours[neighbours >= 0]] = True
    return np.flatnonzero(chosen & touched & wanted)


def _touched(signals: Signals) -> NDArray[np.bool_]:
    """For each row, whether a channel speaks for it: never everything just because nothing fits."""
    touched = np.zeros(len(signals.scope.wanted), dtype=bool)
    touched[signals.words.rows] = True
    touched[list(signals.links)] = True
    if signals.meaning is not None:
        meaning = signals.meaning
        touched |= meaning.known & (meaning.best >= meaning.mean + CLOSE * meaning.spread - _ROUNDING)
    if signals.scope.windowed:
        touched |= signals.scope.wanted
    windows = [window for window in signals.intent.windows if not window.relative]
    return touched | in_windows(signals.scope.columns, windows)


def _said_by_the_named(signals: Signals, labels: Labels) -> NDArray[np.bool_]:
    """What the persons said whom the query names, where it says nothing else: "What did Ana say?"."""
    senders = signals.scope.columns.records["sender_name"]
    if not signals.intent.names_only:
        return np.zeros(len(senders), dtype=bool)
    return np.isin(senders, labels.codes("sender_name", signals.intent.persons))


def _latest(rows: NDArray[np.bool_], records: Records) -> NDArray[np.intp]:
    return _best(np.flatnonzero(rows), records["timestamp"][rows], records)


def _best(rows: NDArray[np.intp], strengths: NDArray[Any], records: Records) -> NDArray[np.intp]:
    """The strongest rows; of equals at the cut the newer ones, and then always the same."""
    if len(rows) <= BEST_OF_CHANNEL:
        return rows
    cut = np.partition(strengths, -BEST_OF_CHANNEL)[-BEST_OF_CHANNEL]
    above, equal = rows[strengths > cut], rows[strengths == cut]
    order = np.lexsort((records["tie"][equal], -records["timestamp"][equal]))
    return np.concatenate([above, equal[order[: BEST_OF_CHANNEL - len(above)]]])
