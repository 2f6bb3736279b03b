"""The journal: one checksummed line per change set, on disk before the write is acknowledged.

`journal.jsonl` is UTF-8, one JSON object per line:

    {"sequence":17,"recorded_at":1764497501000000,"changes":[["n","Goal","g1",{"title":"Ship"}]],"crc32":"8c736521"}

`sequence` grows by one from line to line, `recorded_at` is microseconds UTC, `changes` is `ChangeSet.to_json`, and
`crc32` (IEEE, eight hexadecimal digits) covers every byte of the line before `,"crc32"`. Each line stands by itself: a
damaged one costs nothing but itself.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from uniko_mcp.models.changes import ChangeSet
from uniko_mcp.store.durable import open_for_append, replacing, sync_file, write_all

JOURNAL_NAME: Final = "journal.jsonl"
QUARANTINE_NAME: Final = "journal.quarantine"

_HEAD: Final = re.compile(rb'\{"sequence":(\d{1,18}),"recorded_at":(\d{1,18}),"changes":')
_SEAL: Final = re.compile(rb',"crc32":"([0-9a-f]{8})"\}')
_SEAL_BYTES: Final = len(b',"crc32":"00000000"}')


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal, without its newline. The change set is decoded when asked for: most never are."""

    sequence: int
    recorded_at: int
    line: bytes

    @classmethod
    def of(cls, sequence: int, recorded_at: int, changes: ChangeSet) -> Entry:
        """The entry that records this change set."""
        record = {"sequence": sequence, "recorded_at": recorded_at, "changes": changes.to_json()}
        body = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()[:-1]
        return cls(sequence, recorded_at, b'%b,"crc32":"%08x"}' % (body, zlib.crc32(body)))

    @classmethod
    def parse(cls, line: bytes) -> Entry | None:
        """The entry of a sound line; None when the line is damaged."""
        head = _HEAD.match(line)
        seal = _SEAL.fullmatch(line[-_SEAL_BYTES:])
        if head is None or seal is None or zlib.crc32(line[:-_SEAL_BYTES]) != int(seal[1], 16):
            return None
        return cls(int(head[1]), int(head[2]), line)

    @property
    def changes(self) -> ChangeSet:
        return ChangeSet.from_json(cast("list[list[Any]]", json.loads(self.line)["changes"]))


@dataclass(frozen=True, slots=True)
class JournalScan:
    """What the bytes of a journal hold.

    Attributes:
        entries: The sound entries, by growing sequence.
        damaged: The lines that are not sound, as they are.
        torn: Bytes of a last line that was cut while it was written, so before it was acknowledged.
    """

    entries: tuple[Entry, ...]
    damaged: tuple[bytes, ...]
    torn: int

    @property
    def last(self) -> int:
        """The sequence number of the last entry; 0 when there is none."""
        return self.entries[-1].sequence if self.entries else 0

    @property
    def missing(self) -> list[int]:
        """The sequence numbers between the first and the last entry that no sound line has."""
        pairs = itertools.pairwise(entry.sequence for entry in self.entries)
        return [lost for left, right in pairs for lost in range(left + 1, right)]


def scan(content: bytes) -> JournalScan:
    """Read the bytes of a journal, whatever happened to them."""
    entries: list[Entry] = []
    damaged: list[bytes] = []
    *lines, tail = content.split(b"\n")
    for line in lines:
        entry = Entry.parse(line)
        found, rest = ([entry], b"") if entry else _salvage(line)
        entries.extend(found)
        if rest:
            damaged.append(rest)
    found, rest = _salvage(tail)
    entries.extend(found)
    ordered = {entry.sequence: entry for entry in reversed(entries)}
    return JournalScan(tuple(ordered[sequence] for sequence in sorted(ordered)), tuple(damaged), torn=len(rest))


def _salvage(line: bytes) -> tuple[list[Entry], bytes]:
    """The sound entries inside a damaged line, and what else it holds.

    Two sound entries with one odd byte between them are two lines whose newline was damaged: nothing is lost. The
    head and seal of an entry cannot occur inside its texts, where every quotation mark is escaped.
    """
    entries: list[Entry] = []
    rest: list[bytes] = []
    end = 0
    for head in _HEAD.finditer(line):
        seal = _SEAL.search(line, head.end())
        entry = Entry.parse(line[head.start() : seal.end()]) if seal else None
        if entry is None or seal is None:
            continue
        rest.append(line[end : head.start()])
        entries.append(entry)
        end = seal.end()
    rest.append(line[end:])
    if entries and all(len(piece) <= 1 for piece in rest):
        return entries, b""
    return entries, b"".join(rest)


class Journal:
    """The open journal of a data directory. Only one thread at a time may use it.

    Attributes:
        path: The file.
        entries: Number of entries in the file.
        bytes: Length of the file.
        last: Sequence of the last entry; 0 when there is none.
    """

    def __init__(self, path: Path, scanned: JournalScan) -> None:
        self.path = path
        self._descriptor = open_for_append(path)
        self._sound = True
        self._count(scanned.entries)

    @classmethod
    def open(cls, directory: Path) -> tuple[Journal, JournalScan]:
        """Open the journal of a data directory, or start one, and say what it held.

        Damaged lines move to `journal.quarantine`; a torn last line is dropped.
        """
        path = directory / JOURNAL_NAME
        content = path.read_bytes() if path.exists() else b""
        scanned = scan(content)
        if scanned.damaged:
            set_aside(directory, scanned.damaged)
        if content != _text(scanned.entries):
            _rewrite(path, scanned.entries)
        return cls(path, scanned), scanned

    def append(self, entries: Sequence[Entry]) -> None:
        """Write the entries; on disk when the call returns.

        Raises:
            OSError: They could not be written. The file is as before.
        """
        if not self._sound:
            raise OSError(errno.EIO, "an earlier write failed and could not be undone; start again")
        text = _text(entries)
        try:
            write_all(self._descriptor, text)
            sync_file(self._descriptor)
        except OSError:
            self._sound = False
            os.ftruncate(self._descriptor, self.bytes)
            os.fsync(self._descriptor)
            self._sound = True
            raise
        self.entries += len(entries)
        self.bytes += len(text)
        self.last = entries[-1].sequence

    def read(self) -> tuple[Entry, ...]:
        """The sound entries in the file."""
        return scan(self.path.read_bytes()).entries

    def drop_through(self, sequence: int) -> None:
        """Forget the entries up to and including this sequence; a crash leaves either all or only the later ones."""
        kept = [entry for entry in self.read() if entry.sequence > sequence]
        os.close(self._descriptor)
        try:
            _rewrite(self.path, kept)
        finally:
            self._descriptor = open_for_append(self.path)
        last = self.last
        self._count(kept)
        self.last = last

    def close(self) -> None:
        os.close(self._descriptor)

    def _count(self, entries: Sequence[Entry]) -> None:
        self.entries = len(entries)
        self.bytes = os.fstat(self._descriptor).st_size
        self.last = entries[-1].sequence if entries else 0


def set_aside(directory: Path, lines: Iterable[bytes]) -> None:
    """Keep lines that cannot be used, as they are, in `journal.quarantine`."""
    descriptor = open_for_append(directory / QUARANTINE_NAME)
    try:
        write_all(descriptor, b"".join(b"%b\n" % line for line in lines))
        sync_file(descriptor)
    finally:
        os.close(descriptor)


def quarantined(directory: Path) -> int:
    """Number of damaged lines that were ever set aside in this data directory."""
    path = directory / QUARANTINE_NAME
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _text(entries: Iterable[Entry]) -> bytes:
    return b"".join(b"%b\n" % entry.line for entry in entries)


def _rewrite(path: Path, entries: Iterable[Entry]) -> None:
    with replacing(path) as file:
        file.write(_text(entries))
