"""The vocabulary of notes: the two kinds, their versions, and what a save, a read and the status report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

DeliveryState: TypeAlias = Literal["accepted", "rejected", "pending"]
ConnectionState: TypeAlias = Literal["idle", "connecting", "connected", "unreachable", "refused"]
KeySource: TypeAlias = Literal["bunker", "keyring", "file", "environment"]


class NoteKind(StrEnum):
    """The two memories of an agent. The short-term one is part of every prompt, the long-term one is read on demand."""

    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"

    @property
    def identifier(self) -> str:
        """The `d` tag of its event, as Didactyl writes it."""
        return f"{self.value}_memory"

    @property
    def max_characters(self) -> int:
        """The most characters (code points) it holds, Didactyl's limits."""
        return 8_000 if self is NoteKind.SHORT_TERM else 32_000


@dataclass(frozen=True, slots=True)
class Stamp:
    """What orders the versions of a note: time in Unix seconds, then event id."""

    created_at: int
    event_id: str

    def supersedes(self, other: Stamp | None) -> bool:
        """Whether this version replaces the other: the later one wins, on a tie the lower id (NIP-01)."""
        return other is None or self.precedence < other.precedence

    @property
    def precedence(self) -> tuple[int, str]:
        """Sort key that puts the winning version first."""
        return (-self.created_at, self.event_id)


@dataclass(frozen=True, slots=True)
class Note:
    """The current text of a memory, "" when there is none. `created_at` is in Unix seconds."""

    kind: NoteKind
    content: str = field(repr=False)
    event_id: str | None = None
    created_at: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def chars(self) -> int:
        """The number of characters of the content."""
        return len(self.content)


@dataclass(frozen=True, slots=True)
class Version:
    """One kept version of a note."""

    kind: NoteKind
    event_id: str
    created_at: int
    current: bool


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of one event at one relay. A pending one is sent again, not before `not_before` (Unix seconds)."""

    event_id: str
    state: DeliveryState
    reason: str = ""
    attempts: int = 0
    not_before: float = 0.0


@dataclass(frozen=True, slots=True)
class SaveReport:
    """What a save did.

    `relays` says what became of the event at each relay by the time of the answer. `overtaken` is a version of another
    writer that this one met: one it replaced unread, or one that is newer than it. Both stay in the history.
    """

    kind: NoteKind
    event_id: str
    created_at: int
    chars: int
    bytes: int
    relays: Mapping[str, Delivery]
    overtaken: Version | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelayStatus:
    """A configured relay: its connection, why it is as it is, and the memories it has still to take."""

    url: str
    state: ConnectionState
    reason: str
    pending: tuple[NoteKind, ...]


@dataclass(frozen=True, slots=True)
class NotesStatus:
    """The state of the notes, without a secret: `npub` is None until a key is made or read."""

    npub: str | None
    key_source: KeySource | None
    relays: tuple[RelayStatus, ...]
    pending_deliveries: int
    versions: Mapping[NoteKind, int]
    warnings: tuple[str, ...]
