"""Whether the words around a date speak of the past or of what is to come: it decides which Friday "Friday" is."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from uniko_mcp.extract.verbs import MODALS, is_past, verb_form

Direction: TypeAlias = Literal[-1, 0, 1]

_WORD: Final = re.compile(r"[A-Za-z]+(?:['’](?P<short>[a-z]+))?")
_SENTENCE_END: Final = re.compile(r"[.!?;\n](?=\s|$)")
_REACH: Final = 120  # characters; beyond them a verb no longer governs the date
_TO_COME: Final = MODALS | {
    "gonna",
    "due",
    "deadline",
    "upcoming",
    "scheduled",
    "expected",
    "planned",
    "until",
    "till",
    "by",
}
_GONE: Final = frozenset({"since", "ago"})


def direction(text: str, start: int, end: int) -> Direction:
    """-1 when the clause around `text[start:end]` is about the past, 1 when about the future, 0 when it does not say.

    The last verb before the date within its sentence decides, else the first one after it.
    """
    begin = max(0, start - _REACH)
    begin = max((stop.end() for stop in _SENTENCE_END.finditer(text, begin, start)), default=begin)
    stop = _SENTENCE_END.search(text, end, end + _REACH)
    before = reversed(list(_WORD.finditer(text, begin, start)))
    after = _WORD.finditer(text, end, stop.start() if stop else min(len(text), end + _REACH))
    for words in (before, after):
        for word in words:
            if sign := _sign(word):
                return sign
    return 0


def _sign(match: re.Match[str]) -> Direction:
    word = match.group().lower().replace("’", "'").removesuffix("n't")
    if word in _TO_COME or match.group("short") in {"ll", "re", "m"}:
        return 1
    if word in _GONE or is_past(word):
        return -1
    form = verb_form(word)
    return 1 if form and form.tense in {"base", "third"} else 0
