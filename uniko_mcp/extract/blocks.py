"""The block structure of a message or markdown text: headings, code fences, list items, tables, paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

BlockKind: TypeAlias = Literal["paragraph", "heading", "item", "quote", "table", "code"]

LONGEST_HEADING: Final = 200
"""Characters; every chunk under a heading repeats it."""

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*[ \t]*$")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)]|[a-zA-Z][)])[ \t]+")
_QUOTE: Final = re.compile(r" {0,3}>")
_TABLE: Final = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_INDENTED: Final = re.compile(r"(?: {4}|\t)\s*\S")
_CODE_HINT: Final = re.compile(r"[{};\\=<>$#/(:]|^\s*(?:import|from)\s")  # cheap, and true of all the lines below
_CODE_LINE: Final = re.compile(
    r"""[{};\\][ \t]*$                                  # statements and braces of the C family, shell continuations
    |^[ \t]*(?:def|class|from|import|return|const|let|var|function|public|private|elif|except
        |SELECT|INSERT|UPDATE)\b.*[({:;=]
    |^[ \t]*(?:import[ ][\w.]+|from[ ][\w.]+[ ]import[ ].+)$
    |^[ \t]*(?:\$|>>>|\#!|//|/\*|</?[a-zA-Z][^>]*>$)
    |^[ \t]*[\w.\[\]'"]+[ ]*(?:=|\+=|:=|=>)[ ]*\S.*$
    |^Traceback[ ]\(most|^[ \t]*at[ ][\w.$]+\(|^[ \t]*File[ ]".*",[ ]line[ ]\d
    |^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?.*\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b
    |^(?:[A-Z]\w*)?(?:Error|Exception):[ ]""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the text, `text[start:end]`, whole lines without the final line break.

    `body` is where its words begin, behind a list marker or the hashes of a heading. `level` is 1 to 6 for headings,
    0 for everything else.
    """

    kind: BlockKind
    start: int
    end: int
    body: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str

    @property
    def blank(self) -> bool:
        return not self.text or self.text.isspace()


def blocks(text: str) -> list[Block]:
    """The blocks of the text in order. Together they hold every character that is not white space."""
    if "\n" not in text and "\r" not in text:
        return [_single(_Line(0, len(text), text))] if text.strip() else []
    return list(_scan(_lines(text)))


def looks_like_code(line: str) -> bool:
    """Whether a line outside of any fence is program text or a log line rather than a sentence."""
    return _CODE_HINT.search(line) is not None and _CODE_LINE.search(line) is not None


def heading_text(text: str, block: Block) -> str:
    """The words of a heading, without its hashes or underline; a line that is longer than headings are is cut."""
    first = text[block.body : block.end].split("\n", 1)[0]
    return first.strip().rstrip("#").strip()[:LONGEST_HEADING].rstrip()


def _lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    start = 0
    for raw in text.splitlines(keepends=True):
        content = raw.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
        lines.append(_Line(start, start + len(content), content))
        start += len(raw)
    return lines


def _scan(lines: list[_Line]) -> Iterator[Block]:
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.blank:
            index += 1
            continue
        if fence := _FENCE.match(line.text):
            last = _fence_end(lines, index, fence.group(1))
            yield Block("code", line.start, lines[last].end, line.start)
        else:
            last = _run_end(lines, index)
            yield _joined(lines, index, last)
        index = last + 1


def _fence_end(lines: list[_Line], first: int, mark: str) -> int:
    closing = re.compile(rf"\s*{re.escape(mark[0])}{{{len(mark)},}}\s*$")
    for index in range(first + 1, len(lines)):
        if closing.match(lines[index].text):
            return index
    return len(lines) - 1


def _run_end(lines: list[_Line], first: int) -> int:
    """The last line that belongs to the block beginning at line `first`."""
    kind = _kind(lines[first].text)
    if kind == "heading":
        return first
    last = first
    for index in range(first + 1, len(lines)):
        line = lines[index]
        if line.blank or _FENCE.match(line.text):
            break
        if kind == "paragraph" and index == first + 1 and _UNDERLINE.match(line.text):
            return index
        following = _kind(line.text)
        if following != kind and not (kind == "item" and following == "code" and not looks_like_code(line.text)):
            break
        if kind == "item" and _ITEM.match(line.text):
            break
        last = index
    return last


def _joined(lines: list[_Line], first: int, last: int) -> Block:
    block = _single(lines[first])
    if first == last:
        return block
    underline = _UNDERLINE.match(lines[last].text) if last == first + 1 and block.kind == "paragraph" else None
    if underline:
        level = 1 if underline.group(1).startswith("=") else 2
        return Block("heading", block.start, lines[last].end, block.body, level)
    return Block(block.kind, block.start, lines[last].end, block.body)


def _single(line: _Line) -> Block:
    kind = _kind(line.text)
    if kind == "heading" and (match := _HEADING.match(line.text)):
        return Block(kind, line.start, line.end, line.start + match.end(1), len(match.group(1)))
    marker = _ITEM.match(line.text) if kind == "item" else None
    return Block(kind, line.start, line.end, line.start + (marker.end() if marker else 0))


def _kind(line: str) -> BlockKind:
    if _HEADING.match(line):
        return "heading"
    if _RULE.match(line):
        return "table"  # a thematic break holds no words, like the ruling of a table
    if _ITEM.match(line):
        return "item"
    if _QUOTE.match(line):
        return "quote"
    if _TABLE.match(line):
        return "table"
    if _INDENTED.match(line) or looks_like_code(line):
        return "code"
    return "paragraph"
