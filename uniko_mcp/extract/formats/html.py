"""HTML to text: what a reader of the page sees, with headings as sections."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from uniko_mcp.extract.formats.readable import Readable
from uniko_mcp.extract.sections import PATH_SEPARATOR, Section
from uniko_mcp.extract.wordlist import words

_UNSEEN: Final = words("script style noscript template svg iframe object canvas math")
_BLOCKS: Final = words(
    """
    address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form header hr
    html li main nav ol p pre section summary table tbody tfoot thead tr ul
    """
)
_PARAGRAPHS: Final = words("p pre blockquote table ul ol section article h1 h2 h3 h4 h5 h6")
_HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_SPACE: Final = re.compile(r"\s+")


def read_html(content: str) -> Readable:
    """The page's visible text; scripts, styles and drawings are left out, broken markup is read as far as it goes."""
    reader = _Reader()
    reader.feed(content)
    reader.close()
    return reader.readable()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._length = 0
        self._breaks = 2  # line breaks that the text so far ends with; none is written before the first word
        self._unseen: list[str] = []
        self._verbatim = 0
        self._title: list[str] | None = None
        self._found_title: str | None = None
        self._heading: tuple[int, int, list[str]] | None = None
        self._path: list[tuple[int, str]] = []
        self._starts: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen.append(tag)
        if self._unseen:
            return
        self._end_title()
        if tag == "title":
            self._title = []
        elif tag == "br":
            self._break(1)
        elif tag in _HEADINGS:
            self._break(2)
            self._heading = (_HEADINGS[tag], self._length, [])
        elif tag in _BLOCKS:
            self._break(2 if tag in _PARAGRAPHS else 1)
        if tag == "pre":
            self._verbatim += 1
        if tag == "li":
            self._write("- ")
        if tag in {"td", "th"} and not self._breaks:
            self._write(" | ")
        if tag == "img" and (label := dict(attrs).get("alt")):
            self._write(f"[{label.strip()}] ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _UNSEEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            if tag in self._unseen:
                del self._unseen[self._unseen.index(tag) :]
            return
        if tag == "title":
            self._end_title()
        elif tag in _HEADINGS:
            self._end_heading()
        elif tag in _BLOCKS:
            self._break(2 if tag in _PARAGRAPHS else 1)
        if tag == "pre":
            self._verbatim = max(0, self._verbatim - 1)

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if self._title is not None:
            self._title.append(data)
            return
        if self._heading is not None:
            self._heading[2].append(data)
        if self._verbatim:
            self._write(data)
            return
        text = _SPACE.sub(" ", data)
        at_line_start = self._breaks > 0 or (self._parts and self._parts[-1].endswith(" "))
        self._write(text.lstrip(" ") if at_line_start else text)

    def readable(self) -> Readable:
        self._end_title()
        self._end_heading()
        text = "".join(self._parts).rstrip()
        starts = [(0, ""), *((start, path) for start, path in self._starts if start < len(text))]
        ends = [start for start, _ in starts[1:]] + [len(text)]
        spans = zip(starts, ends, strict=True)
        sections = tuple(Section(path, start, end) for (start, path), end in spans if text[start:end].strip())
        return Readable(text, sections, self._found_title)

    def _end_title(self) -> None:
        if self._title is not None:
            self._found_title = self._found_title or _SPACE.sub(" ", "".join(self._title)).strip() or None
            self._title = None

    def _end_heading(self) -> None:
        if self._heading is not None:
            level, start, words_in = self._heading
            title = _SPACE.sub(" ", "".join(words_in)).strip()
            self._heading = None
            if title:
                self._path = [(upper, name) for upper, name in self._path if upper < level] + [(level, title)]
                self._starts.append((start, PATH_SEPARATOR.join(name for _, name in self._path)))
        self._break(2)

    def _write(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)
            self._breaks = len(text) - len(text.rstrip("\n"))

    def _break(self, count: int) -> None:
        missing = count - self._breaks
        if missing > 0:
            self._parts.append("\n" * missing)
            self._length += missing
        self._breaks = max(self._breaks, count)
