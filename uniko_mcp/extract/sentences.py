"""Where one sentence ends and the next begins, in any script that marks the ends of its sentences."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from uniko_mcp.extract.blocks import Block, blocks, looks_like_code
from uniko_mcp.extract.wordlist import words

_EMOJI = "\U0001f300-\U0001faff\u2600-\u27bf\U0001f1e6-\U0001f1ff"
_STOPS: Final = re.compile(
    rf"""(?P<latin>[.!?…]+["'”’»)\]]*(?:[ \t]*[{_EMOJI}][\ufe0f\u200d{_EMOJI}]*)*)(?=\s|$)
    |(?P<cjk>[。！？｡．]+["'”’」』）)]*)
    |(?P<emoji>[{_EMOJI}][\ufe0f\u200d{_EMOJI}]*)(?=\s+["'“]?[^\W\d_a-z]|$)
    |(?P<line>[ \t]*\r?\n)""",
    re.VERBOSE,
)

_ABBREVIATIONS: Final = words(
    """
    mr mrs ms dr prof sr jr st rev gen col capt lt sgt gov sen rep hon mt ft vs etc e.g i.e cf al approx ca est no
    nos vol fig figs eq sec ch pp ed eds inc ltd co corp dept univ assn bros u.s u.k a.m p.m ph.d m.d b.sc m.sc jan
    feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun z.b d.h u.a usw bzw ggf
    nr str
    """
)
_WORDS_TOO: Final = words("ms no sun sat mar sec est gen col rev fig st rep hon sen mon wed ed ch ft co al ca mt")
_MAY_END_A_SENTENCE: Final = words("etc inc ltd co corp jr sr a.m p.m u.s u.k ph.d m.d usw")
_LAST_WORD: Final = re.compile(r"[\w.]+$")
_NEXT: Final = re.compile(r"""\s*["'“‘«(\[]*(\S)""")
_OPENS_LOWER_CASE: Final = re.compile(
    r"\s*(?:i|it|its|we|you|he|she|they|the|this|that|these|there|my|our|and|but|so|also|then|now|what|how|can|do)\b"
)  # how sentences begin where all is written in lower case
_SHORT_LINE: Final = 60  # a line this much shorter than a screen was broken on purpose, not wrapped


class Stretch(NamedTuple):
    """The characters `text[start:end]`."""

    start: int
    end: int


def sentences(text: str) -> list[Stretch]:
    """The sentences of running text and list items, in order, trimmed; code, tables, headings and quotations have none.

    What is quoted with ">" is what someone else said.
    """
    found: list[Stretch] = []
    for block in blocks(text):
        if block.kind in {"paragraph", "item"}:
            found += split_block(text, block)
    return found


def split_block(text: str, block: Block) -> list[Stretch]:
    """The sentences inside one block."""
    return split(text, block.body, block.end)


def split(text: str, start: int = 0, end: int | None = None) -> list[Stretch]:
    """The sentences of `text[start:end]`, trimmed; nothing but white space lies between them."""
    end = len(text) if end is None else end
    found: list[Stretch] = []
    begin = start
    for stop in _STOPS.finditer(text, start, end):
        if _ends_sentence(text, begin, stop, end):
            found += _trimmed(text, begin, stop.end())
            begin = stop.end()
    return found + _trimmed(text, begin, end)


def _ends_sentence(text: str, begin: int, stop: re.Match[str], end: int) -> bool:
    if stop.lastgroup == "line":
        return _breaks_line(text, begin, stop, end)
    if stop.lastgroup != "latin" or "!" in stop.group() or "?" in stop.group():
        return True
    following = _NEXT.match(text, stop.end(), end)
    if following is None:
        return True
    lower = following.group(1).islower()
    if lower and (stop.group() != "." or not _OPENS_LOWER_CASE.match(text, stop.end(), end)):
        return False
    if stop.group() != ".":
        return True
    match = _LAST_WORD.search(text, max(begin, stop.start() - 20), stop.start())
    if match is None:
        return True
    word = match.group().lower()
    if word in _WORDS_TOO and not _is_abbreviated(match.group(), following.group(1)):
        return True
    if word in _ABBREVIATIONS:
        return word in _MAY_END_A_SENTENCE and not lower
    initial = len(word) == 1 and word.isalpha() and word != "i"
    numbering = word.isdigit() and match.start() == begin
    return not (initial or numbering)


def _is_abbreviated(word: str, following: str) -> bool:
    """Whether one of the words that may be either is an abbreviation: "No. 5" and "Ms. Lee", not "500 ms. Then"."""
    return following.isdigit() or (word[0].isupper() and word.lower() != "no")


def _breaks_line(text: str, begin: int, stop: re.Match[str], end: int) -> bool:
    line_start = text.rfind("\n", 0, stop.start()) + 1
    next_end = text.find("\n", stop.end(), end)
    following = text[stop.end() : next_end if next_end >= 0 else end]
    if not following.strip() or not text[begin : stop.start()].strip():
        return True
    if stop.start() - max(line_start, begin) < _SHORT_LINE or looks_like_code(following):
        return True
    return not following.lstrip()[0].islower()


def _trimmed(text: str, start: int, end: int) -> list[Stretch]:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    right = len(piece.rstrip())
    return [Stretch(start + left, start + right)] if right > left else []
