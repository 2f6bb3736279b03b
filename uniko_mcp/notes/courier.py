"""Carrying notes to and from the relays in the background: a link for each, so that a dead one delays no other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic, time
from typing import Final, TypeAlias

from uniko_mcp.errors import IdentityError, StoreError
from uniko_mcp.notes.account import Account
from uniko_mcp.notes.events import SignedEvent
from uniko_mcp.notes.files import on_disk
from uniko_mcp.notes.models import ConnectionState, Delivery, NoteKind, RelayStatus, Stamp
from uniko_mcp.notes.notebook import Receipt
from uniko_mcp.notes.relay import (
    AuthenticationAsked,
    EndOfStored,
    ReadRefused,
    RelayFailedError,
    RelaySession,
    StoredEvent,
    connect,
)
from uniko_mcp.notes.settings import NotesSettings, Patience

MAX_REFUSED_EVENTS: Final = 20
"""Events that are not this identity's notes, after which a relay is left alone until its next turn."""

STABLE_CONNECTION: Final = 60.0
"""Seconds after which the end of a connection is no sign of a bad relay, and the time between tries starts over."""

_log = logging.getLogger(__name__)
Receive: TypeAlias = Callable[[SignedEvent], Awaitable[Receipt]]


class Courier:
    """All relays of one notebook."""

    def __init__(self, account: Account, settings: NotesSettings, receive: Receive) -> None:
        self._account = account
        self._changed = asyncio.Condition()
        self._links = [RelayLink(url, account, receive, settings.patience, self._announce) for url in settings.relays]
        self._tasks = [asyncio.create_task(link.run()) for link in self._links]

    async def stop(self) -> None:
        """End all connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def post(self) -> None:
        """Have the current versions delivered that are pending, where a relay is connected."""
        for link in self._links:
            link.attend()

    async def reread(self, patience: float) -> None:
        """Ask every relay once more what it has; returns when each has answered or failed."""
        asked = {link: link.ask_again() for link in self._links}
        await self._until(lambda: all(link.finished >= number for link, number in asked.items()), patience)

    async def heard(self, patience: float) -> None:
        """Wait until some relay has answered or all have failed."""
        await self._until(lambda: self.answered or all(link.tried for link in self._links), patience)

    async def delivered(self, kind: NoteKind, event_id: str, patience: float) -> None:
        """Wait until every relay that can be reached has accepted or rejected the event, or could not."""
        await self._until(lambda: all(link.done_with(kind, event_id) for link in self._links), patience)

    async def rest(self, patience: float) -> None:
        """Wait until open connections have nothing to deliver."""
        await self._until(lambda: all(link.at_rest for link in self._links), patience)

    @property
    def answered(self) -> bool:
        """Whether some relay has said what it has since the start."""
        return any(link.answered for link in self._links)

    async def statuses(self) -> tuple[RelayStatus, ...]:
        """Each relay's state."""
        return tuple([link.status(await self._account.pending_at(link.url)) for link in self._links])

    async def _until(self, reached: Callable[[], bool], patience: float) -> None:
        try:
            async with asyncio.timeout(patience), self._changed:
                await self._changed.wait_for(reached)
        except TimeoutError:
            return

    async def _announce(self) -> None:
        async with self._changed:
            self._changed.notify_all()


class RelayLink:
    """One relay for as long as the process runs: connect, take what it has, deliver what it lacks, try again."""

    def __init__(
        self,
        url: str,
        account: Account,
        receive: Receive,
        patience: Patience,
        announce: Callable[[], Awaitable[None]],
    ) -> None:
        self.tried = False
        """Whether a read came to an end, by an answer or by a failure."""
        self.answered = False
        self.at_rest = True
        """Whether there is nothing to deliver that could be delivered now."""
        self.finished = 0
        """The latest asking (see `ask_again`) after which a read was begun and came to an end."""
        self.url = url
        self._notebook = account.notebook
        self._outbox = account.outbox
        self._receive = receive
        self._patience = patience
        self._announce = announce
        self._state: ConnectionState = "idle"
        self._reason = ""
        self._failures = 0
        self._since = 0.0
        self._refused = 0
        self._silence = RelayFailedError("did not answer")
        """What it means when the relay does not say what it has."""
        self._asked = 0
        self._begun = 0
        self._wake = asyncio.Event()
        self._heads: dict[NoteKind, Stamp] = {}

    def attend(self) -> None:
        """Look again for what is to be delivered. Does not shorten the wait for a relay that failed."""
        if self._state == "connected":
            self.at_rest = False
            self._wake.set()

    def ask_again(self) -> int:
        """Read the relay once more, now, even when its next turn is still to come. The number of this asking.

        A read that is under way does not count: it may have failed on what has changed since.
        """
        self._asked += 1
        self._wake.set()
        return self._asked

    def done_with(self, kind: NoteKind, event_id: str) -> bool:
        """Whether nothing more will come of this event at this relay for now."""
        delivery = self._outbox.delivery(self.url, kind, event_id)
        return delivery.state != "pending" or delivery.attempts > 0 or self._state in {"unreachable", "refused"}

    def status(self, pending: tuple[NoteKind, ...]) -> RelayStatus:
        """Its connection, with the memories it has still to take."""
        return RelayStatus(self.url, self._state, self._reason, pending)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            if not self._failures:
                self._enter("connecting")
            self._since = monotonic()
            self._begun = self._asked
            try:
                async with connect(self.url, self._notebook.signer, self._patience) as session:
                    await self._serve(session)
            except RelayFailedError as failure:
                await self._fail(str(failure), failure.state)
            except (IdentityError, StoreError) as failure:
                await self._fail(failure.message)
            except Exception:  # a link has to outlive whatever one connection brings
                _log.exception("Relay %s: unexpected failure", self.url)
                await self._fail("unexpected failure, see the log")
            await self._pause()

    async def _serve(self, session: RelaySession) -> None:
        """Listen and deliver side by side until either ends, which ends the other."""
        self._heads.clear()
        self._refused = 0
        self._silence = RelayFailedError(f"did not answer within {self._patience.answer:g} s")
        answer = asyncio.Event()
        await session.ask_for_notes()
        listening = asyncio.create_task(self._listen(session, answer))
        delivering = asyncio.create_task(self._deliver(session, answer))
        try:
            await asyncio.wait({listening, delivering}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            outcomes = await _end(listening, delivering)
        for outcome in outcomes:
            raise outcome
        raise RelayFailedError("closed the connection")

    async def _listen(self, session: RelaySession, answer: asyncio.Event) -> None:
        async for said in session.messages():
            match said:
                case StoredEvent(event):
                    self._weigh(event, await self._receive(event))
                case EndOfStored():
                    self.answered = True
                    self.at_rest = False
                    answer.set()
                    self._enter("connected")
                    await self._finish_read()
                case AuthenticationAsked():
                    self._silence = RelayFailedError("asks for authentication and accepts none of this key", "refused")
                case ReadRefused(reason):
                    raise RelayFailedError(f"refused the read: {reason}", "refused")

    def _weigh(self, event: SignedEvent, receipt: Receipt) -> None:
        """Remember the newest that this relay has of each note, and how often it sent what is none."""
        if receipt.kind:
            if event.stamp.supersedes(self._heads.get(receipt.kind)):
                self._heads[receipt.kind] = event.stamp
            return
        self._refused += 1
        _log.warning("Relay %s sent an event %s; left out", self.url, receipt.reason)
        if self._refused >= MAX_REFUSED_EVENTS:
            raise RelayFailedError(f"sent {self._refused} events that are not notes of this identity")

    async def _deliver(self, session: RelaySession, answer: asyncio.Event) -> None:
        try:
            await asyncio.wait_for(answer.wait(), self._patience.answer)
        except TimeoutError:
            raise self._silence from None
        while True:
            self._wake.clear()
            if self._asked > self._begun:
                self._begun = self._asked
                await session.ask_for_notes()
            waits = [await self._deliver_one(session, kind) for kind in NoteKind]
            await self._rest(not self._wake.is_set())
            await self._sleep(min((wait for wait in waits if wait is not None), default=None))

    async def _deliver_one(self, session: RelaySession, kind: NoteKind) -> float | None:
        """Deliver the current version if this relay lacks it. Seconds until it is to be tried again; None for never."""
        event = await self._notebook.event(kind)
        if event is None:
            return None
        delivery = self._outbox.delivery(self.url, kind, event.id)
        head = self._heads.get(kind)
        if not event.stamp.supersedes(head):
            await self._settle(kind, _read_back(event, head == event.stamp, delivery))
            return None
        if delivery.state == "rejected":
            return None
        if (wait := delivery.not_before - time()) > 0:
            return wait
        verdict = await session.publish(event)
        if verdict.state == "accepted":
            self._heads[kind] = event.stamp
        attempts = delivery.attempts + 1
        wait = self._patience.before_retry(attempts) if verdict.state == "pending" else 0.0
        await self._settle(
            kind, Delivery(event.id, verdict.state, verdict.reason, attempts, time() + wait if wait else 0.0)
        )
        return wait or None

    async def _settle(self, kind: NoteKind, delivery: Delivery) -> None:
        await on_disk(self._outbox.record, self.url, kind, delivery)
        await self._announce()

    async def _rest(self, resting: bool) -> None:
        self.at_rest = resting
        await self._announce()

    def _enter(self, state: ConnectionState, reason: str = "") -> None:
        self._state, self._reason = state, reason

    async def _fail(self, reason: str, state: ConnectionState = "unreachable") -> None:
        self._failures = 1 if monotonic() - self._since > STABLE_CONNECTION else self._failures + 1
        self._enter(state, reason)
        self.at_rest = True
        _log.info("Relay %s: %s", self.url, reason)
        await self._finish_read()

    async def _finish_read(self) -> None:
        self.tried = True
        self.finished = self._begun
        self._wake.set()
        await self._announce()

    async def _pause(self) -> None:
        if self._asked == self._begun:
            self._wake.clear()
            await self._sleep(self._patience.before_retry(self._failures))

    async def _sleep(self, seconds: float | None) -> None:
        """Until woken, at most this long."""
        try:
            await asyncio.wait_for(self._wake.wait(), seconds)
        except TimeoutError:
            return


def _read_back(event: SignedEvent, held: bool, delivery: Delivery) -> Delivery:
    """What is known of an event once the relay has shown that it holds it, or one that is newer."""
    if held:
        return Delivery(event.id, "accepted", "", delivery.attempts)
    return Delivery(event.id, "rejected", "replaced: the relay holds a newer one", delivery.attempts)


async def _end(*tasks: asyncio.Task[None]) -> list[BaseException]:
    """Cancel what still runs; the exceptions that tasks ended with by themselves."""
    for task in tasks:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    return [outcome for outcome in outcomes if outcome and not isinstance(outcome, asyncio.CancelledError)]
