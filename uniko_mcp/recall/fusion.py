"""How the features add up to one score: two sets of learnt weights, with and without vectors.

Learnt by `benchmarks/ranking.py`: a linear model that maximises the likelihood of the evidence among all messages of
its conversation (softmax loss, L2), on five conversations of LoCoMo (two people chatting over months) and five of BEAM
(a user and an assistant at technical work), each benchmark weighing half. Recall@10 on conversations left out of the
learning: .81 and .67 with MiniLM, .78 and .61 without vectors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

WITH_MEANING: Final[Mapping[str, float]] = {
    "words": 0.973,
    "words_before": 0.393,
    "words_after": -0.184,
    "words_around": 1.358,
    "words_covered": 1.424,
    "words_session": 1.280,
    "name_said": -0.708,
    "said_by_person": 1.516,
    "said_by_user": 0.681,
    "in_window": 4.811,
    "acknowledges": -0.198,
    "first_person": 0.591,
    "asks": -0.089,
    "names_time": 0.204,
    "names": 0.602,
    "numbers": 0.281,
    "attachment": 0.231,
    "instructs": 0.145,
    "names_time_asked": 1.642,
    "instructs_advice": 1.494,
    "size": 0.393,
    "excess": -0.841,
    "links": 0.031,
    "meaning": 2.232,
    "meaning_deviation": 0.176,
    "meaning_best": 0.237,
    "meaning_before": 0.441,
    "meaning_after": 1.170,
    "meaning_session": 4.754,
}

WITHOUT_MEANING: Final[Mapping[str, float]] = {
    "words": 2.142,
    "words_before": 0.953,
    "words_after": 0.674,
    "words_around": 1.855,
    "words_covered": 1.139,
    "words_session": 2.067,
    "name_said": -0.529,
    "said_by_person": 1.937,
    "said_by_user": 0.206,
    "in_window": 4.473,
    "acknowledges": -0.365,
    "first_person": 0.706,
    "asks": -0.081,
    "names_time": 0.251,
    "names": 0.421,
    "numbers": 0.307,
    "attachment": 0.337,
    "instructs": 0.157,
    "names_time_asked": 1.680,
    "instructs_advice": 1.725,
    "size": 0.031,
    "excess": -0.981,
    "links": 0.502,
}


PIECE_SHARE: Final = 0.3
"""Of 0, .15, .3, .6 and 1, those between .15 and .6 found most on both benchmarks."""


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
    rows: NDArray[np.intp], parents: NDArray[np.int32], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The scores with those of pieces brought down to what they are pieces of. `rows` ascend.

    The weights are learnt on whole messages. A piece of one, or a claim made in it, is shorter and so looks better than
    it is: where its parent is a candidate too, it keeps only `PIECE_SHARE` of what it is ahead.
    """
    places = np.searchsorted(rows, parents).clip(max=len(rows) - 1)
    has_parent = rows[places] == parents
    family = scores.copy()
    lead = np.zeros(len(rows))
    ahead = np.maximum(scores - scores[places], 0)
    np.maximum.at(lead, places[has_parent], ahead[has_parent])
    family += PIECE_SHARE * lead
    family[has_parent] = family[places[has_parent]]
    return family


def squash(score: float, best: float) -> float:
    """A score as a number in (0, 1): half of the best one's odds for each step of ln 2 that it lies below."""
    odds = math.exp(max(score - best, -40.0))
    return odds / (1 + odds) * 2 * _BEST


_BEST: Final = 0.999
