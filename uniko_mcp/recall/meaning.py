"""The channel of meaning: how close each document's vector is to that of the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.recall.scope import Scope
from uniko_mcp.store.index.columns import NOWHERE
from uniko_mcp.store.index.labels import Labels
from uniko_mcp.store.index.rank_index import RankIndex

CHUNK: Final = "Chunk"


@dataclass(frozen=True, slots=True)
class Meaning:
    """Cosines over all rows.

    `own` is that of a document itself, `best` the largest among it and its chunks. Where there is no vector (not yet
    embedded, out of scope) both are `mean`, the mean of what is known, so that nothing is held against such a row;
    `spread` is the standard deviation. `known` tells where there is a vector.
    """

    own: NDArray[np.float32]
    best: NDArray[np.float32]
    known: NDArray[np.bool_]
    mean: float
    spread: float


def match_meaning(index: RankIndex, scope: Scope, query: NDArray[np.float32]) -> Meaning | None:
    """Compare with the readable rows; None when none of them has a vector."""
    holders = scope.columns.vector_rows
    compared = np.zeros(len(holders), dtype=bool)
    compared[holders[scope.readable]] = True
    cosines = index.cosines(query, np.flatnonzero(compared))
    if cosines is None:
        return None
    held = np.full(len(holders), np.nan, dtype=np.float32)
    held[compared] = cosines
    own = np.where(scope.readable, held[holders], np.nan)
    known = ~np.isnan(own)
    if not known.any():
        return None
    mean, spread = float(own[known].mean()), float(own[known].std())
    own[~known] = mean
    best = _with_chunks(own, known, scope, index.labels)
    return Meaning(own, best, known, mean, spread)


def _with_chunks(
    own: NDArray[np.float32], known: NDArray[np.bool_], scope: Scope, labels: Labels
) -> NDArray[np.float32]:
    records = scope.columns.records
    chunks = np.flatnonzero(known & (records["kind"] == labels.code("kind", CHUNK)) & (records["parent"] != NOWHERE))
    best = own.copy()
    np.maximum.at(best, records["parent"][chunks], own[chunks])
    return best
