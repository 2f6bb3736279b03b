"""Change notices: after a commit, whoever watches a resource that it touches is told, in either protocol era."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated
from mcp_types import (
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from uniko_mcp.notes import NoteKind
from uniko_mcp.operations.call import Services
from uniko_mcp.server.addresses import Address, is_touched, parse, touched_by
from uniko_mcp.server.failures import resource_not_found
from uniko_mcp.store import Commit


class Subscriptions:
    """Who watches what. Everything runs on the event loop but `_on_commit`, which the store's writer calls."""

    def __init__(self, services: Callable[[], Awaitable[Services]]) -> None:
        self._services = services
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._listened: Counter[str] = Counter()
        self._subscribed: dict[Connection, set[str]] = {}
        self._touched: frozenset[Address] = frozenset()
        self._wake = asyncio.Event()

    async def subscribe(self, ctx: ServerRequestContext[Any], params: SubscribeRequestParams) -> EmptyResult:
        """Watch a resource, in the handshake era. One that does not exist yet may be watched too.

        Raises:
            MCPError: It is not an address of this memory.
        """
        uri = str(params.uri)
        if parse(uri) is None:
            raise resource_not_found(uri, ctx.protocol_version)
        self._uris_of(ctx).add(uri)
        return EmptyResult()

    async def unsubscribe(self, ctx: ServerRequestContext[Any], params: UnsubscribeRequestParams) -> EmptyResult:
        """Watch it no longer."""
        self._uris_of(ctx).discard(str(params.uri))
        return EmptyResult()

    async def listen(
        self, ctx: ServerRequestContext[Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve a stream of notices, since 2026-07-28, until the client ends it."""
        uris = params.notifications.resource_subscriptions or []
        self._listened.update(uris)
        try:
            return await self._listen(ctx, params)
        finally:
            self._listened.subtract(uris)
            self._listened = +self._listened

    def watch_list(self, ctx: ServerRequestContext[Any]) -> None:
        """A client of the handshake era that has listed the resources is told when the list changes."""
        self._uris_of(ctx)

    @asynccontextmanager
    async def announcing(self, server: object) -> AsyncGenerator[dict[str, Any]]:
        """The lifespan of a server: changes are announced while it lasts."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._announce)
            yield {}
            tasks.cancel_scope.cancel()

    async def _announce(self) -> None:
        try:
            services = await self._services()
        except Exception:  # who opens the memory is told of the error; without it nothing changes
            return
        loop = asyncio.get_running_loop()
        with ExitStack() as listening:
            listening.callback(services.store.on_commit(lambda commit: self._on_commit(loop, commit)))
            listening.callback(services.notes.on_save(self._on_save))
            listening.callback(self._listen.close)
            while True:
                await self._wake.wait()
                self._wake.clear()
                touched, self._touched = self._touched, frozenset()
                await self._tell(touched)

    def _on_commit(self, loop: asyncio.AbstractEventLoop, commit: Commit) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to tell
            loop.call_soon_threadsafe(self._mark, touched_by(commit.changes))

    def _on_save(self, kind: NoteKind) -> None:
        self._mark(frozenset({Address("short-term" if kind is NoteKind.SHORT_TERM else "long-term")}))

    def _mark(self, touched: frozenset[Address]) -> None:
        """Changes that come faster than they can be told are told together."""
        self._touched |= touched
        self._wake.set()

    async def _tell(self, touched: frozenset[Address]) -> None:
        for uri in list(self._listened):
            if _concerns(uri, touched):
                await self._bus.publish(ResourceUpdated(uri))
        for connection, uris in list(self._subscribed.items()):
            for uri in sorted(uris):
                if _concerns(uri, touched):
                    await connection.send_resource_updated(uri)
        if Address("goals") in touched:
            await self._bus.publish(ResourcesListChanged())
            for connection in list(self._subscribed):
                await connection.send_resource_list_changed()

    def _uris_of(self, ctx: ServerRequestContext[Any]) -> set[str]:
        """What the client of this request watches; forgotten when its connection closes."""
        connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage] - handlers have no other way to it
        if connection not in self._subscribed:
            self._subscribed[connection] = set()
            connection.exit_stack.callback(self._subscribed.pop, connection, None)
        return self._subscribed[connection]


def _concerns(uri: str, touched: frozenset[Address]) -> bool:
    address = parse(uri)
    return address is not None and is_touched(address, touched)
