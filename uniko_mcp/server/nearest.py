"""The hint that goes with an unknown name."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches


def nearest(name: str, known: Collection[str]) -> str:
    """The known name that was probably meant, or all of them."""
    near = get_close_matches(name, known, n=1)
    return f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known) or 'none'}"
