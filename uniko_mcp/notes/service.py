"""The notes of an agent as a service: saved and read here at once, carried to the relays in the background."""

from __future__ import annotations

import asyncio
import difflib
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from uniko_mcp.errors import IdentityError, NotFoundError
from uniko_mcp.notes.account import Account, Accounts
from uniko_mcp.notes.events import SignedEvent
from uniko_mcp.notes.files import on_disk
from uniko_mcp.notes.limits import check_size
from uniko_mcp.notes.models import Note, NoteKind, NotesStatus, SaveReport, Stamp, Version
from uniko_mcp.notes.section import fit_section, section
from uniko_mcp.notes.settings import NotesSettings
from uniko_mcp.notes.status import notes_status, overtaken_warning, warnings_on

if TYPE_CHECKING:
    from uniko_mcp.notes.courier import Courier
    from uniko_mcp.notes.notebook import Receipt

SHORT_TERM_RESOURCE: Final = "memory://short-term"
SHORTEST_ID_PREFIX: Final = 8

FIRST_ANSWER_PATIENCE: Final = 1.0
"""Seconds a read waits for the relays' first answer, when there is nothing here to answer with."""

REREAD_PATIENCE: Final = 5.0
DELIVERY_PATIENCE: Final = 15.0
CLOSING_PATIENCE: Final = 0.5
"""Seconds that closing gives to saves, and then to open connections; the outbox has what is left."""

_log = logging.getLogger(__name__)
Listener: TypeAlias = Callable[[NoteKind], None]
T = TypeVar("T")


class Notes:
    """Short- and long-term memory of one agent. Made by `open`; all methods belong to one event loop."""

    def __init__(self, directory: Path, settings: NotesSettings) -> None:
        self._settings = settings
        self._accounts = Accounts(directory, settings)
        self._courier: Courier | None = None
        self._delivering = False
        self._failure = ""
        self._unread: dict[NoteKind, Stamp] = {}
        """Versions of other writers that became current here and were not read since."""
        self._listeners: list[Listener] = []
        self._saving = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._warming: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, directory: Path, settings: NotesSettings) -> Notes:
        """The notes in the data directory, without network.

        Key and crypto library are only touched when there is a short-term memory, which is then decrypted beside
        whatever the caller does next; see `ready`.
        """
        notes = cls(directory, settings)
        if await on_disk(notes._accounts.has, NoteKind.SHORT_TERM):
            notes._warming = notes._spawn(notes._warm_up())
        return notes

    async def ready(self) -> None:
        """Wait until the short-term memory is decrypted. A key that cannot be used shows in `status`, not here."""
        if self._warming:
            await self._warming

    async def start_delivery(self) -> None:
        """Fetch from and deliver to the relays from now on, in the background. Returns at once."""
        if self._settings.relays and not self._delivering:
            self._delivering = True
            self._spawn(self._warm_up())

    async def close(self) -> None:
        """Finish saves, give open connections a moment for what is pending, and end them."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSING_PATIENCE)
        for task in list(self._tasks):
            task.cancel()
        self._delivering = False
        if self._courier:
            await self._courier.rest(CLOSING_PATIENCE)
        await self._stop_courier()

    async def save(self, kind: NoteKind, content: str, *, wait_for_relays: bool = False) -> SaveReport:
        """Make `content` the memory; blank text clears it. Completes even when the caller is cancelled meanwhile.

        Returns once it is on disk; the relays get it in the background, or before the answer with `wait_for_relays`,
        which also asks them first whether another writer was faster.

        Raises:
            InvalidArgumentsError, LimitExceededError: The content is not text, or too large.
            IdentityError: The key cannot be used.
            StoreError: The disk did not take it.
        """
        content = content if content.strip() else ""
        size = check_size(kind, content, relays=bool(self._settings.relays))
        return await asyncio.shield(self._spawn(self._save(kind, content, size, wait_for_relays=wait_for_relays)))

    async def read(self, kind: NoteKind) -> Note:
        """The memory as it is here; waits a moment for the relays only when there is nothing here.

        Raises:
            IdentityError: The key cannot be used.
        """
        account = await self._accounts.open()
        text = await account.notebook.current(kind) if account else None
        if account and text is None and (courier := self._start_courier()):
            await courier.heard(FIRST_ANSWER_PATIENCE)
            text = await account.notebook.current(kind)
        self._unread.pop(kind, None)
        self._note_success()
        warnings = tuple(await warnings_on(kind, self._accounts, self._courier, self._settings))
        if text is None:
            return Note(kind, "", warnings=warnings)
        return Note(kind, text.content, text.stamp.event_id, text.stamp.created_at, warnings)

    def short_term_section(self, limit: int | None = None) -> str:
        """The short-term memory as a fenced markdown section, "" when there is none. Empty until `ready`.

        With `limit` it has at most so many characters: whole lines as far as they fit, then where the rest is.
        """
        account = self._accounts.current
        text = account.notebook.cached(NoteKind.SHORT_TERM) if account else None
        if text is None:
            return ""
        self._unread.pop(NoteKind.SHORT_TERM, None)
        return section(text.content) if limit is None else fit_section(text.content, limit, SHORT_TERM_RESOURCE)

    def on_save(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called with the kind whenever a memory changed, here or by another writer of the same key.

        Returns the function that ends it.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def history(self, kind: NoteKind) -> list[Version]:
        """The kept versions, newest first."""
        account = await self._accounts.open()
        return await account.notebook.versions(kind) if account else []

    async def version(self, event_id: str) -> Note:
        """A kept version, by its event id or the first eight or more digits of it.

        Raises:
            NotFoundError: There is no such version, there are several, or it cannot be read any more.
        """
        account, found = await self._find(event_id)
        text = await account.notebook.text(found)
        return Note(found.kind, text.content, found.event_id, found.created_at)

    async def diff(self, older: str, newer: str) -> str:
        """What changed between two versions as a unified diff, "" when nothing did.

        Raises:
            NotFoundError: As for `version`.
        """
        before, after = await self.version(older), await self.version(newer)
        lines = difflib.unified_diff(
            before.content.splitlines(), after.content.splitlines(), _label(before), _label(after), lineterm=""
        )
        return "\n".join(lines)

    async def restore(self, event_id: str, *, wait_for_relays: bool = False) -> SaveReport:
        """Save an earlier version again, as a new one.

        Raises:
            NotFoundError: As for `version`; else as for `save`.
        """
        note = await self.version(event_id)
        return await self.save(note.kind, note.content, wait_for_relays=wait_for_relays)

    async def rotate(self) -> str:
        """Make a new key and save both memories under it. Returns the new npub.

        The old key is kept beside the versions it opens. What relays have stays there under the old key.

        Raises:
            IdentityError: There is no key, or it is not the one of the key file.
        """
        return await self._change_key(self._accounts.rotate())

    async def import_key(self, text: str, password: str | None = None) -> str:
        """Take the key in `text` (nsec, hexadecimal, or ncryptsec with its password) into use. Returns its npub.

        What was saved under the key before it is kept with that key, and does not move along.

        Raises:
            IdentityError: It is not a key, the password does not open it, or another source comes before the file.
        """
        return await self._change_key(self._accounts.import_key(text, password))

    async def export_key(self, password: str) -> str:
        """The key in use as `ncryptsec1…` (NIP-49).

        Raises:
            IdentityError: There is no key, or it never leaves its bunker.
        """
        return await self._accounts.export_key(password)

    async def sync(self, patience: float = DELIVERY_PATIENCE) -> NotesStatus:
        """Read every relay once more and deliver what is pending, waiting at most `patience` seconds for each step.

        Raises:
            IdentityError: The key cannot be used.
        """
        if await self._accounts.open():
            self._delivering = bool(self._settings.relays)
            if courier := self._start_courier():
                await courier.reread(patience)
                await courier.rest(patience)
        return await self.status()

    async def status(self) -> NotesStatus:
        """The state of key, relays and versions. Never a secret."""
        try:
            account = await self._accounts.open()
            if account and account.identity.source != "bunker":  # one that is down would be waited for
                for kind in NoteKind:
                    await account.notebook.current(kind)
        except IdentityError as error:
            self._failure = str(error)
        return await notes_status(self._settings, self._accounts, self._courier, self._failure)

    async def _save(self, kind: NoteKind, content: str, size: int, *, wait_for_relays: bool) -> SaveReport:
        if wait_for_relays:
            await self._reread()
        async with self._saving:
            account = await self._accounts.open(create=True)
            assert account is not None
            courier = self._start_courier()
            event = await account.notebook.write(kind, content)
            met = self._unread.pop(kind, None)
            self._note_success()
            self._tell(kind)
        if courier:
            courier.post()
        if courier and wait_for_relays:
            await courier.delivered(kind, event.id, DELIVERY_PATIENCE)
        return self._report(account, event, kind, content, size, met)

    async def _change_key(self, change: Coroutine[Any, Any, Account]) -> str:
        async with self._saving:
            await self._stop_courier()
            try:
                account = await change
            finally:
                self._start_courier()
            self._failure = ""
        for kind in NoteKind:
            await account.notebook.current(kind)
            self._tell(kind)
        return account.npub

    async def _reread(self) -> None:
        """Take in what other writers have saved, as far as relays can be reached."""
        await self._accounts.open(create=True)
        self._delivering = bool(self._settings.relays)
        if courier := self._start_courier():
            await courier.reread(REREAD_PATIENCE)

    def _report(
        self, account: Account, event: SignedEvent, kind: NoteKind, content: str, size: int, met: Stamp | None
    ) -> SaveReport:
        current = account.notebook.cached(kind)
        newest = current.stamp if current else event.stamp
        other = newest if newest.supersedes(event.stamp) else met
        overtaken = Version(kind, other.event_id, other.created_at, current=other == newest) if other else None
        return SaveReport(
            kind=kind,
            event_id=event.id,
            created_at=event.created_at,
            chars=len(content),
            bytes=size,
            relays={url: account.outbox.delivery(url, kind, event.id) for url in self._settings.relays},
            overtaken=overtaken,
            warnings=(overtaken_warning(event.stamp, overtaken),) if overtaken else (),
        )

    async def _receive(self, event: SignedEvent) -> Receipt:
        """Take an event that a relay sent."""
        account = self._accounts.current
        assert account is not None
        receipt = await account.notebook.receive(event)
        if receipt.outcome == "current" and receipt.kind:
            self._unread[receipt.kind] = event.stamp
            self._tell(receipt.kind)
            if self._courier:
                self._courier.post()  # to the other relays
        return receipt

    def _tell(self, kind: NoteKind) -> None:
        for listener in list(self._listeners):
            try:
                listener(kind)
            except Exception:  # what a listener does wrong must not undo a save
                _log.exception("A listener to changes of %s failed", kind)

    def _start_courier(self) -> Courier | None:
        """The courier, once delivery was asked for and there is a key."""
        account = self._accounts.current
        if self._courier is None and self._delivering and account:
            from uniko_mcp.notes.courier import Courier

            self._courier = Courier(account, self._settings, self._receive)
        return self._courier

    async def _stop_courier(self) -> None:
        courier, self._courier = self._courier, None
        if courier:
            await courier.stop()

    async def _warm_up(self) -> None:
        """Open what is to be at hand: the short-term memory, and the relays where delivery was asked for."""
        try:
            account = await self._accounts.open()
            self._start_courier()
            if account:
                await account.notebook.current(NoteKind.SHORT_TERM)
        except IdentityError as error:
            self._failure = str(error)
            _log.warning("The notes cannot be opened: %s", error)

    def _note_success(self) -> None:
        """The key works. When it did not before, what was to be at hand is opened now."""
        if self._failure:
            self._failure = ""
            self._spawn(self._warm_up()).add_done_callback(lambda _: self._tell(NoteKind.SHORT_TERM))

    async def _find(self, event_id: str) -> tuple[Account, Version]:
        account = await self._accounts.open()
        prefix = event_id.strip().lower()
        if account and len(prefix) >= SHORTEST_ID_PREFIX:
            kept = [version for kind in NoteKind for version in await account.notebook.versions(kind)]
            matches = [version for version in kept if version.event_id.startswith(prefix)]
            if len(matches) == 1:
                return account, matches[0]
        raise NotFoundError(
            f"No single version has the id {event_id!r}",
            next_step=f"Give at least {SHORTEST_ID_PREFIX} digits of an id from the history",
        )

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _label(note: Note) -> str:
    return f"{note.kind} {(note.event_id or '')[:SHORTEST_ID_PREFIX]}"
