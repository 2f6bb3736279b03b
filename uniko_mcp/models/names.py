"""When two names mean the same: normal forms for comparison, and ids that follow from a name or a content."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import Any, Final

_ID_DIGITS: Final = 32
"""Hex digits of an id that follows from a name; 128 bits never collide by chance."""

_LATIN_OR_GREEK: Final = re.compile(r"([A-Za-z\u00c0-\u024f\u0370-\u03ff])[\u0300-\u036f]+")


def normalise(text: str) -> str:
    """NFKC, case folded, runs of white space as one space: the form in which triples are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def digest(*parts: Any) -> str:
    """A stable hash of JSON values, to compare contents by."""
    canonical = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def fold(name: str) -> str:
    """The form in which two spellings of one name are equal: NFKC, case folded, without Latin and Greek accents.

    Marks of other scripts are letters of their own and stay, and so does every digit.
    """
    decomposed = unicodedata.normalize("NFD", normalise(name))
    return " ".join(unicodedata.normalize("NFC", _LATIN_OR_GREEK.sub(r"\1", decomposed)).split())


def entity_id(name: str) -> str:
    """The id of the entity of that name: 128 bits of the SHA-256 of its folded name, and of nothing else."""
    return hashlib.sha256(fold(name).encode("utf-8", "surrogatepass")).hexdigest()[:_ID_DIGITS]
