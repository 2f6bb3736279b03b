"""The wire: JSON-RPC messages, one a line, over a pair of file descriptors."""

from __future__ import annotations

import asyncio
import math
import os
import queue
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Final, NamedTuple, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

from uniko_mcp.server.json_lines import MalformedLineError, decode, encode

Requests: TypeAlias = MemoryObjectSendStream[SessionMessage | Exception]

_ENDLESS: Final = frozenset({"subscriptions/listen"})
"""Requests that are answered only when the client or the server ends them."""

_FLUSH_SECONDS: Final = 0.5
"""How long the last answers may take to leave; a client that stopped reading cannot hold the process longer."""

_CHUNK_BYTES: Final = 65_536
"""What one read takes at most: the capacity of a pipe on Linux."""


class Streams(NamedTuple):
    """What a server reads its messages from, and writes them to."""

    read: MemoryObjectReceiveStream[SessionMessage | Exception]
    write: MemoryObjectSendStream[SessionMessage]


class Wire:
    """The connection to the client. It knows which requests have not been answered yet.

    Reading and writing have a daemon thread each, on plain descriptors: a blocked read in a thread that must be
    joined, or in one that holds a file object's lock, would keep a dying process alive.
    """

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unanswered: set[RequestId] = set()
        self._answered = anyio.Event()
        self._ended = anyio.Event()

    def end(self) -> None:
        """Take no more requests. What runs may still be answered."""
        self._ended.set()

    async def ended(self) -> None:
        """Wait until the client closed its end, or `end` was called."""
        await self._ended.wait()

    @asynccontextmanager
    async def streams(self, *, patience: float) -> AsyncGenerator[Streams]:
        """The messages, for a server to run on.

        The stream of requests ends when the wire has ended and every request is answered, or `patience` seconds
        after the wire has ended. What the server wrote until then has left when the context exits.
        """
        requests, read = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        write, answers = anyio.create_memory_object_stream[SessionMessage]()
        loop = asyncio.get_running_loop()
        reader = threading.Thread(target=self._read, args=(loop, requests), name="stdin", daemon=True)
        writer = threading.Thread(target=self._write, args=(loop,), name="stdout", daemon=True)
        reader.start()
        writer.start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._send_all, answers)
            tasks.start_soon(self._close_when_done, requests, patience)
            with read, write:
                yield Streams(read, write)
            self.end()
        await anyio.to_thread.run_sync(writer.join, _FLUSH_SECONDS)

    async def _close_when_done(self, requests: Requests, patience: float) -> None:
        with requests:
            await self._ended.wait()
            with anyio.move_on_after(patience):
                while self._unanswered:
                    await self._answered.wait()
                    self._answered = anyio.Event()

    async def _send_all(self, answers: MemoryObjectReceiveStream[SessionMessage]) -> None:
        with answers:
            async for answer in answers:
                self._lines.put(encode(answer.message))
                if isinstance(answer.message, JSONRPCResponse | JSONRPCError):
                    self._settle(answer.message.id)
        self._lines.put(None)

    def _receive(self, message: JSONRPCMessage, requests: Requests) -> None:
        if self._ended.is_set():
            return
        match message:
            case JSONRPCRequest(id=request_id, method=method) if method not in _ENDLESS:
                self._unanswered.add(request_id)
            case JSONRPCNotification(
                method="notifications/cancelled", params={"requestId": int() | str() as request_id}
            ):
                self._settle(request_id)
            case _:
                pass
        requests.send_nowait(SessionMessage(message))

    def _settle(self, request_id: RequestId | None) -> None:
        if request_id is not None:
            self._unanswered.discard(request_id)
        self._answered.set()

    def _read(self, loop: asyncio.AbstractEventLoop, requests: Requests) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to read for
            for line in _lines(self._incoming):
                try:
                    message = decode(line)
                except MalformedLineError as fault:
                    self._lines.put(encode(fault.answer))
                else:
                    loop.call_soon_threadsafe(self._receive, message, requests)
            loop.call_soon_threadsafe(self.end)

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            while (line := self._lines.get()) is not None:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._outgoing, rest) :]
        except OSError:  # the client does not listen any more, so it need not be heard either
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self.end)


def _lines(descriptor: int) -> Iterator[bytes]:
    """The lines that come in until the other end closes, without blank ones; the last may lack its line feed."""
    parts: list[bytes] = []
    with suppress(OSError):
        while chunk := os.read(descriptor, _CHUNK_BYTES):
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                parts.append(line)
                if joined := b"".join(parts).strip():
                    yield joined
                parts.clear()
            parts.append(rest)
    if joined := b"".join(parts).strip():
        yield joined
