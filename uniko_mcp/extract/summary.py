"""The gist of a conversation: what was claimed most centrally, in the order it was said."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import groupby
from typing import Final

from uniko_mcp.extract.extraction import extract
from uniko_mcp.extract.sentences import sentences
from uniko_mcp.extract.wordlist import words
from uniko_mcp.models.names import fold

METHOD: Final = "lexrank"

_DAMPING: Final = 0.85  # the share of a step that follows the links, as in PageRank
_STEPS: Final = 50
_CONVERGED: Final = 1e-6
_ALIKE: Final = 0.6  # cosine from which two sentences say the same
_MOST_SENTENCES: Final = 400  # the similarity matrix is quadratic; beyond this the richest sentences are ranked
_SURE_ENOUGH: Final = 0.6  # the confidence from which a claim is worth a line
_TERM: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[\w']+")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_STOP_WORDS: Final = words(
    """
    a about after all also am an and any are as at be because been before but by can could did do does don't for
    from get got had has have he her him his how i i'm i've if in into is it it's its just like me more my no not
    now of on one or our out really she so some than that that's the their them then there they this to too up us
    very was we we're were what when which who will with would you you're your
    """
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that one participant said at an instant, in microseconds UTC."""

    speaker: str
    text: str
    at: int
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """`text` has a line for each sentence chosen; `turns` are the positions of the turns they come from."""

    text: str
    turns: tuple[int, ...]
    method: str = METHOD


@dataclass(frozen=True, slots=True)
class _Sentence:
    turn: int
    line: str
    terms: Counter[str]
    numbers: frozenset[str]


def summarize(turns: Sequence[Turn], *, zone: tzinfo = UTC, limit: int = 1_200) -> Summary:
    """The sentences that the others are most alike to, within `limit` characters; empty when nothing was said.

    A line is what the sentence claims, with names for pronouns and dates for words like "yesterday"; only where
    nothing is claimed, as in other languages than English, it is the sentence itself behind its speaker's name.

    Continuous LexRank (Erkan and Radev 2004, Journal of Artificial Intelligence Research 22, section 3): the
    stationary distribution of a random walk over the sentences, whose steps are weighted by their cosine similarity
    over tf-idf. A sentence too much like one chosen before is passed over, unless the two differ in a number.
    """
    found = _richest(_claimed(turns, zone) or _said(turns))
    if not found:
        return Summary("", ())
    vectors = _vectors(found)
    ranks = _ranks(vectors)
    order = sorted(range(len(found)), key=lambda index: (-ranks[index], index))
    chosen = sorted(_chosen(found, vectors, order, limit))
    return Summary(
        "\n".join(found[index].line for index in chosen), tuple(dict.fromkeys(found[index].turn for index in chosen))
    )


def _claimed(turns: Sequence[Turn], zone: tzinfo) -> list[_Sentence]:
    """The sentences that claim something with some certainty, as their claims."""
    found: list[_Sentence] = []
    for position, turn in enumerate(turns):
        claims = extract(turn.text, speaker=turn.speaker, role=turn.role, at=turn.at, zone=zone).claims
        for _, of_sentence in groupby(claims, key=lambda claim: claim.start):
            sure = [claim.text for claim in of_sentence if claim.confidence >= _SURE_ENOUGH]
            found += _sentence(position, " ".join(sure))
    return found


def _said(turns: Sequence[Turn]) -> list[_Sentence]:
    return [
        sentence
        for position, turn in enumerate(turns)
        for start, end in sentences(turn.text)
        for sentence in _sentence(position, f"{turn.speaker}: {' '.join(turn.text[start:end].split())}")
    ]


def _sentence(position: int, line: str) -> list[_Sentence]:
    terms = Counter(term for term in _TERM.findall(fold(line)) if term not in _STOP_WORDS)
    return [_Sentence(position, line, terms, frozenset(_NUMBER.findall(line)))] if terms else []


def _richest(found: list[_Sentence]) -> list[_Sentence]:
    if len(found) <= _MOST_SENTENCES:
        return found
    richest = sorted(range(len(found)), key=lambda index: (-len(found[index].terms), index))[:_MOST_SENTENCES]
    return [found[index] for index in sorted(richest)]


def _vectors(found: Sequence[_Sentence]) -> list[dict[str, float]]:
    """The tf-idf vector of each sentence, of length one."""
    frequency = Counter(term for sentence in found for term in sentence.terms)
    vectors: list[dict[str, float]] = []
    for sentence in found:
        weights = {term: count * math.log(1 + len(found) / frequency[term]) for term, count in sentence.terms.items()}
        length = math.sqrt(sum(weight * weight for weight in weights.values()))
        vectors.append({term: weight / length for term, weight in weights.items()})
    return vectors


def _ranks(vectors: Sequence[dict[str, float]]) -> list[float]:
    """The stationary distribution of the walk, by power iteration."""
    links = _links(vectors)
    count = len(vectors)
    ranks = [1 / count] * count
    for _ in range(_STEPS):
        following = [(1 - _DAMPING) / count] * count
        for index, row in enumerate(links):
            for other, weight in row.items():
                following[other] += _DAMPING * ranks[index] * weight
        moved = sum(abs(new - old) for new, old in zip(following, ranks, strict=True))
        ranks = following
        if moved < _CONVERGED:
            break
    return ranks


def _links(vectors: Sequence[dict[str, float]]) -> list[dict[int, float]]:
    """For each sentence the similarity to every one it shares a term with, itself included, as shares of one."""
    holders: dict[str, list[tuple[int, float]]] = {}
    for index, vector in enumerate(vectors):
        for term, weight in vector.items():
            holders.setdefault(term, []).append((index, weight))
    links: list[dict[int, float]] = []
    for vector in vectors:
        row: dict[int, float] = {}
        for term, weight in vector.items():
            for other, other_weight in holders[term]:
                row[other] = row.get(other, 0.0) + weight * other_weight
        total = sum(row.values())
        links.append({other: similarity / total for other, similarity in row.items()})
    return links


def _chosen(
    found: Sequence[_Sentence], vectors: Sequence[dict[str, float]], order: Sequence[int], limit: int
) -> list[int]:
    chosen: list[int] = []
    length = 0
    for index in order:
        line = found[index].line
        if chosen and length + len(line) + 1 > limit:
            continue
        if not any(_is_repeated(found, vectors, index, other) for other in chosen):
            chosen.append(index)
            length += len(line) + 1
    return chosen


def _is_repeated(found: Sequence[_Sentence], vectors: Sequence[dict[str, float]], index: int, other: int) -> bool:
    if found[index].numbers != found[other].numbers:
        return False
    cosine = sum(weight * vectors[other].get(term, 0.0) for term, weight in vectors[index].items())
    return cosine >= _ALIKE
