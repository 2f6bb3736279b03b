"""One connection to one relay: what it says, and what is asked of and sent to it. Uses `nostr_sdk` for the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any, Final, TypeAlias, cast

import nostr_sdk  # pyright: ignore[reportMissingTypeStubs]

from uniko_mcp.notes.events import EVENT_KIND, SignedEvent
from uniko_mcp.notes.models import ConnectionState, DeliveryState, NoteKind
from uniko_mcp.notes.sdk import SdkError, callbacks_on_this_loop
from uniko_mcp.notes.settings import Patience
from uniko_mcp.notes.signer import Signer

MAX_EVENT_BYTES: Final = 256 * 1024
"""No event of a note is larger; what is, is dropped unread."""

MAX_REASON: Final = 200
"""Characters kept of what a relay says in words."""

_FINAL_REFUSALS: Final = frozenset({"blocked", "invalid", "mute", "pow", "restricted", "replaced", "deleted"})
"""The machine-readable prefixes (NIP-01) after which sending the same event again is useless."""


class RelayFailedError(Exception):
    """The relay cannot be used now: the message says why, `state` whether it is out of reach or does not want us."""

    def __init__(self, reason: str, state: ConnectionState = "unreachable") -> None:
        super().__init__(reason)
        self.state: ConnectionState = state


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """The relay sent an event."""

    event: SignedEvent


@dataclass(frozen=True, slots=True)
class EndOfStored:
    """The relay has sent all that it has (EOSE)."""


@dataclass(frozen=True, slots=True)
class ReadRefused:
    """The relay refused the read (CLOSED)."""

    reason: str


@dataclass(frozen=True, slots=True)
class AuthenticationAsked:
    """The relay wants to know who reads (NIP-42). The library answers it and then asks again by itself."""


RelaySaid: TypeAlias = StoredEvent | EndOfStored | ReadRefused | AuthenticationAsked


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a relay said to an event; pending when it said nothing final."""

    state: DeliveryState
    reason: str = ""


class RelaySession:
    """An open connection. `messages` must be iterated for anything to arrive."""

    def __init__(self, client: nostr_sdk.Client, relay: nostr_sdk.Relay, author: str, patience: Patience) -> None:
        self._patience = patience
        self._relay = relay
        self._stream = client.notifications()
        self._filter = (
            nostr_sdk.Filter()
            .author(nostr_sdk.PublicKey.parse(author))
            .kind(nostr_sdk.Kind(EVENT_KIND))
            .identifiers([kind.identifier for kind in NoteKind])
        )
        self._numbers = count(1)
        self._subscription = ""

    async def ask_for_notes(self) -> None:
        """Ask for the notes it has and those to come. Replaces an earlier asking, whose answers then count no more."""
        previous, self._subscription = self._subscription, f"notes-{next(self._numbers)}"
        try:
            await self._relay.subscribe(self._filter, self._subscription)
            if previous:
                await self._relay.unsubscribe(previous)
        except SdkError as error:
            raise RelayFailedError(_words(error)) from error

    async def messages(self) -> AsyncIterator[RelaySaid]:
        """What the relay says, until the connection ends."""
        while (notification := await self._stream.next()) and not notification.is_SHUTDOWN():
            if not isinstance(notification, nostr_sdk.ClientNotification.MESSAGE):
                continue
            if said := self._understood(notification.message.as_json()):
                yield said

    async def publish(self, event: SignedEvent) -> Verdict:
        """Send the event and wait for what the relay says to it."""
        try:
            await self._relay.send_event(
                nostr_sdk.Event.from_json(event.to_json()), ok_timeout=timedelta(seconds=self._patience.acknowledge)
            )
        except SdkError as error:
            return _verdict(_words(error))
        return Verdict("accepted")

    def _understood(self, text: str) -> RelaySaid | None:
        message = cast(list[Any], json.loads(text))
        match message:
            case ["EVENT", self._subscription, _]:
                return StoredEvent(SignedEvent.from_json(json.dumps(message[2])))
            case ["EOSE", self._subscription]:
                return EndOfStored()
            case ["CLOSED", self._subscription, reason]:
                refused = ReadRefused(str(reason)[:MAX_REASON])
                return AuthenticationAsked() if refused.reason.startswith("auth-required") else refused
            case _:
                return None


@asynccontextmanager
async def connect(url: str, signer: Signer, patience: Patience) -> AsyncGenerator[RelaySession]:
    """A connection to the relay, closed at the end of the block.

    Raises:
        RelayFailedError: It does not answer.
    """
    monitor = nostr_sdk.Monitor(16)
    client = (
        nostr_sdk.ClientBuilder()
        .monitor(monitor)
        .authenticator(nostr_sdk.SignerAuthenticator(signer.authenticator))
        .relay_limits(nostr_sdk.RelayLimits().event_max_size(MAX_EVENT_BYTES))
        .sleep_when_idle(nostr_sdk.SleepWhenIdle.DISABLED())  # pyright: ignore[reportArgumentType]
        .build()
    )
    with callbacks_on_this_loop():
        watch = asyncio.create_task(monitor.handle_notifications(_CloseWithConnection(client)))
        try:
            relay = await _reach(client, url, patience.connect)
            yield RelaySession(client, relay, signer.public_key, patience)
        finally:
            watch.cancel()
            await client.shutdown()


async def _reach(client: nostr_sdk.Client, url: str, patience: float) -> nostr_sdk.Relay:
    try:
        address = nostr_sdk.RelayUrl.parse(url)
        await client.add_relay(address, opts=nostr_sdk.RelayOptions().reconnect(False))
        relay = await client.relay(address)
        assert relay is not None
        await relay.try_connect(timedelta(seconds=patience))
    except SdkError as error:
        raise RelayFailedError(_words(error)) from error
    return relay


class _CloseWithConnection(nostr_sdk.HandleMonitorNotification):
    """Ends the client, and with it the stream of messages, when its one connection ends."""

    def __init__(self, client: nostr_sdk.Client) -> None:
        self._client = client

    async def relay_status_changed(self, relay_url: nostr_sdk.RelayUrl, status: nostr_sdk.RelayStatus) -> None:
        if status in {nostr_sdk.RelayStatus.TERMINATED, nostr_sdk.RelayStatus.BANNED}:
            await self._client.shutdown()


def _verdict(reason: str) -> Verdict:
    prefix = reason.partition(":")[0]
    if prefix == "duplicate":
        return Verdict("accepted")
    return Verdict("rejected" if prefix in _FINAL_REFUSALS else "pending", reason)


def _words(error: Exception) -> str:
    """What the library or the relay said, shortened: a relay may answer with anything."""
    return str(error).strip("'\"")[:MAX_REASON]
