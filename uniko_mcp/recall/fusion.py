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
    "words": 0.722,
    "words_before": 0.476,
    "words_after": -0.191,
    "words_around": 1.936,
    "words_covered": 1.263,
    "words_session": 1.830,
    "name_said": -0.662,
    "said_by_person": 1.626,
    "said_by_user": 0.474,
    "in_window": 4.453,
    "acknowledges": -0.224,
    "first_person": 0.660,
    "asks": -0.070,
    "names_time": 0.211,
    "names": 0.456,
    "numbers": 0.248,
    "attachment": 0.279,
    "instructs": 0.163,
    "names_time_asked": 1.617,
    "names_asked": 1.839,
    "instructs_advice": 1.433,
    "size": 0.339,
    "excess": -0.823,
    "links": 0.065,
    "meaning": 3.213,
    "meaning_deviation": 0.181,
    "meaning_best": -0.377,
    "meaning_before": 0.429,
    "meaning_after": 1.170,
    "meaning_session": 4.106,
}

WITHOUT_MEANING: Final[Mapping[str, float]] = {
    "words": 2.197,
    "words_before": 0.958,
    "words_after": 0.679,
    "words_around": 1.820,
    "words_covered": 1.136,
    "words_session": 2.056,
    "name_said": -0.553,
    "said_by_person": 1.933,
    "said_by_user": 0.192,
    "in_window": 4.564,
    "acknowledges": -0.363,
    "first_person": 0.722,
    "asks": -0.089,
    "names_time": 0.254,
    "names": 0.351,
    "numbers": 0.319,
    "attachment": 0.322,
    "instructs": 0.172,
    "names_time_asked": 1.680,
    "names_asked": 1.922,
    "instructs_advice": 1.686,
    "size": 0.024,
    "excess": -0.978,
    "links": 0.517,
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
