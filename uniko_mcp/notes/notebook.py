"""The memories of one identity: its signed versions on disk, and their plain text in this process only."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Literal

from anyio import to_thread

from uniko_mcp.errors import NotFoundError
from uniko_mcp.notes.archive import Archive
from uniko_mcp.notes.events import BLANK, SignedEvent, fault_of, tags_for
from uniko_mcp.notes.files import on_disk
from uniko_mcp.notes.models import NoteKind, Stamp, Version
from uniko_mcp.notes.signer import Signer, UndecryptableError, is_signed

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Text:
    """The plain text of one version."""

    stamp: Stamp
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an event from a relay.

    `current`: it is the newest version now. `older`: it joined the history. `known`: it was there already.
    `unreadable`: it is ours, cannot be decrypted and was set aside. `refused`: it is no version of a note of ours, for
    `reason`.
    """

    outcome: Literal["current", "older", "known", "unreadable", "refused"]
    kind: NoteKind | None = None
    reason: str = ""


class Notebook:
    """Reads, writes and receives versions. Writing and receiving take turns."""

    def __init__(self, folder: Path, signer: Signer, app_tag: str) -> None:
        self.signer = signer
        self._folder = folder
        self._app_tag = app_tag
        self._archives = {kind: Archive(folder / kind.identifier) for kind in NoteKind}
        self._cache: dict[NoteKind, Text | None] = {}
        self._high_water: dict[NoteKind, Stamp | None] = {}
        """The newest version of each note that was ever seen here, whether it can be read or not."""
        self._turn = asyncio.Lock()

    def cached(self, kind: NoteKind) -> Text | None:
        """The current text, as far as it has been opened."""
        return self._cache.get(kind)

    async def current(self, kind: NoteKind) -> Text | None:
        """The current text; None when there is none that can be read.

        Raises:
            IdentityError: The signer did not answer.
        """
        if kind in self._cache:
            return self._cache[kind]
        async with self._turn:
            return await self._open(kind)

    def is_open(self, kind: NoteKind) -> bool:
        """Whether the current text was looked for, so that asking again costs nothing."""
        return kind in self._cache

    async def stamp(self, kind: NoteKind) -> Stamp | None:
        """The current version, without decrypting it: one that was not opened yet may turn out to be unreadable."""
        if kind not in self._cache:
            return await on_disk(self._archives[kind].newest)
        text = self._cache[kind]
        return text.stamp if text else None

    async def write(self, kind: NoteKind, content: str) -> SignedEvent:
        """Make `content` the current version: encrypted, signed, on disk. The one before stays in the history.

        Raises:
            IdentityError: The signer did not answer.
            StoreError: The disk did not take it. The current version is then as it was.
        """
        async with self._turn:
            await self._open(kind)
            newest = self._high_water[kind]
            created_at = max(int(time()), newest.created_at + 1 if newest else 0)
            payload = await self.signer.encrypt(content or BLANK)
            event = await self.signer.sign(payload, tags_for(kind, self._app_tag), created_at)
            await on_disk(self._archives[kind].add, event)
            self._saw(kind, event.stamp)
            self._cache[kind] = Text(event.stamp, content)
            return event

    async def receive(self, event: SignedEvent) -> Receipt:
        """Take an event from a relay, which may be anything.

        Raises:
            IdentityError: The signer did not answer.
            StoreError: The disk did not take it.
        """
        if fault := fault_of(event, author=self.signer.public_key, now=time()):
            return Receipt("refused", reason=fault)
        if not await to_thread.run_sync(is_signed, event):
            return Receipt("refused", reason="with a wrong signature")
        kind = event.note_kind
        assert kind is not None
        async with self._turn:
            return await self._take(kind, event)

    async def event(self, kind: NoteKind) -> SignedEvent | None:
        """The signed event of the current text."""
        text = await self.current(kind)
        return await on_disk(self._archives[kind].read, text.stamp) if text else None

    async def versions(self, kind: NoteKind) -> list[Version]:
        """The kept versions, newest first."""
        current = await self.current(kind)
        stamps = await on_disk(self._archives[kind].stamps)
        return [
            Version(kind, stamp.event_id, stamp.created_at, stamp == (current and current.stamp)) for stamp in stamps
        ]

    async def text(self, version: Version) -> Text:
        """The plain text of a kept version.

        Raises:
            NotFoundError: It cannot be read any more.
            IdentityError: The signer did not answer.
        """
        text = await self._decipher(version.kind, Stamp(version.created_at, version.event_id))
        if text is None:
            raise NotFoundError(
                f"Version {version.event_id} of {version.kind} cannot be read",
                next_step=f"It was damaged or made by another key; its file is kept below {self._folder}",
            )
        return text

    async def count(self, kind: NoteKind) -> int:
        """How many versions are kept."""
        return len(await on_disk(self._archives[kind].stamps))

    async def unreadable(self, kind: NoteKind) -> Stamp | None:
        """A version newer than the current one that cannot be read, if there is one."""
        current = await self.current(kind)
        newest = self._high_water[kind]
        return newest if newest and newest.supersedes(current.stamp if current else None) else None

    async def _take(self, kind: NoteKind, event: SignedEvent) -> Receipt:
        before = await self._open(kind)
        archive = self._archives[kind]
        self._saw(kind, event.stamp)
        try:
            content = await self.signer.decrypt(event.content)
        except UndecryptableError:
            if await on_disk(archive.keep_aside, event):
                _log.warning("A relay has a version of %s that %s cannot read; kept aside", kind, self.signer.npub)
            return Receipt("unreadable", kind)
        if not await on_disk(archive.add, event):
            return Receipt("known", kind)
        if not event.stamp.supersedes(before.stamp if before else None):
            return Receipt("older", kind)
        self._cache[kind] = Text(event.stamp, _unblanked(content))
        return Receipt("current", kind)

    async def _open(self, kind: NoteKind) -> Text | None:
        """Decrypt the newest version that can be read; what cannot be is set aside on the way."""
        if kind in self._cache:
            return self._cache[kind]
        text = None
        self._high_water[kind] = await on_disk(self._archives[kind].high_water)
        for stamp in await on_disk(self._archives[kind].stamps):
            if text := await self._decipher(kind, stamp):
                break
            place = await on_disk(self._archives[kind].set_aside, stamp)
            _log.warning("A version of %s cannot be read by %s; kept as %s", kind, self.signer.npub, place)
        self._cache[kind] = text
        return text

    def _saw(self, kind: NoteKind, stamp: Stamp) -> None:
        if stamp.supersedes(self._high_water[kind]):
            self._high_water[kind] = stamp

    async def _decipher(self, kind: NoteKind, stamp: Stamp) -> Text | None:
        """The text of a version on disk; None when its file is damaged or another key encrypted it."""
        try:
            event = await on_disk(self._archives[kind].read, stamp)
            if not await to_thread.run_sync(is_signed, event):
                return None
            return Text(stamp, _unblanked(await self.signer.decrypt(event.content)))
        except (ValueError, UndecryptableError):
            return None


def _unblanked(content: str) -> str:
    return "" if content == BLANK else content
