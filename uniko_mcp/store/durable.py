"""Files that survive a crash: private to their owner, replaced whole or not at all, and on disk when a call returns."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

PRIVATE_FILE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700
_OTHERS: Final = 0o077

logger = logging.getLogger(__name__)


def make_directory(path: Path) -> None:
    """Create the directory and its parents, readable by their owner only; nothing happens when it is there."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)


def close_to_others(directory: Path) -> None:
    """Leave a directory to its owner alone. Where that cannot be, the log says so.

    A sticky one, such as /tmp, is shared on purpose and stays as it is.
    """
    mode = stat.S_IMODE(directory.stat().st_mode)
    if os.name == "nt" or not mode & _OTHERS:
        return
    if not mode & stat.S_ISVTX:
        with suppress(OSError):
            directory.chmod(PRIVATE_DIRECTORY)
            return
    logger.warning("%s is open to other users (mode %04o); move the memory to a directory of its own", directory, mode)


def open_for_append(path: Path) -> int:
    """A file descriptor that writes at the end of the file, which is created when missing."""
    existed = path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), PRIVATE_FILE)
    if not existed:
        sync_directory(path.parent)
    return descriptor


def write_all(descriptor: int, content: bytes) -> None:
    """Write every byte, however many calls it takes."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_file(descriptor: int) -> None:
    """Return when the file's bytes and length are on disk. Its times may lag behind: nothing here reads them."""
    getattr(os, "fdatasync", os.fsync)(descriptor)


def sync_directory(path: Path) -> None:
    """Return when the names in the directory are on disk. Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def replacing(path: Path) -> Generator[BinaryIO, None, None]:
    """A file that takes the place of `path` when the block ends well, and leaves it as it was otherwise.

    Who reads meanwhile sees the old file or the new one, never a part of either.
    """
    with _beside(path) as partial:
        with _written(partial) as file:
            yield file
        os.replace(partial, path)
    sync_directory(path.parent)


def write_file(path: Path, content: bytes) -> None:
    """Put `content` in the place of what is at `path`, as `replacing` does."""
    with replacing(path) as file:
        file.write(content)


def create_file(path: Path, content: bytes) -> bool:
    """Like `write_file`, but only where there is no file yet; whether it was written."""
    with _beside(path) as partial:
        with _written(partial) as file:
            file.write(content)
        try:
            os.link(partial, path)
        except FileExistsError:
            return False
        except OSError:  # a file system without links, such as exFAT or Android's
            if path.exists():
                return False
            os.replace(partial, path)
    sync_directory(path.parent)
    return True


@contextmanager
def _beside(path: Path) -> Generator[Path, None, None]:
    """A name of its own in the same directory; whatever still has it after the block is removed."""
    partial = path.with_name(f"{path.name}.{os.urandom(4).hex()}.partial")
    try:
        yield partial
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _written(path: Path) -> Generator[BinaryIO, None, None]:
    """A new file that is on disk, and closed as Windows wants it, when the block ends."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
