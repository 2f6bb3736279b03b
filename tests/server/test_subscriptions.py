from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.connection import Connection
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated

from uniko_mcp.notes import NoteKind
from uniko_mcp.operations.call import Services

from .conftest import server_of

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")]

GOAL = "memory://goal/g1"


class Notices:
    """What a client of the handshake era is told."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[Any](100)

    async def __call__(self, message: Any) -> None:
        await self._send.send(message)

    async def next(self, wanted: Callable[[Any], bool]) -> Any:
        with anyio.fail_after(10):
            async for message in self._receive:
                if wanted(message):
                    return message
        return None

    def close(self) -> None:
        self._send.close()
        self._receive.close()


def is_update_of(uri: str) -> Callable[[Any], bool]:
    return lambda message: (
        getattr(message, "method", "") == "notifications/resources/updated" and (str(message.params.uri) == uri)
    )


async def test_a_handshake_client_is_told_of_what_it_subscribed_to_until_it_unsubscribes(services: Services) -> None:
    notices = Notices()
    async with Client(server_of(services), mode="legacy", message_handler=notices) as client:
        await client.subscribe_resource(GOAL)
        await client.call_tool("create_goal", {"title": "One", "goal_id": "g1"})
        assert await notices.next(is_update_of(GOAL))
        await client.unsubscribe_resource(GOAL)
        await client.subscribe_resource("memory://goal/g2")
        await client.call_tool("update_goal", {"goal_id": "g1", "title": "Two"})
        await client.call_tool("create_goal", {"title": "Two", "goal_id": "g2"})
        told = await notices.next(lambda message: getattr(message, "method", "").endswith("resources/updated"))
    assert str(told.params.uri) == "memory://goal/g2"
    notices.close()


async def test_a_handshake_client_that_listed_resources_is_told_when_the_list_changes(services: Services) -> None:
    notices = Notices()
    async with Client(server_of(services), mode="legacy", message_handler=notices) as client:
        await client.list_resources()
        await client.call_tool("create_goal", {"title": "One"})
        assert await notices.next(
            lambda message: getattr(message, "method", "") == "notifications/resources/list_changed"
        )
    notices.close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_only_what_can_change_is_said_to(services: Services, mode: str) -> None:
    async with Client(server_of(services), mode=mode) as client:
        capabilities = client.server_capabilities
    assert (capabilities.resources.subscribe, capabilities.resources.list_changed) == (True, True)
    assert (capabilities.tools.list_changed, capabilities.prompts.list_changed) == (False, False)


async def test_a_client_since_2026_07_28_listens_on_a_stream(services: Services) -> None:
    async with (
        Client(server_of(services), mode="2026-07-28") as client,
        client.listen(resource_subscriptions=[GOAL], resources_list_changed=True) as stream,
    ):
        await client.call_tool("create_goal", {"title": "One", "goal_id": "g1"})
        with anyio.fail_after(10):
            seen = {await anext(stream), await anext(stream)}
    assert seen == {ResourceUpdated(GOAL), ResourcesListChanged()}


async def test_a_saved_note_is_announced_in_both_eras(services: Services) -> None:
    notices, server = Notices(), server_of(services)
    async with (
        Client(server, mode="legacy", message_handler=notices) as old,
        Client(server, mode="2026-07-28") as new,
        new.listen(resource_subscriptions=["memory://short-term"]) as stream,
    ):
        await old.subscribe_resource("memory://long-term")
        await services.notes.save(NoteKind.SHORT_TERM, "Short")
        await services.notes.save(NoteKind.LONG_TERM, "Long")
        with anyio.fail_after(10):
            assert await anext(stream) == ResourceUpdated("memory://short-term")
        assert await notices.next(is_update_of("memory://long-term"))
    notices.close()


async def test_connections_that_are_gone_are_not_kept(services: Services) -> None:
    server, before = server_of(services), _connections()
    for _ in range(3):
        async with Client(server, mode="legacy") as client:
            await client.subscribe_resource(GOAL)
            assert _connections() == before + 1
    assert _connections() == before


def _connections() -> int:
    """How many connections of clients are in memory."""
    gc.collect()
    return sum(isinstance(thing, Connection) for thing in gc.get_objects())


async def test_what_is_no_address_cannot_be_subscribed_to(services: Services) -> None:
    async with Client(server_of(services), mode="legacy") as client:
        with pytest.raises(Exception, match=r"Resource not found: https://example\.org"):
            await client.subscribe_resource("https://example.org")
