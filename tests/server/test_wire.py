from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

from uniko_mcp.server.wire import Wire

pytestmark = pytest.mark.anyio


@dataclass
class Pipes:
    """The four ends of the two pipes between a client and the wire."""

    wire_reads: int
    client_writes: int
    client_reads: int
    wire_writes: int

    def send(self, *messages: object) -> None:
        os.write(self.client_writes, b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def close(self, *names: str) -> None:
        for name in names:
            descriptor, _ = getattr(self, name), setattr(self, name, -1)
            if descriptor >= 0:
                os.close(descriptor)


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    pipes = Pipes(*os.pipe(), *os.pipe())
    yield pipes
    pipes.close("wire_reads", "client_writes", "client_reads", "wire_writes")


def request(number: int, method: str = "ping") -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {}}


async def test_requests_end_when_the_client_closed_and_the_last_one_is_answered(pipes: Pipes) -> None:
    wire = Wire(pipes.wire_reads, pipes.wire_writes)
    pipes.send(request(1), request(2), request(3, "subscriptions/listen"))
    pipes.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
    pipes.close("client_writes")
    ids: list[object] = []
    with anyio.fail_after(10):
        async with wire.streams(patience=60) as streams:
            async for item in streams.read:
                assert isinstance(item, SessionMessage)
                if isinstance(item.message, JSONRPCRequest):
                    ids.append(item.message.id)
                else:
                    await streams.write.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={})))
    assert ids == [1, 2, 3]
    assert json.loads(os.read(pipes.client_reads, 1_000)) == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_a_request_that_is_never_answered_is_waited_for_no_longer_than_patience(pipes: Pipes) -> None:
    wire = Wire(pipes.wire_reads, pipes.wire_writes)
    pipes.send(request(1))
    pipes.close("client_writes")
    with anyio.fail_after(10):
        async with wire.streams(patience=0) as streams:
            assert [item async for item in streams.read]


async def test_a_client_that_does_not_listen_any_more_ends_the_wire(pipes: Pipes) -> None:
    wire = Wire(pipes.wire_reads, pipes.wire_writes)
    pipes.close("client_reads")
    with anyio.fail_after(10):
        async with wire.streams(patience=0) as streams:
            await streams.write.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={})))
            await wire.ended()
    pipes.close("client_writes")
