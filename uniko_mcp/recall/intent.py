"""What a query is after, by rules: whose words, which time, what sort of answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from uniko_mcp.recall.query import LONGEST_QUERY, RecallQuery, Window
from uniko_mcp.store.index.tokens import document_tokens, name_tokens, query_tokens

ReadDates: TypeAlias = Callable[[str, int], Sequence[Window]]
"""Finds the time windows that a text names, given the instant it was written at."""

_WHEN: Final = re.compile(
    r"\b(?:when|what (?:date|year|month|day|time)|how long|how many (?:days|weeks|months|years))\b", re.IGNORECASE
)
_ADVICE: Final = re.compile(
    r"\b(?:suggest|recommend|should i|could you|can you|how (?:should|can|do|would) (?:i|you)|show me|help me"
    r"|what (?:are|is) the (?:best|different)|walk me)\b",
    re.IGNORECASE,
)
_LONGEST_NAME: Final = 4
_ASKING: Final = frozenset(
    query_tokens(
        "say said tell told write wrote written mention message talk speak spoke happen anything something everything"
    )
)
"""Words of a question that tell nothing of what it is about."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What the query is after.

    `tokens` are its words as the index knows them, without relative times: who wrote "last week" meant another week.
    `name_tokens` are those that belong to the senders in `persons` (names), `topic` those that tell what it is about:
    neither the words of a time nor such as "say" and "happen".
    `entities` are the keys of all runs of up to four words, any of which may be a known entity.
    """

    text: str
    tokens: tuple[str, ...]
    topic: frozenset[str]
    name_tokens: frozenset[str]
    persons: tuple[str, ...]
    entities: tuple[str, ...]
    windows: tuple[Window, ...]
    asks_when: bool
    wants_advice: bool

    @property
    def names_only(self) -> bool:
        """Whether the query names senders and is about nothing else."""
        return bool(self.persons) and self.name_tokens.issuperset(self.topic)


def read_intent(query: RecallQuery, senders: Iterable[str], *, now: int, read_dates: ReadDates | None) -> Intent:
    """The intent of a query among memories of these senders. `now` is the reference time in microseconds."""
    text = query.query[:LONGEST_QUERY]
    words = name_tokens(text)
    spoken = set(words)
    persons = tuple(sender for sender in senders if not spoken.isdisjoint(name_tokens(sender)))
    windows = tuple(read_dates(text, now)) if read_dates is not None else ()
    relative = _tokens_of(window for window in windows if window.relative)
    tokens = tuple(token for token in query_tokens(text) if token not in relative)
    return Intent(
        text=text,
        tokens=tokens,
        topic=frozenset(tokens) - _ASKING - _tokens_of(windows),
        name_tokens=frozenset(token for person in persons for token in document_tokens(person)),
        persons=persons,
        entities=_runs(words),
        windows=windows,
        asks_when=_WHEN.search(text) is not None,
        wants_advice=_ADVICE.search(text) is not None,
    )


def _tokens_of(windows: Iterable[Window]) -> frozenset[str]:
    return frozenset(token for window in windows for token in query_tokens(window.phrase))


def _runs(words: Sequence[str]) -> tuple[str, ...]:
    runs = (
        " ".join(words[start : start + length])
        for length in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
    )
    return tuple(dict.fromkeys(runs))
