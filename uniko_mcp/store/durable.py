"""Files that survive a crash: private to their owner, replaced whole or not at all, and on disk when a call returns."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

PRIVATE_FILE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700


def make_directory(path: Path) -> None:
    """Create the directory and its parents, readable by their owner only; nothing happens when it is there."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)


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
    """A file that takes the place of `path` when the block ends well, and leaves it as it was otherwise."""
    partial = path.with_name(f"{path.name}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), PRIVATE_FILE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)
