"""Who encrypts, decrypts and signs: a key held here, or a NIP-46 bunker that holds it elsewhere.

The first of the modules that need `nostr_sdk`; imported where a memory is first opened or saved, never before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol, TypeVar

import nostr_sdk  # pyright: ignore[reportMissingTypeStubs]
from anyio import to_thread

from uniko_mcp.errors import IdentityError
from uniko_mcp.notes.events import EVENT_KIND, SignedEvent
from uniko_mcp.notes.redaction import register_secret_key
from uniko_mcp.notes.sdk import SdkError

_ENCRYPTION_ROUNDS: Final = 16
"""NIP-49's log_n: 64 MiB and about 0.1 s for each guess of the password."""

T = TypeVar("T")


class UndecryptableError(Exception):
    """A content that this identity's key does not open."""


class Signer(Protocol):
    """An identity that can work: its public key, and what needs the secret one."""

    @property
    def public_key(self) -> str:
        """In hexadecimal, as events carry it."""
        ...

    @property
    def npub(self) -> str:
        """The public key as people read it (NIP-19)."""
        ...

    @property
    def authenticator(self) -> nostr_sdk.AsyncNostrSigner:
        """What answers a relay's NIP-42 challenge."""
        ...

    async def encrypt(self, text: str) -> str:
        """NIP-44 from the identity to itself."""
        ...

    async def decrypt(self, payload: str) -> str:
        """The text of a payload that the identity encrypted to itself.

        Raises:
            UndecryptableError: The key does not open it.
            IdentityError: The signer did not answer.
        """
        ...

    async def sign(self, content: str, tags: list[list[str]], created_at: int) -> SignedEvent:
        """The signed event with this content."""
        ...


class LocalSigner:
    """A secret key in this process."""

    def __init__(self, keys: nostr_sdk.Keys) -> None:
        self._keys = keys
        self._public = keys.public_key()
        self.public_key = self._public.to_hex()
        self.npub = self._public.to_bech32()
        register_secret_key(keys.secret_key().to_hex())

    def __repr__(self) -> str:
        return f"LocalSigner({self.npub})"

    @property
    def nsec(self) -> str:
        """The secret key."""
        return self._keys.secret_key().to_bech32()

    @property
    def authenticator(self) -> nostr_sdk.AsyncNostrSigner:
        return self._keys  # pyright: ignore[reportReturnType]  # Keys has all of its methods without declaring it

    async def encrypt(self, text: str) -> str:
        return await to_thread.run_sync(self._keys.nip44_encrypt, self._public, text)

    async def decrypt(self, payload: str) -> str:
        try:
            return await to_thread.run_sync(self._keys.nip44_decrypt, self._public, payload)
        except SdkError as error:
            raise UndecryptableError(f"not readable by {self.npub}") from error

    async def sign(self, content: str, tags: list[list[str]], created_at: int) -> SignedEvent:
        unsigned = _unsigned(self._public, content, tags, created_at)
        return _plain(await to_thread.run_sync(self._keys.sign_event, unsigned))


class BunkerSigner:
    """A key that stays in a NIP-46 bunker and is asked over relays."""

    def __init__(self, connection: nostr_sdk.NostrConnect, public_key: nostr_sdk.PublicKey, patience: float) -> None:
        self._patience = patience
        self._connection = connection
        self._public = public_key
        self.public_key = public_key.to_hex()
        self.npub = public_key.to_bech32()

    def __repr__(self) -> str:
        return f"BunkerSigner({self.npub})"

    @property
    def authenticator(self) -> nostr_sdk.AsyncNostrSigner:
        return self._connection  # pyright: ignore[reportReturnType]  # as for Keys

    async def encrypt(self, text: str) -> str:
        return await self._answer("encrypt", self._connection.nip44_encrypt_async(self._public, text))

    async def decrypt(self, payload: str) -> str:
        return await self._answer("decrypt", self._connection.nip44_decrypt_async(self._public, payload))

    async def sign(self, content: str, tags: list[list[str]], created_at: int) -> SignedEvent:
        unsigned = _unsigned(self._public, content, tags, created_at)
        signed = await self._answer("sign", self._connection.sign_event_async(unsigned))
        if signed is None or not signed.verify() or signed.author().to_hex() != self.public_key:
            raise IdentityError("The bunker signed with another key than it announced")
        return _plain(signed)

    async def _answer(self, what: str, answer: Awaitable[T]) -> T:
        return await _from_bunker(what, answer, self._patience)


@dataclass(frozen=True, slots=True)
class BunkerSession:
    """What a bunker remembers a client by: this client's own key (secret, nsec) and the public key it vouched for."""

    client_key: str
    public_key: str

    def __repr__(self) -> str:
        return f"BunkerSession({self.public_key})"


def local_signer(secret: str) -> LocalSigner:
    """The signer of a secret key as `nsec1…` or hexadecimal.

    Raises:
        IdentityError: It is not such a key. The message does not repeat it.
    """
    try:
        return LocalSigner(nostr_sdk.Keys.parse(secret.strip()))
    except SdkError:
        raise IdentityError(
            "The secret key is not a Nostr key", next_step="Give it as nsec1… or as 64 hexadecimal digits"
        ) from None


def new_secret() -> str:
    """A fresh secret key as `nsec1…`."""
    return nostr_sdk.Keys.generate().secret_key().to_bech32()


def as_nsec(text: str, password: str | None) -> str:
    """The secret key that `text` holds, as `nsec1…`: an nsec, 64 hexadecimal digits, or an ncryptsec (NIP-49).

    Raises:
        IdentityError: It is none of these, or the password does not open it. The message repeats neither.
    """
    text = text.strip()
    if not text.lower().startswith("ncryptsec1"):
        return local_signer(text).nsec
    if not password:
        raise IdentityError("The key is encrypted", next_step="Give its password too")
    try:
        return nostr_sdk.EncryptedSecretKey.from_bech32(text).decrypt(password).to_bech32()
    except SdkError:
        raise IdentityError("The encrypted key does not open", next_step="Check the password and the text") from None


def encrypt_secret(secret: str, password: str) -> str:
    """The secret key as `ncryptsec1…` (NIP-49)."""
    key = nostr_sdk.Keys.parse(secret.strip()).secret_key()
    return nostr_sdk.EncryptedSecretKey(key, password, _ENCRYPTION_ROUNDS, nostr_sdk.KeySecurity.MEDIUM).to_bech32()


def is_signed(event: SignedEvent) -> bool:
    """Whether id and signature of the event are right."""
    try:
        return nostr_sdk.Event.from_json(event.to_json()).verify()
    except SdkError:
        return False


async def connect_bunker(uri: str, known: BunkerSession | None, patience: float) -> tuple[BunkerSigner, BunkerSession]:
    """The signer behind a `bunker://` URI, and what to remember so that it need not be asked who it is again.

    Raises:
        IdentityError: The URI is not one, or the bunker does not answer.
    """
    client = nostr_sdk.Keys.parse(known.client_key) if known else nostr_sdk.Keys.generate()
    register_secret_key(client.secret_key().to_hex())
    try:
        parsed = nostr_sdk.NostrConnectUri.parse(uri)
        connection = nostr_sdk.NostrConnect(parsed, client, timedelta(seconds=patience), None)
    except SdkError:
        raise IdentityError("nostr.bunker is not a bunker:// address") from None
    public_key = nostr_sdk.PublicKey.parse(known.public_key) if known else await _ask_who(connection, patience)
    session = BunkerSession(client.secret_key().to_bech32(), public_key.to_hex())
    return BunkerSigner(connection, public_key, patience), session


async def _ask_who(connection: nostr_sdk.NostrConnect, patience: float) -> nostr_sdk.PublicKey:
    public_key = await _from_bunker("say who it is", connection.get_public_key_async(), patience)
    if public_key is None:
        raise IdentityError("The bunker does not say whose key it holds")
    return public_key


async def _from_bunker(what: str, answer: Awaitable[T], patience: float) -> T:
    try:
        return await asyncio.wait_for(answer, patience)
    except (SdkError, TimeoutError):
        raise IdentityError(
            f"The bunker did not {what}", next_step="Check that it runs and has approved this client, then try again"
        ) from None


def _unsigned(
    author: nostr_sdk.PublicKey, content: str, tags: list[list[str]], created_at: int
) -> nostr_sdk.UnsignedEvent:
    builder = nostr_sdk.EventBuilder(nostr_sdk.Kind(EVENT_KIND), content)
    builder = builder.tags([nostr_sdk.Tag.parse(tag) for tag in tags])
    return builder.custom_created_at(nostr_sdk.Timestamp.from_secs(created_at)).finalize_unsigned(author)


def _plain(event: nostr_sdk.Event) -> SignedEvent:
    return SignedEvent.from_json(event.as_json())
