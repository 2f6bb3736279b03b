"""What the look of a text tells of its worth as evidence, measured once when it is indexed.

Small talk opens with an acknowledgement, a statement about oneself says "I", a dated one names a time: such traits need
no knowledge of the topic, so they hold for any corpus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Final

_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LEAST_PROSE: Final = 20
"""Characters. A text with less than this beside its code is taken as it is."""
_LOOKED_AT: Final = 2_000
"""Characters of a text that its traits are taken from."""

_ACKNOWLEDGES: Final = re.compile(
    r"\W*(?:ok(?:ay)?|hmm+|yeah|yep|yes|sure|thanks?|thank you|wow|haha|cool|great|nice|awesome|that'?s|sounds"
    r"|absolutely|certainly|glad|no problem|you'?re welcome|totally|exactly|aww?|congrat\w*|good luck|so|oh)\b",
    re.IGNORECASE,
)
_INSTRUCTS: Final = re.compile(
    r"\b(?:always|never|from now on|going forward|i(?:'d| would)? prefer|please (?:use|keep|make sure|include|avoid)"
    r"|(?:when|whenever|if) i ask)\b",
    re.IGNORECASE,
)
_INSTRUCTION_LENGTH: Final = 600
_FIRST_PERSON: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|we|our|we're|we've)\b", re.IGNORECASE)
_TIME: Final = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weekends?|weeks?|months?|years?|recently|since"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october"
    r"|november|december|summer|winter|spring|fall|20\d\d|19\d\d|\d{1,2}(?:am|pm))\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
_NUMBER: Final = re.compile(r"\d+")
_ATTACHMENT: Final = re.compile(r"\[[^\]\n]*\b(?:picture|photo|image|file|attach\w*)\b[^\]\n]*\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shape:
    """The traits of a text, each a number in [0, 1]."""

    acknowledges: float = 0.0
    first_person: float = 0.0
    asks: float = 0.0
    names_time: float = 0.0
    names: float = 0.0
    numbers: float = 0.0
    attachment: float = 0.0
    instructs: float = 0.0

    def values(self) -> tuple[float, ...]:
        return tuple(getattr(self, name) for name in TRAITS)


TRAITS: Final = tuple(field.name for field in fields(Shape))


def split_code(text: str) -> tuple[str, str]:
    """The prose of a text and the code in its fences; a text that is nearly all code counts as prose."""
    if "```" not in text:
        return text, ""
    prose = _FENCE.sub(" ", text).strip()
    if len(prose) <= _LEAST_PROSE:
        return text, ""
    return prose, " ".join(_FENCE.findall(text))


def shape_of(text: str) -> Shape:
    """The traits of a text."""
    prose, _ = split_code(text)
    head = prose[:_LOOKED_AT]
    words = len(head.split())
    return Shape(
        acknowledges=float(_ACKNOWLEDGES.match(head) is not None),
        first_person=min(1.0, 5.0 * len(_FIRST_PERSON.findall(head)) / (1 + words)),
        asks=float(prose.rstrip().endswith(("?", "？"))),
        names_time=float(_TIME.search(head) is not None),
        names=min(3, len(_NAME.findall(head))) / 3,
        numbers=min(3, len(_NUMBER.findall(head))) / 3,
        attachment=float(_ATTACHMENT.search(head) is not None),
        instructs=float(len(text) < _INSTRUCTION_LENGTH and _INSTRUCTS.search(head) is not None),
    )
