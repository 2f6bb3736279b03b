"""Files that may become documents: those under the folders that the configuration names, and no other."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from uniko_mcp.errors import DocumentError, InvalidArgumentsError, LimitExceededError, NotFoundError

MAX_FILE_BYTES: Final = 50_000_000
"""Far above any text; a PDF of this size is mostly pictures."""

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""The path is resolved before: a link that stands there now was put there since. A pipe must not make us wait."""


def read_file(path: str, folders: Sequence[Path], *, never: Path) -> tuple[Path, bytes]:
    """Where the file is, and its content. A relative path starts from each of the folders.

    Links and `..` are followed before it is decided whether the file lies under one of the folders. What lies under
    `never`, the memory's own folder with its key, is not read even so.

    Raises:
        InvalidArgumentsError: It lies elsewhere, whether or not there is such a file.
        NotFoundError: There is no such file.
        LimitExceededError: It is larger than `MAX_FILE_BYTES`.
        DocumentError: It cannot be read.
    """
    private = never.resolve()
    places = (_place_under(folder, path) for folder in folders)
    allowed = [place for place in places if place is not None and not place.is_relative_to(private)]
    if not allowed:
        raise InvalidArgumentsError(
            f"path: {path!r} is under no folder that may be read",
            next_step="Add its folder to documents.folders in the configuration, or send the content instead",
        )
    place = next((place for place in allowed if place.exists()), None)
    if place is None:
        raise NotFoundError(f"path: there is no file {path!r}", next_step="Check the name, or send the content instead")
    try:
        return place, _content(place)
    except OSError as error:
        raise DocumentError(f"path: {path!r} cannot be read: {error.strerror}") from None


def _place_under(folder: Path, path: str) -> Path | None:
    """Where the path leads from the folder, if that is under the folder."""
    try:
        root = folder.resolve()
        place = (root / Path(path).expanduser()).resolve()
        str(place).encode("utf-8")  # it is kept and shown in results
    except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL, a home that nobody has, not UTF-8
        return None
    return place if place.is_relative_to(root) else None


def _content(place: Path) -> bytes:
    with open(os.open(place, _FLAGS), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError(f"path: {place.name!r} is not a file", next_step="Name a single file")
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise LimitExceededError(
            f"path: {place.name!r} has {status.st_size:,} bytes, and a file may have {MAX_FILE_BYTES:,}",
            next_step="Split it, or send the part that matters as content",
        )
    return content
