"""Whose memory it is: the sources a secret key may come from, and the key file this package makes itself."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from anyio import to_thread

from uniko_mcp.errors import IdentityError
from uniko_mcp.notes.files import on_disk, read_private
from uniko_mcp.notes.models import KeySource
from uniko_mcp.notes.settings import NotesSettings
from uniko_mcp.store.durable import create_file, make_directory, write_file

if TYPE_CHECKING:
    from uniko_mcp.notes.signer import BunkerSession, Signer

KEY_FILE: Final = "identity.key"
KEYRING_SERVICE: Final = "uniko-mcp"
KEYRING_USER: Final = "nostr"

_BUNKER_FILE: Final = "bunker.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Identity:
    """A key that works, where it came from, and the sources that were passed over for it."""

    signer: Signer
    source: KeySource
    warnings: tuple[str, ...] = ()


class KeyCabinet:
    """Finds the secret key among its sources, in the order bunker, keyring, file, environment."""

    def __init__(self, directory: Path, settings: NotesSettings) -> None:
        self._directory = directory
        self._settings = settings

    @property
    def key_file(self) -> Path:
        """Where the key of this data directory is kept, mode 0600."""
        return self._directory / KEY_FILE

    @property
    def configured(self) -> bool:
        """Whether some source may have a key. Looks at the settings and for the file, reads neither."""
        settings = self._settings
        return bool(settings.bunker or settings.keyring or settings.nsec or self.key_file.exists())

    async def load(self) -> Identity | None:
        """The identity of the first source that has a key; None when there is none yet.

        Raises:
            IdentityError: A source has something that is not a key, is open to others, or does not answer.
        """
        module = await to_thread.run_sync(_signer_module)
        if self._settings.bunker:
            return Identity(await self._from_bunker(self._settings.bunker.get_secret_value()), "bunker")
        found = await self.secret()
        if found is None:
            return None
        secret, source = found
        signer = module.local_signer(secret)
        return Identity(signer, source, self._passed_over(signer, source))

    async def secret(self) -> tuple[str, KeySource] | None:
        """The secret key (nsec or hexadecimal) that is in use, and its source; None when there is none in reach.

        Raises:
            IdentityError: As for `load`.
        """
        settings = self._settings
        if settings.keyring and (secret := await to_thread.run_sync(_keyring_secret)):
            return secret, "keyring"
        if secret := await on_disk(self.read_key_file):
            return secret, "file"
        return (settings.nsec.get_secret_value(), "environment") if settings.nsec else None

    async def create(self) -> Identity:
        """Make a key, keep it in the key file, and say once whose it is.

        Raises:
            IdentityError: Another process made one at the same moment and it cannot be read.
        """
        signer = await to_thread.run_sync(_signer_module)
        secret = signer.new_secret()
        made = signer.local_signer(secret)
        if not await on_disk(self._keep_first, secret, made.npub):
            existing = await self.load()
            assert existing is not None
            return existing
        _log.warning("Made a new Nostr identity, %s. Its secret key is in %s; keep a copy.", made.npub, self.key_file)
        return Identity(made, "file")

    def read_key_file(self) -> str | None:
        """The secret key in the key file; None when there is no file.

        Raises:
            IdentityError: Other users can read the file, or it does not hold exactly one key.
        """
        if not self.key_file.exists():
            return None
        lines = [line.strip() for line in read_private(self.key_file).splitlines()]
        secrets = [line for line in lines if line and not line.startswith("#")]
        if len(secrets) != 1:
            raise IdentityError(
                f"{KEY_FILE} holds {len(secrets)} keys",
                next_step="It must be one line: nsec1… or 64 hexadecimal digits",
            )
        return secrets[0]

    async def successor(self) -> tuple[str, Identity]:
        """A new key (nsec) that is not in use yet, and its identity."""
        signer = await to_thread.run_sync(_signer_module)
        secret = signer.new_secret()
        return secret, Identity(signer.local_signer(secret), "file")

    def replace(self, secret: str, npub: str, old_folder: Path) -> None:
        """Make `secret` (nsec) the key of this data directory. The key that was there goes to `old_folder`. Blocks."""
        make_directory(self._directory)
        if self.key_file.exists():
            make_directory(old_folder)
            write_file(old_folder / KEY_FILE, self.key_file.read_bytes())
        write_file(self.key_file, _key_text(secret, npub))

    def _keep_first(self, secret: str, npub: str) -> bool:
        """Like `replace`, but only when there is no key file; whether it was written."""
        make_directory(self._directory)
        return create_file(self.key_file, _key_text(secret, npub))

    def _passed_over(self, used: Signer, source: KeySource) -> tuple[str, ...]:
        if source == "environment" or not self._settings.nsec:
            return ()
        other = _signer_module().local_signer(self._settings.nsec.get_secret_value())
        if other.public_key == used.public_key:
            return ()
        return (f"nostr.nsec ({other.npub}) is not used, for the key from the {source} ({used.npub}) comes before it",)

    async def _from_bunker(self, uri: str) -> Signer:
        path = self._directory / "notes" / _BUNKER_FILE
        address = hashlib.sha256(uri.encode()).hexdigest()
        known = await on_disk(_read_bunker_session, path, address)
        signer, session = await _signer_module().connect_bunker(uri, known, self._settings.patience.bunker)
        if session != known:
            await on_disk(_write_bunker_session, path, address, session)
        return signer


def _key_text(secret: str, npub: str) -> bytes:
    return f"# Secret Nostr key of {npub}. Whoever has it can read and write this memory.\n{secret}\n".encode()


def _keyring_secret() -> str | None:
    try:
        keyring, errors = import_module("keyring"), import_module("keyring.errors")
    except ImportError:
        raise IdentityError(
            "nostr.keyring is set, but the keyring package is not installed",
            next_step="Install uniko-mcp[keyring], or unset it",
        ) from None
    try:
        return cast(str | None, keyring.get_password(KEYRING_SERVICE, KEYRING_USER))
    except errors.KeyringError as error:
        raise IdentityError(f"The keyring of the system does not answer ({type(error).__name__})") from None


def _read_bunker_session(path: Path, address: str) -> BunkerSession | None:
    if not path.exists():
        return None
    try:
        kept = cast(dict[str, str], json.loads(read_private(path)))
        if kept["address"] != address:
            return None
        return _signer_module().BunkerSession(kept["client_key"], kept["public_key"])
    except (ValueError, KeyError, TypeError):
        return None  # it only saves asking the bunker again


def _write_bunker_session(path: Path, address: str, session: BunkerSession) -> None:
    make_directory(path.parent)
    kept = {"address": address, "client_key": session.client_key, "public_key": session.public_key}
    write_file(path, json.dumps(kept).encode())


def _signer_module():
    """`uniko_mcp.notes.signer`, imported late because it brings nostr_sdk."""
    from uniko_mcp.notes import signer

    return signer
