"""The signed event that carries one version of a note: its form, its rules and its place in the order of versions."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, cast

from uniko_mcp.notes.models import NoteKind, Stamp

EVENT_KIND: Final = 30_078
"""Application-specific data, replaceable by its `d` tag (NIP-78)."""

CLOCK_SKEW: Final = 900
"""Seconds by which another machine's clock may be ahead before its events count as dated in the future."""

BLANK: Final = " "
"""The plain text of a cleared memory: NIP-44 does not encrypt the empty string, and this one shows as nothing."""

_KINDS: Final = {kind.identifier: kind for kind in NoteKind}


@dataclass(frozen=True, slots=True)
class SignedEvent:
    """A Nostr event (NIP-01). `created_at` is in Unix seconds, `content` is the NIP-44 ciphertext."""

    id: str
    pubkey: str
    created_at: int
    kind: int
    tags: tuple[tuple[str, ...], ...]
    content: str = field(repr=False)
    sig: str = field(repr=False)

    @classmethod
    def from_json(cls, text: str) -> SignedEvent:
        """The event that the JSON text holds.

        Raises:
            ValueError: The text is not the JSON of an event.
        """
        try:
            parts = cast(dict[str, Any], json.loads(text))
            tags = tuple(tuple(str(value) for value in tag) for tag in parts["tags"])
            texts = [str(parts[name]) for name in ("id", "pubkey", "content", "sig")]
            created_at, kind = int(parts["created_at"]), int(parts["kind"])
        except (KeyError, TypeError, ValueError):
            raise ValueError("not a Nostr event") from None
        identifier, pubkey, content, sig = texts
        return cls(identifier, pubkey, created_at, kind, tags, content, sig)

    def to_json(self) -> str:
        """The event as relays take it."""
        parts = {name: getattr(self, name) for name in ("id", "pubkey", "created_at", "kind", "tags", "content", "sig")}
        return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))

    @property
    def stamp(self) -> Stamp:
        """What orders it among the versions of its note."""
        return Stamp(self.created_at, self.id)

    @property
    def note_kind(self) -> NoteKind | None:
        """The note it is a version of; None when it has no `d` tag, several, or another one."""
        identifiers = [tag[1] for tag in self.tags if tag[:1] == ("d",) and len(tag) > 1]
        return _KINDS.get(identifiers[0]) if len(identifiers) == 1 else None


def tags_for(kind: NoteKind, app_tag: str) -> list[list[str]]:
    """The tags of a note's event, as Didactyl writes them."""
    return [["d", kind.identifier], ["app", app_tag]]


def fault_of(event: SignedEvent, *, author: str, now: float) -> str | None:
    """Why the event cannot be a version of a note of `author` (public key in hex); None when it can.

    Relays are not trusted to have filtered. The signature is checked apart, for it is costly.
    """
    if event.pubkey != author:
        return "of another author"
    if event.kind != EVENT_KIND:
        return f"of kind {event.kind}"
    if event.note_kind is None:
        return "without exactly one d tag of a note"
    if event.created_at > now + CLOCK_SKEW:
        return "dated in the future"
    return None
