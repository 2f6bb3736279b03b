"""The short-term memory as a section of a prompt: a heading and the text, fenced and labelled as recorded data."""

from __future__ import annotations

from typing import Final

from uniko_mcp.models.fence import fence

HEADING: Final = "## Short-Term Memory"
LABEL: Final = "what this agent noted for itself"


def section(content: str) -> str:
    """The whole section; "" when the memory is blank."""
    return _framed(content.rstrip("\n")) if content.strip() else ""


def fit_section(content: str, limit: int, rest: str) -> str:
    """The section in at most `limit` characters: whole lines as far as they fit, then where the rest is.

    A first line that is too long by itself is cut within. `rest` says where the whole text can be read, such as
    "resource memory://short-term". "" when the memory is blank or not even the frame fits.
    """
    whole = section(content)
    if len(whole) <= limit:
        return whole
    pointer = f"\nCut here: {len(content):,} characters in all. The rest: {rest}"
    frame = len(_framed(content)) - len(content)
    kept = _leading_lines(content, limit - frame - len(pointer))
    return _framed(kept) + pointer if kept else ""


def _leading_lines(content: str, room: int) -> str:
    """The lines that fit into `room` characters; of a first line that does not fit, as much of it as does."""
    if room <= 0:
        return ""
    end = content.rfind("\n", 0, room + 1)
    return content[: end if end > 0 else room]


def _framed(text: str) -> str:
    return f"{HEADING}\n\n{fence(text, LABEL)}"
