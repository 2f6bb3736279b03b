"""Serving over stdio: one client, one process, which lives as long as the client and leaves nothing undone."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Final

import anyio

from uniko_mcp.config import Settings
from uniko_mcp.operations.call import Services, open_services
from uniko_mcp.server.logs import configure_logging

if TYPE_CHECKING:
    from uniko_mcp.operations.catalogue import Catalogue
    from uniko_mcp.server.wire import Wire

logger = logging.getLogger(__name__)

_PATIENCE_SECONDS: Final = 1.2
"""How long calls that run when the client leaves may take to be answered."""

_EXIT_SECONDS: Final = 1.9
"""When the process ends whatever still runs. What was acknowledged is in the journal by then, so nothing is lost."""

_PARENT_POLL_SECONDS: Final = 0.5


async def serve_stdio(settings: Settings, catalogue: Catalogue | None = None) -> None:
    """Serve `catalogue`, by default every operation, to the client at this process's stdin and stdout.

    Returns when the client leaves, its process dies, or SIGTERM or SIGINT arrives.

    The memory opens while the protocol's library is still being imported, so that the first answer does not wait for
    it. The caller has the process to itself: stdin and stdout are not given back, and two seconds after the client
    left the process is gone.

    Raises:
        UnikoError: The memory could not be opened.
    """
    incoming, outgoing = claim_stdio()
    configure_logging(settings.log_level)
    memory = _Memory(settings)
    await asyncio.sleep(0)  # lets the store begin to open, in its own thread, before the imports below

    from mcp.server.runner import serve_dual_era_loop

    from uniko_mcp.operations import CATALOGUE
    from uniko_mcp.server.app import build_server
    from uniko_mcp.server.wire import Wire

    wire = Wire(incoming, outgoing)
    memory.on_failure(wire.end)
    guards = [asyncio.create_task(_end_with_parent(wire)), asyncio.create_task(_exit_after(wire))]
    _end_on_signal(wire)
    try:
        server = build_server(settings, catalogue or CATALOGUE, memory.services)
        async with wire.streams(patience=_PATIENCE_SECONDS) as streams, server.lifespan(server) as state:
            await serve_dual_era_loop(server, streams.read, streams.write, lifespan_state=state)
    finally:
        for guard in guards:
            guard.cancel()
        await memory.close()


def claim_stdio() -> tuple[int, int]:
    """Private duplicates of fd 0 and fd 1, as the only way to the client.

    From then on fd 0 is the null device, so that no child process reads the client's lines, and fd 1 is stderr, so
    that what a library prints is a log line and never breaks the protocol. There is no way back.
    """
    sys.stdout.flush()
    sys.stdout = sys.stderr  # which can print any character, whatever its encoding
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    if os.name == "posix":  # some parents hand over descriptors that do not block
        os.set_blocking(incoming, True)
        os.set_blocking(outgoing, True)
    return incoming, outgoing


class _Memory:
    """The services, opened and closed by one task of their own."""

    def __init__(self, settings: Settings) -> None:
        self._opened: asyncio.Future[Services] = asyncio.get_running_loop().create_future()
        self._released = asyncio.Event()
        self._task = asyncio.create_task(self._hold(settings))

    async def services(self) -> Services:
        """The services, as soon as they are open."""
        return await asyncio.shield(self._opened)

    def on_failure(self, callback: Callable[[], None]) -> None:
        """Call back when the services could not be opened."""
        self._opened.add_done_callback(lambda opened: callback() if opened.exception() else None)

    async def close(self) -> None:
        """Close what is open. Raises what opening or closing raised."""
        self._released.set()
        await self._task

    async def _hold(self, settings: Settings) -> None:
        try:
            async with open_services(settings) as services:
                self._opened.set_result(services)
                await self._released.wait()
        except Exception as error:
            if not self._opened.done():
                self._opened.set_exception(error)
            raise


def _end_on_signal(wire: Wire) -> None:
    """SIGTERM and SIGINT end the wire once; a second one has its usual effect."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):

        def end(number: signal.Signals = number) -> None:
            loop.remove_signal_handler(number)
            wire.end()

        try:
            loop.add_signal_handler(number, end)
        except NotImplementedError:  # Windows: the loop has no signal handlers

            def end_from_signal(number: int, frame: FrameType | None) -> None:
                loop.call_soon_threadsafe(wire.end)

            signal.signal(number, end_from_signal)


async def _end_with_parent(wire: Wire) -> None:
    """The parent may die while another process holds the other end of stdin open."""
    parent = os.getppid()
    while os.getppid() == parent:
        with anyio.move_on_after(_PARENT_POLL_SECONDS):
            await wire.ended()
            return
    logger.info("the parent process is gone")
    wire.end()


async def _exit_after(wire: Wire) -> None:
    """Start the clock when the wire ends. A daemon thread, so that it never keeps the process itself."""
    await wire.ended()
    timer = threading.Timer(_EXIT_SECONDS, os._exit, args=(0,))
    timer.daemon = True
    timer.start()
