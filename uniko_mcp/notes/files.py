"""Private files, written whole or not at all: mode 0600 in folders of mode 0700."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
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


def make_private_folder(folder: Path) -> None:
    """Create the folder, and whichever of its parents are missing, closed to other users."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)


def write_durably(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step and return once it is on disk.

    Who reads meanwhile sees the old file or the new one, never a part of either.
    """
    with _written_beside(path, content) as complete:
        os.replace(complete, path)
    _sync_folder(path.parent)


def write_first(path: Path, content: bytes) -> bool:
    """Like `write_durably`, but only where there is no file yet; whether it was written."""
    with _written_beside(path, content) as complete:
        try:
            os.link(complete, path)
        except FileExistsError:
            return False
        except OSError:  # a file system without links, such as exFAT or Android's
            if path.exists():
                return False
            os.replace(complete, path)
    _sync_folder(path.parent)
    return True


@contextmanager
def _written_beside(path: Path, content: bytes) -> Generator[Path]:
    """A file with the content on disk, in the same folder, that is gone after the block unless it was moved."""
    beside = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield beside
    finally:
        beside.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make renames and new names in the folder durable, where the system lets folders be synced."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
