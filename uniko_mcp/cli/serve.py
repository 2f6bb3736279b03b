"""The command `serve`: the MCP server on stdin and stdout."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from uniko_mcp import __version__
from uniko_mcp.cli.clients import client_guide, this_program
from uniko_mcp.cli.options import with_settings

if TYPE_CHECKING:
    from uniko_mcp.config import Settings

_M_ARENA_MAX: Final = -8
"""The name of the setting in glibc's malloc.h."""
_ARENAS: Final = 2


@click.command()
@with_settings
def serve(settings: Settings) -> None:
    """Serve MCP on stdin and stdout (the default)."""
    if _is_terminal():
        click.echo(_welcome(settings), err=True)
    _share_heaps()
    import asyncio

    from uniko_mcp.server.stdio import serve_stdio

    asyncio.run(serve_stdio(settings))


def _share_heaps() -> None:
    """Have all threads share two heaps.

    glibc gives each thread one of its own, and none gives back what it needed once: after 20,000 messages 130 MB more.
    """
    if sys.platform == "linux":
        import ctypes

        with suppress(AttributeError, OSError):  # another C library
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def _is_terminal() -> bool:
    """Whether a person started this rather than a client. There is no stdin at all in a program without console."""
    return sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]


def _welcome(settings: Settings) -> str:
    command = [*this_program(), "--data-dir", str(settings.data_dir), "--agent", settings.agent_id]
    return "\n".join(
        [
            f"uniko-mcp {__version__}: a memory for MCP clients. It now waits for one to speak MCP on this terminal.",
            "",
            f"  The memory of agent {settings.agent_id!r} is in {settings.data_dir}",
            "  To see it work: uniko-mcp demo      To leave: Ctrl-C or Ctrl-D",
            "",
            client_guide(command),
            "",
        ]
    )
