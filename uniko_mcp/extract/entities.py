"""The things that a text names, each with its type, its place and an id that is the same in every text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from uniko_mcp.extract.blocks import Block, blocks
from uniko_mcp.extract.dates import DateMention
from uniko_mcp.extract.names import Name, ordinary_words, proper_names, quoted_names
from uniko_mcp.extract.technical import TechnicalName, names_in_code, technical_names
from uniko_mcp.models.names import entity_id

EntityType: TypeAlias = Literal[
    "person",
    "place",
    "organization",
    "product",
    "name",
    "title",
    "date",
    "url",
    "email",
    "path",
    "code",
    "version",
    "identifier",
    "address",
    "handle",
    "tag",
]
"""`name` is a proper name of which the rules cannot tell what it names; `title` a name in quotation marks."""

NameFinder: TypeAlias = Callable[[str], Iterable[Name]]
"""Finds further proper names in a text; `spacy_name_finder` gives one."""

_BOLD: Final = re.compile(r"\*\*[^*\n]+\*\*")
_PROSE: Final = frozenset({"paragraph", "item", "quote"})
_SURE_BY_FORM: Final = frozenset({"url", "email", "path"})


@dataclass(frozen=True, slots=True)
class EntityMention:
    """One mention, at `text[start:end]`, of an entity. `name` is what to call it: for a date its ISO label."""

    name: str
    entity_type: EntityType
    start: int
    end: int

    @property
    def entity_id(self) -> str:
        return entity_id(self.name)


def find_entities(
    text: str, dates: Iterable[DateMention] = (), *, english: bool, name_finder: NameFinder | None = None
) -> tuple[EntityMention, ...]:
    """The entities that the text mentions, in order, without overlap.

    `dates` are those found in the text; they are entities too, named by their ISO label. Proper names are found in
    English text only, everything that is known by its form and what stands in quotation marks in any language.
    """
    found = list(_technical(text))
    sure = [mention for mention in found if mention.entity_type in _SURE_BY_FORM]
    sure += [EntityMention(date.label, "date", date.start, date.end) for date in dates]
    others = [mention for mention in found if mention.entity_type not in _SURE_BY_FORM]
    names = list(_names(text, english))
    typed = [mention for mention in names if mention.entity_type != "name"]
    by_model = [_mention(name) for name in name_finder(text)] if name_finder and english else []
    return _without_overlap([*sure, *others, *typed, *by_model, *names])


def _technical(text: str) -> Iterator[EntityMention]:
    if "```" not in text and "~~~" not in text:
        yield from map(_mention, technical_names(text))
        return
    for block in blocks(text):
        find = names_in_code if _is_fence(text, block) else technical_names
        yield from map(_mention, find(text, block.start, block.end))


def _is_fence(text: str, block: Block) -> bool:
    return block.kind == "code" and text.startswith(("```", "~~~"), block.start + _indent(text, block))


def _indent(text: str, block: Block) -> int:
    line = text[block.start : block.start + 4]
    return len(line) - len(line.lstrip(" "))


def _names(text: str, english: bool) -> Iterator[EntityMention]:
    prose = [block for block in blocks(text) if block.kind in _PROSE]
    ordinary = frozenset[str]()
    if english:
        ordinary = ordinary.union(*(ordinary_words(text, block.body, block.end) for block in prose))
    for block in prose:
        yield from map(_mention, quoted_names(text, block.body, block.end))
        if english:
            bold = [match.span() for match in _BOLD.finditer(text, block.start, block.end)]
            for name in proper_names(text, block.body, block.end, ordinary):
                if not any(start <= name.start < end for start, end in bold):
                    yield _mention(name)


def _mention(name: Name | TechnicalName) -> EntityMention:
    return EntityMention(name.name, cast(EntityType, name.entity_type), name.start, name.end)


def _without_overlap(mentions: list[EntityMention]) -> tuple[EntityMention, ...]:
    """The mentions in the order of the text; of two that overlap the one that stands earlier in the list."""
    kept: list[EntityMention] = []
    taken = bytearray(max((mention.end for mention in mentions), default=0))
    for mention in mentions:
        if mention.name and not any(taken[mention.start : mention.end]):
            taken[mention.start : mention.end] = b"\x01" * (mention.end - mention.start)
            kept.append(mention)
    return tuple(sorted(kept, key=lambda mention: mention.start))
