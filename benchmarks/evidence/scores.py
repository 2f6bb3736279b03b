"""Scores what a memory returns for a question against the messages that answer it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Final

from evidence.conversations import Question

CUTOFFS: Final = (5, 10, 20, 50)
CHARACTERS: Final = (2_000, 4_000, 8_000)
_GAIN_CUTOFF: Final = 10
HEAD: Final = " ".join(
    [
        *(f"{f'R@{cutoff}':<5}" for cutoff in CUTOFFS),
        f"{f'nDCG{_GAIN_CUTOFF}':<6}",
        *(f"{f'in {room // 1_000}k':<5}" for room in CHARACTERS),
        "questions",
    ]
)


@dataclass(frozen=True, slots=True)
class Item:
    """What was returned, in the order of rank; a derived item counts as the messages that it names as sources."""

    text: str
    messages: tuple[str, ...]


@dataclass
class Scores:
    """Of a set of questions; every list has one number for each."""

    recall: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    gain: list[float] = field(default_factory=list)
    within: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, items: Sequence[Item], question: Question) -> None:
        messages = ranked_messages(items)
        for cutoff in CUTOFFS:
            self.recall[cutoff].append(_share(messages[:cutoff], question))
        self.gain.append(_ndcg(messages[:_GAIN_CUTOFF], question.evidence))
        for room in CHARACTERS:
            self.within[room].append(_share(_fitting(items, room), question))

    def row(self) -> str:
        recalls = " ".join(f"{mean(self.recall[cutoff]):.3f}" for cutoff in CUTOFFS)
        rooms = " ".join(f"{mean(self.within[room]):.3f}" for room in CHARACTERS)
        return f"{recalls} {mean(self.gain):.3f}  {rooms} {len(self.gain):>9}"


def ranked_messages(items: Sequence[Item]) -> list[str]:
    """The distinct messages that the items stand for, best first."""
    return list(dict.fromkeys(id for item in items for id in item.messages))


def _share(messages: Sequence[str], question: Question) -> float:
    return len(question.evidence & set(messages)) / len(question.evidence)


def _fitting(items: Sequence[Item], room: int) -> list[str]:
    messages: list[str] = []
    for item in items:
        if len(item.text) <= room:
            room -= len(item.text)
            messages += item.messages
    return messages


def _ndcg(messages: Sequence[str], evidence: frozenset[str]) -> float:
    gained = sum(1 / math.log2(rank + 2) for rank, id in enumerate(messages) if id in evidence)
    return gained / sum(1 / math.log2(rank + 2) for rank in range(min(_GAIN_CUTOFF, len(evidence))))
