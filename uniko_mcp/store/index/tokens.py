"""Text as the index sees it: the same words for a memory and for the query that looks for it.

Words are folded (Unicode NFKC, case, accents), identifiers are kept whole and in parts, scripts without spaces become
character bigrams, and English inflection is undone, so that `Strasse` finds `Straße`, `bar` finds `foo/bar.py`, `東京`
finds `東京に住む` and `go` finds `went`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Final, Protocol, cast

from uniko_mcp.store.index.words import IRREGULAR_FORMS, STOP_WORDS

LONGEST_TOKEN: Final = 64
"""Longer runs (base64, hashes, minified code) are cut here: nobody types them, and they would fill the index."""

_UNDECOMPOSED: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
)
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_CURLY_APOSTROPHE: Final = str.maketrans("’ʼ", "''")

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Kana, Han
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
)
"""Scripts that are written without spaces or, like Hangul, with endings glued on."""

_WORD: Final = re.compile(
    rf"""
    (?P<unspaced>[{_UNSPACED}]+)
    | (?P<language>\b[A-Za-z](?:\+\+|\#))                                  # C++, C#
    | (?P<word>[^\W_{_UNSPACED}]+(?:[._/\\:@+'-][^\W_{_UNSPACED}]+|_+[^\W_{_UNSPACED}]+)*)
    """,
    re.VERBOSE,
)
_CONNECTOR: Final = re.compile(r"[._/\\:@+-]+")
_VERSION: Final = re.compile(r"v\d+\.\d")
"""A version that some write without its v."""

_CAMEL_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def fold(text: str) -> str:
    """The text in lower case without accents: NFKC, case folding (`ß` becomes `ss`), combining marks of Latin, Greek
    and Cyrillic dropped. Marks of other scripts carry meaning and stay."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", folded)).translate(_UNDECOMPOSED)


def document_tokens(text: str) -> list[str]:
    """The tokens of a memory's text, in order and with repetitions; stop words are left out."""
    return [token for token in _tokens(text, whole_and_single=True) if token not in STOP_WORDS]


def query_tokens(text: str) -> list[str]:
    """The distinct tokens of a query, in order of first use; stop words are left out, so the list may be empty."""
    return list(dict.fromkeys(token for token in _tokens(text, whole_and_single=False) if token not in STOP_WORDS))


def name_tokens(name: str) -> tuple[str, ...]:
    """The folded words of a name, unstemmed: what persons and entities are compared by."""
    return tuple(part for part in re.split(r"[^\w]+", fold(name)) if part)


def entity_key(name: str) -> str:
    """The form of an entity's name that links are kept and looked up by."""
    return " ".join(name_tokens(name))


def _tokens(text: str, *, whole_and_single: bool) -> Iterator[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_CURLY_APOSTROPHE)
    for match in _WORD.finditer(text):
        run = match.group()
        if match.lastgroup == "unspaced":
            yield from _bigrams(run, with_single=whole_and_single)
        elif match.lastgroup == "language":
            yield run.lower()
        else:
            yield from _word_forms(run)


def _bigrams(run: str, *, with_single: bool) -> Iterator[str]:
    """Overlapping pairs of characters; single ones too for a document, so that a query of one character finds it."""
    run = fold(run)
    if with_single or len(run) == 1:
        yield from run
    for start in range(len(run) - 1):
        yield run[start : start + 2]


def _word_forms(run: str) -> Iterator[str]:
    if "'" in run:
        run = run.removesuffix("'s").removesuffix("'S").replace("'", "")
    if run.isalpha():
        yield _stem(fold(run))
        humps = _CAMEL_HUMP.split(run) if not (run.islower() or run.istitle() or run.isupper()) else ()
        yield from (_stem(fold(hump)) for hump in humps if len(humps) > 1)
        return
    parts = [part for part in _CONNECTOR.split(run) if part]
    whole = fold(run)[:LONGEST_TOKEN]
    yield whole
    if _VERSION.match(whole):
        yield whole[1:]
    if len(parts) > 1:
        for part in parts:
            if len(part) > 1:  # the 3 in v2.3.1 says nothing
                yield from _word_forms(part)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    if len(word) > LONGEST_TOKEN:
        return word[:LONGEST_TOKEN]
    if word in STOP_WORDS:
        return word
    word = IRREGULAR_FORMS.get(word, word)
    if word.isascii():
        return _stemmer("english").stem_word(word)
    if "\u0400" <= word[0] <= "\u04ff":
        return _stemmer("russian").stem_word(word)
    return word


class _Stemmer(Protocol):
    def stem_word(self, word: str, /) -> str: ...


@lru_cache(maxsize=2)
def _stemmer(language: str) -> _Stemmer:
    return cast("_Stemmer", import_module("py_rust_stemmers").SnowballStemmer(language))
