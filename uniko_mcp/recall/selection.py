"""From ranked candidates to the items of the answer: one for each piece of evidence, best first, within budget."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final

from uniko_mcp.models.tokens import estimate_tokens
from uniko_mcp.store.index.documents import IndexDocument
from uniko_mcp.store.index.tokens import document_tokens, fold

LARGE_ITEM: Final = 500
"""Tokens. A larger message is answered with its best chunk where one is at hand, so that it does not eat the budget."""
ALIKE: Final = 0.9
"""Share of common words from which two texts say the same, provided all their values are the same."""
_READ_ONCE: Final = 1_000
_TEXTS_KEPT: Final = 1_024
"""What was read of the latest texts of up to so many characters is kept: taking them apart is half of a recall's time,
and a recall meets them twice, the next one again. Some megabytes."""

_VALUE: Final = re.compile(r"\d[\d.,:/-]*")
_NEGATION: Final = re.compile(r"\b(?:not|no|never|none|without|cannot|\w+n't|isn|hate\w*|dislike\w*)\b")


@dataclass(frozen=True, slots=True)
class Content:
    """What a text says, for comparison: who, its words, its values in order, its negations."""

    sender: str
    words: frozenset[str]
    values: tuple[str, ...]
    negations: tuple[str, ...]

    def repeats(self, other: Content) -> bool:
        """Whether both say the same. Texts that differ in a value ("port 8080", "port 8443") never do."""
        if (self.sender, self.values, self.negations) != (other.sender, other.values, other.negations):
            return False
        union = len(self.words | other.words)
        return union == 0 or len(self.words & other.words) / union >= ALIKE


@dataclass(frozen=True)
class Candidate:
    """A ranked document; `parent` is the row of the message or artifact that it is a piece of.

    `judgement` is what a cross-encoder made of it, in standard deviations from the others.
    """

    row: int
    score: float
    document: IndexDocument
    parent: int
    judgement: float | None = None

    @cached_property
    def tokens(self) -> int:
        return estimate_tokens(self.document.text)

    @cached_property
    def content(self) -> Content:
        text = self.document.text
        read = _read_once if len(text) <= _READ_ONCE else _read
        return Content(self.document.sender, *read(text))

    @cached_property
    def context(self) -> frozenset[str]:
        """The words that stand around the text: who said it, under which topic and heading."""
        document = self.document
        return frozenset(document_tokens(" ".join((document.sender, document.topic, document.heading))))


def _read(text: str) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """A text's words, values and negations."""
    folded = fold(text)
    return frozenset(document_tokens(text)), tuple(_VALUE.findall(folded)), tuple(_NEGATION.findall(folded))


_read_once: Final = lru_cache(_TEXTS_KEPT)(_read)


@dataclass(frozen=True, slots=True)
class Selection:
    """What is returned, and whether something else that matched was left out.

    `padding` counts what was left out although there was room for it.
    """

    chosen: tuple[Candidate, ...] = ()
    tokens: int = 0
    truncated: bool = False
    padding: int = 0


def one_per_evidence(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Drop what repeats a better candidate: pieces of a message, and observations made in it, stand for the message.

    The first of a family keeps its place. It is the message itself, unless that is large or not among the candidates.
    """
    families: dict[int, list[Candidate]] = {}
    rows = {candidate.row for candidate in ranked}
    for candidate in ranked:
        family = candidate.parent if candidate.parent in rows else candidate.row
        families.setdefault(family, []).append(candidate)
    return [_spokesman(head, members) for head, members in families.items()]


def _spokesman(head: int, members: list[Candidate]) -> Candidate:
    best = members[0]
    whole = next((member for member in members if member.row == head), best)
    if whole.tokens > LARGE_ITEM:
        whole = next((member for member in members if member.row != head), whole)
    return replace(whole, score=best.score, judgement=best.judgement)


def has_distinct(ranked: Sequence[Candidate], count: int) -> bool:
    """Whether at least so many of the candidates do not repeat a better one."""
    return len(select(one_per_evidence(ranked), limit=count, token_budget=sys.maxsize).chosen) == count


def select(
    ranked: Sequence[Candidate],
    *,
    limit: int,
    token_budget: int,
    is_padding: Callable[[Candidate], bool] = lambda candidate: False,
) -> Selection:
    """The best candidates that say something new and fit: whole items only, so a large one may be passed over."""
    chosen: list[Candidate] = []
    tokens = padding = 0
    truncated = False
    for candidate in ranked:
        if any(candidate.content.repeats(other.content) for other in chosen):
            continue
        if len(chosen) == limit:
            truncated = True
            break
        if is_padding(candidate):
            padding += 1
        elif tokens + candidate.tokens > token_budget:
            truncated = True
        else:
            chosen.append(candidate)
            tokens += candidate.tokens
    return Selection(tuple(chosen), tokens, truncated or padding > 0, padding)


def covered(chosen: Sequence[Candidate], rarity: Mapping[str, float]) -> float:
    """The share of the query's words, weighed by their rarity, that the chosen texts hold between them."""
    total = sum(rarity.values())
    if not total:
        return 0.0
    held = frozenset[str]().union(*(candidate.content.words | candidate.context for candidate in chosen))
    return sum(weight for term, weight in rarity.items() if term in held) / total
