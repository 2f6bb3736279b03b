"""A relay that lies, refuses, hangs or drops, as told."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed


@dataclass
class Behaviour:
    """What the relay does wrong; by default nothing but keeping no events."""

    events: list[dict[str, Any]] = field(default_factory=list)
    """Sent to whoever reads, whatever was asked for."""
    end_of_stored: bool = True
    closed_with: str | None = None
    """Answers a read with CLOSED and this reason."""
    ok: tuple[bool, str] | None = (True, "")
    """The answer to an event; None for none at all."""
    drop_on_event: bool = False
    authenticate: bool = False
    """Asks for NIP-42 authentication, and accepts none."""


class HostileRelay:
    """Records what it was sent in `published`."""

    def __init__(self, port: int) -> None:
        self.url = f"ws://127.0.0.1:{port}"
        self.behaviour = Behaviour()
        self.published: list[dict[str, Any]] = []
        self.reads = 0
        self._port = port
        self._changed = asyncio.Condition()
        self._server: Server | None = None

    async def start(self) -> None:
        self._server = await serve(self._serve, "127.0.0.1", self._port)

    async def stop(self) -> None:
        if self._server:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def until_read(self, times: int = 1) -> None:
        """Wait until it was read so often."""
        async with asyncio.timeout(10), self._changed:
            await self._changed.wait_for(lambda: self.reads >= times)

    async def until_published(self, times: int = 1) -> None:
        """Wait until it was sent so many events."""
        async with asyncio.timeout(10), self._changed:
            await self._changed.wait_for(lambda: len(self.published) >= times)

    async def _serve(self, connection: ServerConnection) -> None:
        try:
            if self.behaviour.authenticate:
                await connection.send(json.dumps(["AUTH", "challenge"]))
            async for text in connection:
                await self._answer(connection, json.loads(text))
        except ConnectionClosed:
            return

    async def _answer(self, connection: ServerConnection, message: list[Any]) -> None:
        match message:
            case ["REQ", subscription, *_]:
                await self._answer_read(connection, subscription)
            case ["EVENT", event]:
                await self._answer_event(connection, event)
            case ["AUTH", event]:
                await connection.send(json.dumps(["OK", event["id"], False, "restricted: not you"]))
            case _:
                return

    async def _answer_read(self, connection: ServerConnection, subscription: str) -> None:
        behaviour = self.behaviour
        if behaviour.authenticate:
            await connection.send(json.dumps(["CLOSED", subscription, "auth-required: who are you"]))
        elif behaviour.closed_with:
            await connection.send(json.dumps(["CLOSED", subscription, behaviour.closed_with]))
        else:
            for event in behaviour.events:
                await connection.send(json.dumps(["EVENT", subscription, event]))
            if behaviour.end_of_stored:
                await connection.send(json.dumps(["EOSE", subscription]))
        await self._count_read()

    async def _count_read(self) -> None:
        async with self._changed:
            self.reads += 1
            self._changed.notify_all()

    async def _answer_event(self, connection: ServerConnection, event: dict[str, Any]) -> None:
        async with self._changed:
            self.published.append(event)
            self._changed.notify_all()
        if self.behaviour.drop_on_event:
            await connection.close()
        elif self.behaviour.ok is not None:
            await connection.send(json.dumps(["OK", event["id"], *self.behaviour.ok]))
