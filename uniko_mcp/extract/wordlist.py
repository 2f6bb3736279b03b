"""How the word lists of this package are written: as running text, one word after the other."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The set of the words of the text."""
    return frozenset(text.split())
