"""Long texts cut into chunks along their own structure: sections, blocks, sentences, words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from uniko_mcp.extract.blocks import Block, blocks
from uniko_mcp.extract.sections import Section, common_path, headed_sections
from uniko_mcp.extract.sentences import Stretch, split

TARGET: Final = 700
"""Characters in a chunk: about 150 to 180 tokens, inside the 256 that small embedders were trained on."""

_LIMIT: Final = 1.5  # times the target: what may be kept whole, such as a code fence
_SMALL: Final = 1 / 3  # of the target: a chunk shorter than this is joined to what follows
_CJK: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"[{_CJK}][^\w\s]*|(?:(?![{_CJK}])\S)+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """The `index`-th chunk: `source[start:end] == text`, under the heading path `heading` ("" for none)."""

    index: int
    text: str
    start: int
    end: int
    heading: str


def chunk(text: str, sections: Sequence[Section] | None = None, *, target: int = TARGET) -> tuple[Chunk, ...]:
    """The text in chunks of about `target` characters that together hold all of it but white space between them.

    `sections` are those of the document the text came from; without them the markdown headings in the text make them.
    Code fences and paragraphs stay whole up to 1.5 times the target; longer ones are cut between lines or sentences,
    longer sentences between words, and never inside a word. Text without spaces (Chinese, Japanese, Korean) is cut
    between characters.
    """
    found = blocks(text)
    if sections is None:
        sections = headed_sections(text, found)
    packed = _joined([part for section in sections for part in _packed(text, section, found, target)], target)
    return tuple(
        Chunk(index, text[part.start : part.end], part.start, part.end, part.heading)
        for index, part in enumerate(packed)
    )


def _packed(text: str, section: Section, found: Sequence[Block], target: int) -> Iterator[Section]:
    """The section's text in stretches of about the target size."""
    start, end = -1, -1
    for unit in _units(text, section, found, target):
        fits = unit.end - start <= target or (end - start < _SMALL * target and unit.end - start <= _LIMIT * target)
        if start >= 0 and fits:
            end = unit.end
            continue
        if start >= 0:
            yield Section(section.heading, start, end)
        start, end = unit
    if start >= 0:
        yield Section(section.heading, start, end)


def _joined(parts: list[Section], target: int) -> list[Section]:
    """Small neighbours put together under the headings they share."""
    joined: list[Section] = []
    for part in parts:
        whole = _union(joined[-1], part, target) if joined else None
        if whole:
            joined[-1] = whole
        else:
            joined.append(part)
    return joined


def _union(first: Section, second: Section, target: int) -> Section | None:
    heading = common_path(first.heading, second.heading)
    small = min(first.end - first.start, second.end - second.start) < _SMALL * target
    if heading is None or not small or second.end - first.start > target:
        return None
    return Section(heading, first.start, second.end)


def _units(text: str, section: Section, found: Sequence[Block], target: int) -> Iterator[Stretch]:
    first = bisect_right(found, section.start, key=lambda block: block.end)
    for block in found[first:]:
        if block.start >= section.end:
            return
        start, end = max(block.start, section.start), min(block.end, section.end)
        if not text[start:end].strip():
            continue
        unit = _trimmed_right(text, Stretch(start, end))
        if unit.end - unit.start <= _LIMIT * target:
            yield unit
        elif block.kind in {"code", "table"}:
            yield from _lines(text, unit, target)
        else:
            yield from _sentences(text, unit, target)


def _lines(text: str, unit: Stretch, target: int) -> Iterator[Stretch]:
    start = unit.start
    for line in text[unit.start : unit.end].splitlines(keepends=True):
        piece = _trimmed_right(text, Stretch(start, start + len(line)))
        start += len(line)
        if piece.end - piece.start > _LIMIT * target:
            yield from _words(text, piece, target)
        elif piece.end > piece.start:
            yield piece


def _sentences(text: str, unit: Stretch, target: int) -> Iterator[Stretch]:
    for sentence in split(text, unit.start, unit.end):
        if sentence.end - sentence.start <= _LIMIT * target:
            yield sentence
        else:
            yield from _lines(text, sentence, target)


def _words(text: str, unit: Stretch, target: int) -> Iterator[Stretch]:
    start = end = -1
    for word in _WORD.finditer(text, unit.start, unit.end):
        if start >= 0 and word.end() - start > target:
            yield Stretch(start, end)
            start = -1
        start = word.start() if start < 0 else start
        end = word.end()
    if start >= 0:
        yield Stretch(start, end)


def _trimmed_right(text: str, unit: Stretch) -> Stretch:
    return Stretch(unit.start, unit.start + len(text[unit.start : unit.end].rstrip()))
