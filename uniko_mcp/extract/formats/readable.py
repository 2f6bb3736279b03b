"""What every reader of a format gives: the text of a document and where its sections lie in it."""

from __future__ import annotations

from dataclasses import dataclass

from uniko_mcp.extract.sections import Section


@dataclass(frozen=True, slots=True)
class Readable:
    """The text, its sections (together all of it), its title if it has one, and what a user should know about it."""

    text: str
    sections: tuple[Section, ...]
    title: str | None = None
    notes: tuple[str, ...] = ()


def one_section(text: str, title: str | None = None, notes: tuple[str, ...] = ()) -> Readable:
    """A text without parts."""
    return Readable(text, (Section("", 0, len(text)),) if text.strip() else (), title, notes)
