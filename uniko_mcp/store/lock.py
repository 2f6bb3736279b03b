"""The advisory lock of a data directory: one process at a time, and a dead holder's lock is simply free."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from uniko_mcp.errors import StoreError, StoreLockedError
from uniko_mcp.store.durable import PRIVATE_FILE, close_to_others, make_directory

LOCK_NAME: Final = "hub.lock"

if sys.platform == "win32":
    import msvcrt

    # Windows refuses to read a locked range, so the lock lies far behind the text that names the holder.
    _LOCK_OFFSET = 1 << 30

    def _try_lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class DirectoryLock:
    """A held lock. The operating system releases it when the process ends, however it ends.

    The file stays behind with the name of the last holder: deleting it would let two processes lock two files.
    """

    def __init__(self, directory: Path) -> None:
        """Take the lock of a data directory, which is created when missing and closed to other users.

        Raises:
            StoreLockedError: Another holder has it; the message names its pid and since when.
            StoreError: The directory cannot be made or written to.
        """
        path = directory / LOCK_NAME
        try:
            make_directory(directory)
            close_to_others(directory)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        except OSError as error:
            raise StoreError(
                f"{directory} cannot be used: {error.strerror}",
                next_step="Choose another data_dir, or make it writable",
            ) from error
        try:
            _try_lock(self._descriptor)
        except OSError as error:
            holder = _holder(path)
            os.close(self._descriptor)
            raise StoreLockedError(
                f"{directory} is in use by {holder}", next_step="Stop that process, or choose another data_dir"
            ) from error
        since = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, json.dumps({"pid": os.getpid(), "since": since}).encode())

    def release(self) -> None:
        os.close(self._descriptor)


def _holder(path: Path) -> str:
    try:
        record = cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))
        return f"process {record['pid']} since {record['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"  # it has just taken the lock and not yet written who it is
