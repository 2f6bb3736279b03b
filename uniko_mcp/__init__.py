"""uniko-mcp: a memory that any MCP client can plug in."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uniko_mcp.facade import Memory

__version__ = "0.1.0"

__all__ = ["__version__", "open"]


def open(
    path: str | PathLike[str] | None = None, *, config: str | PathLike[str] | None = None, **settings: Any
) -> AbstractAsyncContextManager[Memory]:
    """Open the memory in the folder `path`; without one, where the configuration says. See `uniko_mcp.facade`."""
    from uniko_mcp.facade import open_memory

    return open_memory(path, config=config, **settings)
