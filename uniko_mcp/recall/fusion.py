"""How the features add up to one score: two sets of learnt weights, with and without vectors.

Learnt by `benchmarks/ranking.py`: a linear model that maximises the likelihood of the evidence among all messages of
its conversation (softmax loss, L2), on five conversations of LoCoMo (two people chatting over months) and five of BEAM
(a user and an assistant at technical work), each benchmark weighing half. Recall@10 on conversations left out of the
learning: .82 and .68 with MiniLM, .79 and .62 without vectors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

WITH_MEANING: Final[Mapping[str, float]] = {
    "words": 0.691,
    "words_before": 0.462,
    "words_after": -0.184,
    "words_around": 1.933,
    "words_covered": 1.302,
    "words_session": 1.809,
    "name_said": -0.667,
    "said_by_person": 1.629,
    "said_by_user": 0.489,
    "in_window": 4.389,
    "acknowledges": -0.226,
    "first_person": 0.647,
    "asks": -0.068,
    "names_time": 0.214,
    "names": 0.523,
    "numbers": 0.241,
    "attachment": 0.285,
    "instructs": 0.138,
    "names_time_asked": 1.615,
    "instructs_advice": 1.473,
    "size": 0.349,
    "excess": -0.829,
    "links": 0.071,
    "meaning": 3.232,
    "meaning_deviation": 0.181,
    "meaning_best": -0.390,
    "meaning_before": 0.451,
    "meaning_after": 1.163,
    "meaning_session": 4.159,
}

WITHOUT_MEANING: Final[Mapping[str, float]] = {
    "words": 2.166,
    "words_before": 0.949,
    "words_after": 0.683,
    "words_around": 1.824,
    "words_covered": 1.165,
    "words_session": 2.038,
    "name_said": -0.559,
    "said_by_person": 1.935,
    "said_by_user": 0.201,
    "in_window": 4.498,
    "acknowledges": -0.363,
    "first_person": 0.710,
    "asks": -0.088,
    "names_time": 0.264,
    "names": 0.416,
    "numbers": 0.312,
    "attachment": 0.329,
    "instructs": 0.151,
    "names_time_asked": 1.673,
    "instructs_advice": 1.720,
    "size": 0.034,
    "excess": -0.987,
    "links": 0.524,
}


PIECE_SHARE: Final = 0.3
"""Of 0, .15, .3, .6 and 1, those between .15 and .6 found most on both benchmarks."""
BOOK: Final = 1_000
"""Tokens, stop words aside. Of the messages of BEAM one in a hundred is half as long."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """The scores of the candidates, and what each feature contributed to them."""

    scores: NDArray[np.float64]
    contributions: Mapping[str, NDArray[np.float64]]


def fuse(features: Mapping[str, NDArray[np.float64]]) -> Fusion:
    """Weigh the features and add them up."""
    weights = WITH_MEANING if "meaning" in features else WITHOUT_MEANING
    contributions = {name: weight * features[name] for name, weight in weights.items()}
    return Fusion(np.sum(list(contributions.values()), axis=0), contributions)


def family_scores(
    rows: NDArray[np.intp], parents: NDArray[np.int32], scores: NDArray[np.float64], lengths: NDArray[np.float32]
) -> NDArray[np.float64]:
    """The scores with those of pieces brought down to what they are pieces of. `rows` ascend, `lengths` are in tokens.

    The weights are learnt on whole messages. A piece of one, or a claim made in it, is shorter and so looks better than
    it is: where its parent is a candidate too, it keeps only `PIECE_SHARE` of what it is ahead. A book of a message is
    none that the weights know: there the piece counts as it is.
    """
    places = np.searchsorted(rows, parents).clip(max=len(rows) - 1)
    has_parent = rows[places] == parents
    family = scores.copy()
    lead = np.zeros(len(rows))
    ahead = np.maximum(scores - scores[places], 0)
    np.maximum.at(lead, places[has_parent], ahead[has_parent])
    family += np.where(lengths > BOOK, 1.0, PIECE_SHARE) * lead
    family[has_parent] = family[places[has_parent]]
    return family


def squash(score: float, best: float) -> float:
    """A score as a number in (0, 1): half of the best one's odds for each step of ln 2 that it lies below."""
    odds = math.exp(max(score - best, -40.0))
    return odds / (1 + odds) * 2 * _BEST


_BEST: Final = 0.999
