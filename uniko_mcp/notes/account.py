"""The identity in use with all that is kept under it, and the folders of other identities beside it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from uniko_mcp.errors import IdentityError
from uniko_mcp.notes.files import on_disk
from uniko_mcp.notes.identity import Identity, KeyCabinet
from uniko_mcp.notes.models import NoteKind
from uniko_mcp.notes.settings import NotesSettings

if TYPE_CHECKING:
    from uniko_mcp.notes.notebook import Notebook
    from uniko_mcp.notes.outbox import Outbox


UNUSABLE_KEY: Final = "unusable-key"
"""The folder for a key file that was replaced because it could not be read."""


@dataclass(frozen=True, slots=True)
class Account:
    """One identity, its memories and its deliveries. On disk it is a folder named by the npub."""

    identity: Identity
    notebook: Notebook
    outbox: Outbox

    @property
    def npub(self) -> str:
        """The public key as people read it."""
        return self.identity.signer.npub

    async def pending_at(self, relay: str) -> tuple[NoteKind, ...]:
        """The memories whose current version the relay has neither accepted nor rejected."""
        stamps = {kind: await self.notebook.stamp(kind) for kind in NoteKind}
        return tuple(
            kind
            for kind, stamp in stamps.items()
            if stamp and self.outbox.delivery(relay, kind, stamp.event_id).state == "pending"
        )


class Accounts:
    """Opens the account of the configured key when it is first needed: that brings in the crypto library."""

    def __init__(self, directory: Path, settings: NotesSettings) -> None:
        self.folder = directory / "notes"
        self.current: Account | None = None
        self._settings = settings
        self._cabinet = KeyCabinet(directory, settings)
        self._turn = asyncio.Lock()

    async def open(self, *, create: bool = False) -> Account | None:
        """The account of the key in use; None while there is no key. With `create`, a first key is made.

        Raises:
            IdentityError: A source has a key that cannot be used.
        """
        if self.current or not (create or self._cabinet.configured):
            return self.current
        async with self._turn:
            if self.current is None:
                identity = await self._cabinet.load()
                if identity is None and create:
                    identity = await self._cabinet.create()
                self.current = await self._of(identity) if identity else None
        return self.current

    async def rotate(self) -> Account:
        """Move to a new key: both memories are saved under it, then it takes the place of the old one.

        The old key stays beside the versions that it opens.

        Raises:
            IdentityError: There is no key, or it is not the one of the key file.
        """
        old = await self.open()
        if old is None or old.identity.source != "file":
            raise IdentityError(
                f"Only a key in the key file can be rotated; in use is {_source_of(old)}",
                next_step="Rotate it where it comes from",
            )
        secret, identity = await self._cabinet.successor()
        new = await self._of(identity)
        for kind in NoteKind:
            if text := await old.notebook.current(kind):
                await new.notebook.write(kind, text.content)
        await on_disk(self._cabinet.replace, secret, new.npub, self.folder / old.npub)
        self.current = new
        return new

    async def import_key(self, text: str, password: str | None = None) -> Account:
        """Make the key in `text` (nsec, hexadecimal, or ncryptsec with its password) the one in use.

        What was in the key file is kept: a key beside the versions it opens, a damaged one apart.

        Raises:
            IdentityError: It is not a key, the password does not open it, or another source comes before the file.
        """
        try:
            old = await self.open()
        except IdentityError:  # what is there cannot be used, which importing may be to repair
            old = None
        if self._settings.bunker or (old and old.identity.source == "keyring"):
            raise IdentityError(
                "A key in the key file would not be used: a bunker or the keyring comes before it",
                next_step="Take nostr.bunker and nostr.keyring out of the configuration first",
            )
        from uniko_mcp.notes import signer

        secret = await to_thread.run_sync(signer.as_nsec, text, password)
        new = await self._of(Identity(signer.local_signer(secret), "file"))
        if old is None or new.npub != old.npub:
            kept = self.folder / (old.npub if old else UNUSABLE_KEY)
            await on_disk(self._cabinet.replace, secret, new.npub, kept)
            self.current = new
        return self.current or new

    async def export_key(self, password: str) -> str:
        """The key in use as `ncryptsec1…` (NIP-49). There is no export without a password.

        Raises:
            IdentityError: There is no key, or it never leaves its bunker.
        """
        account = await self.open()
        found = await self._cabinet.secret()
        if account is None or found is None or account.identity.source == "bunker":
            raise IdentityError(f"There is no key to export; in use is {_source_of(account)}")
        from uniko_mcp.notes import signer

        return await to_thread.run_sync(signer.encrypt_secret, found[0], password)

    def has(self, kind: NoteKind) -> bool:
        """Whether any identity has such a memory here. Blocks; reads only names."""
        return any(self.folder.glob(f"*/{kind.identifier}/*.json"))

    def others(self, kind: NoteKind) -> list[str]:
        """The npubs of other identities that have this memory here: under a wrong key it looks absent. Blocks."""
        found = {path.parents[1].name for path in self.folder.glob(f"npub1*/{kind.identifier}/*.json")}
        return sorted(found - {self.current.npub if self.current else ""})

    async def _of(self, identity: Identity) -> Account:
        from uniko_mcp.notes.notebook import Notebook
        from uniko_mcp.notes.outbox import Outbox

        folder = self.folder / identity.signer.npub
        outbox = await on_disk(Outbox, folder / "outbox.json")
        return Account(identity, Notebook(folder, identity.signer, self._settings.app_tag), outbox)


def _source_of(account: Account | None) -> str:
    return f"the one from the {account.identity.source}" if account else "none"
