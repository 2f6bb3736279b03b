"""Whether the words around a date speak of the past or of what is to come: it decides which Friday "Friday" is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from uniko_mcp.extract.verbs import MODALS, is_past, may_be_noun, verb_form

Direction: TypeAlias = Literal[-1, 0, 1]

_WORD: Final = re.compile(r"[A-Za-z]+(?:['’](?P<short>[a-z]+))?")
_SENTENCE_END: Final = re.compile(r"[.!?;\n](?=\s|$)")
_REACH: Final = 120  # characters; beyond them a verb no longer governs the date
_LIMITS: Final = frozenset({"until", "till", "by"})
_TO_COME: Final = MODALS | {"gonna", "due", "deadline", "upcoming", "scheduled", "expected", "planned"}
_PLANNED: Final = frozenset({"next", "plan", "plans", "planning", "coming", "future", "soon"})
"""Signs of what is to come in a question, which has few words; a message tells of its plans with a verb."""
_GONE: Final = frozenset({"since", "ago"})
_CLAUSE_OPENERS: Final = frozenset({"that", "if", "because", "which", "who", "while", "whether", "but"})
_NEAR: Final = 2  # words between an auxiliary "be" and its participle, at most: "will be", "will be finally"


def direction(text: str, start: int, end: int, *, asked: bool = False) -> Direction:
    """-1 when the clause around `text[start:end]` is about the past, 1 when about the future, 0 when it does not say.

    The last verb before the date within its sentence decides, else the first one after it. `asked` says that the text
    is a query: there a bare verb is an order ("find the bill of March") or a noun ("the trip in March"), and says
    nothing without its auxiliary.
    """
    begin = max(0, start - _REACH)
    begin = max((stop.end() for stop in _SENTENCE_END.finditer(text, begin, start)), default=begin)
    stop = _SENTENCE_END.search(text, end, end + _REACH)
    before = list(_WORD.finditer(text, begin, start))
    after = list(_WORD.finditer(text, end, stop.start() if stop else min(len(text), end + _REACH)))
    read = _asked_sign if asked else _told_sign
    for words, places in ((before, reversed(range(len(before)))), (after, range(len(after)))):
        plain = [_plain(word) for word in words]
        for place in places:
            sign: Direction = 1 if words[place]["short"] in {"ll", "re", "m"} else read(plain, place)
            if sign:
                return sign
    return 1 if any(_plain(word) in _LIMITS for word in before) else 0


def _plain(match: re.Match[str]) -> str:
    return match.group().lower().replace("’", "'").removesuffix("n't")


def _told_sign(words: Sequence[str], place: int) -> Direction:
    word = words[place]
    if word in _TO_COME or word in _LIMITS:
        return 1
    if word in _GONE or is_past(word):
        return 1 if _passive_to_come(words, place) else -1
    form = verb_form(word)
    if form is None or form.tense not in {"base", "third"}:
        return 0
    return -1 if form.tense == "base" and _auxiliary(words, place) == "did" else 1


def _asked_sign(words: Sequence[str], place: int) -> Direction:
    word = words[place].removesuffix("'s")
    if word in _GONE or (is_past(word) and word not in _TO_COME):
        return 1 if _passive_to_come(words, place) else -1
    form = verb_form(word)
    if form and form.tense == "base" and (auxiliary := _auxiliary(words, place, through_infinitives=True)):
        return -1 if auxiliary == "did" else 1
    if word in _TO_COME or word in _PLANNED or words[place] in {"what's", "who's", "when's", "where's", "there's"}:
        return 1
    if form is None or may_be_noun(word):
        return 0
    return 1 if form.tense == "third" or (form.lemma in {"be", "do"} and form.tense == "base") else 0


def _passive_to_come(words: Sequence[str], place: int) -> bool:
    """Whether a participle is that of "will be decided" or "to be decided"."""
    return "be" in words[max(0, place - _NEAR) : place]


def _auxiliary(words: Sequence[str], place: int, *, through_infinitives: bool = False) -> str:
    """The "did", "do", "does" or modal that a bare verb belongs to, empty when there is none before it in its clause.

    Infinitives ("to go") are of their own time, unless `through_infinitives`: "what did she want to do".
    """
    infinitive = False
    for at in reversed(range(place)):
        word = words[at]
        if word in MODALS or word in {"did", "do", "does"}:
            return word
        if word == "to" and at == place - 1:
            infinitive = True
            if not through_infinitives:
                return ""
        form = verb_form(word)
        if word in _CLAUSE_OPENERS and at > 0:
            return ""
        if infinitive and is_past(word):
            return "did"
        coordinated = words[at + 1] in {"and", "or"}
        if form and not (may_be_noun(word) or form.tense == "gerund" or infinitive or coordinated):
            return ""
    return ""
