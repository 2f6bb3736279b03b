"""The hint that goes with an unknown name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_SIMILAR: Final = 0.5
"""The share of letters in common (`difflib` ratio) from which on a name may be a misspelling of another."""


def nearest(name: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """The known name that was probably meant; when none is near, `otherwise`, or else all of them."""
    names = list(known)
    if near := get_close_matches(name, names, n=1, cutoff=_SIMILAR):
        return f"Did you mean {near[0]}?"
    return otherwise or f"Known: {', '.join(names) or 'none'}"
