"""Documents of any supported type read into text with sections."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from uniko_mcp.errors import DocumentError
from uniko_mcp.extract.blocks import blocks
from uniko_mcp.extract.formats.html import read_html
from uniko_mcp.extract.formats.pdf import read_pdf
from uniko_mcp.extract.formats.readable import Readable, one_section
from uniko_mcp.extract.formats.records import read_csv, read_json
from uniko_mcp.extract.formats.source import read_source
from uniko_mcp.extract.sections import Section, headed_sections
from uniko_mcp.extract.wordlist import words

PLAIN_TEXT: Final = "text/plain"

_CODE_SUFFIXES: Final = words(
    """
    py pyi js jsx mjs cjs ts tsx java kt go rs rb php c h cc cpp hpp cs swift scala lua sql sh bash zsh ps1 r jl hs
    ex exs clj dart vue svelte proto tf gradle css scss toml ini cfg yaml yml xml
    """
)
_MIME_OF_SUFFIX: Final[Mapping[str, str]] = {f".{suffix}": f"text/x-{suffix}" for suffix in sorted(_CODE_SUFFIXES)} | {
    ".txt": PLAIN_TEXT,
    ".text": PLAIN_TEXT,
    ".log": PLAIN_TEXT,
    ".rst": PLAIN_TEXT,
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".json": "application/json",
    ".jsonl": "application/json",
    ".ndjson": "application/json",
    ".ipynb": "application/json",
    ".csv": "text/csv",
    ".tsv": "text/csv",
    ".pdf": "application/pdf",
}
_ALIASES: Final[Mapping[str, str]] = {
    "text/x-markdown": "text/markdown",
    "application/xhtml+xml": "text/html",
    "application/x-ndjson": "application/json",
    "application/jsonl": "application/json",
    "application/javascript": "text/x-js",
    "text/javascript": "text/x-js",
    "text/tab-separated-values": "text/csv",
}
_READERS: Final = {
    "text/html": read_html,
    "application/json": read_json,
    "text/csv": read_csv,
}
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TITLE_LENGTH: Final = 80


@dataclass(frozen=True, slots=True)
class Document:
    """A document as text. `sections` hold offsets into `text` and leave out nothing but white space."""

    title: str
    mime: str
    text: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()


def guess_mime(path: str) -> str | None:
    """The MIME type that the suffix of a file name stands for, None when it is not one read here."""
    return _MIME_OF_SUFFIX.get(PurePath(path).suffix.lower())


def read_document(content: str | bytes, mime: str | None = None, title: str | None = None) -> Document:
    """The text, title and sections of a document.

    `mime` decides how it is read (text, markdown, HTML, JSON, CSV, source code, PDF); any other text type is read as
    plain text, and without one bytes that begin as a PDF are a PDF and all else is text. Bytes are UTF-8, or UTF-16 or
    32 behind a byte order mark, or else taken for Windows-1252, which `notes` then says.

    Raises:
        DocumentError: The bytes are no text, or the document is damaged.
        MissingExtraError: The type needs an optional package.
    """
    kind = _kind(content, mime)
    if kind == "application/pdf":
        if isinstance(content, str):
            raise DocumentError("a PDF must be given as bytes", next_step="Give the path of the file instead")
        return _document(read_pdf(content), kind, title)
    text, notes = _decoded(content) if isinstance(content, bytes) else (content.removeprefix("\ufeff"), ())
    return _document(_read_text(text, kind), kind, title, notes)


def _kind(content: str | bytes, mime: str | None) -> str:
    if mime:
        plain = mime.partition(";")[0].strip().lower()
        return _ALIASES.get(plain, plain)
    return "application/pdf" if isinstance(content, bytes) and content.startswith(b"%PDF-") else PLAIN_TEXT


def _read_text(text: str, kind: str) -> Readable:
    if kind == "text/markdown":
        return _read_markdown(text)
    if reader := _READERS.get(kind):
        return reader(text)
    return read_source(text) if kind.startswith("text/x-") else one_section(text)


def _read_markdown(text: str) -> Readable:
    found = blocks(text)
    sections = headed_sections(text, found)
    title = next((section.heading for section in sections if section.heading), None)
    return Readable(text, sections, title)


def _decoded(content: bytes) -> tuple[str, tuple[str, ...]]:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace").removeprefix("\ufeff"), ()
    if b"\0" in content:
        raise DocumentError("the content is binary, not text", next_step="Name its MIME type, such as application/pdf")
    try:
        return content.decode("utf-8"), ()
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace"), ("not UTF-8, read as Windows-1252",)


def _document(readable: Readable, mime: str, title: str | None, notes: tuple[str, ...] = ()) -> Document:
    name = (title or "").strip() or readable.title or _first_line(readable.text)
    return Document(name, mime, readable.text, readable.sections, notes + readable.notes)


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "Untitled")
    return line if len(line) <= _TITLE_LENGTH else f"{line[: _TITLE_LENGTH - 1].rstrip()}…"
