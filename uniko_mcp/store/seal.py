"""The seal of the graph's file: the checksum that tells, before Kuzu reads it, whether it is as Kuzu left it.

Kuzu writes its main file at a checkpoint and when it closes, and at no other time; what was committed since is in its
write-ahead log. Neither has checksums of its own: a flipped byte comes back as another value, a lost edge or a crash.
So the seal is broken before each of those two, and set again after it.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

from uniko_mcp.store.durable import replacing, sync_directory

SEAL_NAME: Final = "seal.json"

_BLOCK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Seal:
    """The file's length and CRC-32, and the last change set it holds."""

    sequence: int
    bytes: int
    crc32: int

    @classmethod
    def read(cls, folder: Path) -> Seal | None:
        """The seal of a graph folder; None when it is broken, as when Kuzu was writing as the process ended."""
        try:
            record = cast("dict[str, Any]", json.loads((folder / SEAL_NAME).read_bytes()))
            return cls(int(record["sequence"]), int(record["bytes"]), int(record["crc32"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @classmethod
    def put(cls, folder: Path, file: Path, sequence: int) -> None:
        """Seal the file as it is now."""
        size, checksum = _checksum(file)
        with replacing(folder / SEAL_NAME) as out:
            out.write(json.dumps(asdict(cls(sequence, size, checksum))).encode())

    @staticmethod
    def break_(folder: Path) -> None:
        """Say that the file is about to change; durable when the call returns."""
        (folder / SEAL_NAME).unlink(missing_ok=True)
        sync_directory(folder)

    def fits(self, file: Path) -> bool:
        """Whether the file is byte for byte the one that was sealed."""
        return file.exists() and _checksum(file) == (self.bytes, self.crc32)


def _checksum(file: Path) -> tuple[int, int]:
    size = checksum = 0
    with file.open("rb") as source:
        while block := source.read(_BLOCK_BYTES):
            size += len(block)
            checksum = zlib.crc32(block, checksum)
    return size, checksum
