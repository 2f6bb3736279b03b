"""The parts of a document under their headings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from uniko_mcp.extract.blocks import Block, heading_text

PATH_SEPARATOR: Final = " > "


@dataclass(frozen=True, slots=True)
class Section:
    """`text[start:end]`, the heading's own line included. `heading` is the path to it: `Setup > Database`."""

    heading: str
    start: int
    end: int


def headed_sections(text: str, blocks: list[Block]) -> tuple[Section, ...]:
    """The sections that markdown headings make; what stands before the first heading is a section without one."""
    headings = [block for block in blocks if block.kind == "heading"]
    starts = [(0, ""), *_paths(text, headings)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return tuple(
        Section(path, start, end) for (start, path), end in zip(starts, ends, strict=True) if text[start:end].strip()
    )


def common_path(first: str, second: str) -> str | None:
    """The heading that covers both paths: what both begin with, or the only one; None when there is no such."""
    if not first or not second:
        return first or second
    shared: list[str] = []
    for one, other in zip(first.split(PATH_SEPARATOR), second.split(PATH_SEPARATOR), strict=False):
        if one != other:
            break
        shared.append(one)
    return PATH_SEPARATOR.join(shared) or None


def _paths(text: str, headings: list[Block]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    open_headings: list[tuple[int, str]] = []
    for block in headings:
        open_headings = [(level, title) for level, title in open_headings if level < block.level]
        open_headings.append((block.level, heading_text(text, block)))
        found.append((block.start, PATH_SEPARATOR.join(title for _, title in open_headings if title)))
    return found
