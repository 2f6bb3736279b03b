"""The size limits of a note, checked on the plain text before anything is encrypted or sent."""

from __future__ import annotations

from typing import Final

from uniko_mcp.errors import InvalidArgumentsError, LimitExceededError
from uniko_mcp.notes.models import NoteKind

MAX_BYTES: Final = 65_408
"""The most UTF-8 bytes that NIP-44 encryption takes in `nostr-sdk`."""

MAX_BYTES_FOR_RELAYS: Final = 40_960
"""Padding makes 40,960 bytes an event of 55,093 bytes and 40,961 one of 66,017, over the 64 KiB most relays take."""


def check_size(kind: NoteKind, content: str, *, relays: bool) -> int:
    """The size of the content in UTF-8 bytes.

    Raises:
        InvalidArgumentsError: The content has a lone surrogate, which no encoding can store.
        LimitExceededError: It has more characters or bytes than the memory holds.
    """
    size = _utf8_size(content)
    most = MAX_BYTES_FOR_RELAYS if relays else MAX_BYTES
    excess = [
        f"{amount - limit:,} {unit}"
        for amount, limit, unit in ((len(content), kind.max_characters, "characters"), (size, most, "bytes"))
        if amount > limit
    ]
    if not excess:
        return size
    reason = " with relays configured" if relays else ""
    raise LimitExceededError(
        f"content of {kind} is {len(content):,} characters and {size:,} bytes of UTF-8; it may be at most "
        f"{kind.max_characters:,} characters and {most:,} bytes{reason}",
        next_step=f"Cut at least {' and '.join(excess)}, then save again; the memory is as it was",
    )


def _utf8_size(content: str) -> int:
    try:
        return len(content.encode("utf-8"))
    except UnicodeEncodeError as error:
        position = error.start
    raise InvalidArgumentsError(
        f"content has a lone surrogate at character {position:,}, which is not text",
        next_step="Remove it and save again",
    )
