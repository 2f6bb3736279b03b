"""How the notes use the disk: beside the event loop, and with errors that say what to do."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, TypeVarTuple, Unpack

from anyio import to_thread

from uniko_mcp.errors import IdentityError, StoreError

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


async def on_disk(work: Callable[[Unpack[Arguments]], T], *arguments: *Arguments) -> T:
    """Do blocking work on files in a thread.

    Raises:
        StoreError: The system refused it.
    """
    try:
        return await to_thread.run_sync(work, *arguments)
    except OSError as error:
        raise StoreError(
            f"The notes on disk cannot be used ({error.strerror})",
            next_step="The memory is as it was. Check space and permissions of the data directory, then try again",
        ) from error


def read_private(path: Path) -> str:
    """The text of a file that only its owner may read.

    Raises:
        IdentityError: Other users can read it, or it is not text.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name != "nt" and mode & 0o077:
        raise IdentityError(
            f"{path.name} can be read by other users (mode {mode:04o})", next_step=f"Run: chmod 600 '{path}'"
        )
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise IdentityError(
            f"{path.name} is not text", next_step="Put it back from a backup, or move it away"
        ) from None
