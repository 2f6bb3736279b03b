"""Progress: what a running operation reports, from whatever thread, sent on to the client that asked for it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.context import ServerRequestContext

from uniko_mcp.operations.call import Progress

_Report = tuple[float, float, str]


@asynccontextmanager
async def watched(ctx: ServerRequestContext[Any]) -> AsyncGenerator[Progress]:
    """The progress function for one call. The session drops the reports when the client did not ask for any.

    An exception must not leave the body: it would arrive wrapped in a group.
    """
    loop = asyncio.get_running_loop()
    reports, incoming = anyio.create_memory_object_stream[_Report](math.inf)

    def offer(*report: Any) -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the call is over
            reports.send_nowait(report)

    def progress(done: float, total: float, message: str) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(offer, done, total, message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_forward, ctx, incoming)
        with reports:
            yield progress


async def _forward(ctx: ServerRequestContext[Any], reports: MemoryObjectReceiveStream[_Report]) -> None:
    """Send the reports on. The protocol wants each to be further than the one before, so others are dropped."""
    furthest = -math.inf
    with reports:
        async for done, total, message in reports:
            if done > furthest:
                furthest = done
                await ctx.session.report_progress(done, total, message)
