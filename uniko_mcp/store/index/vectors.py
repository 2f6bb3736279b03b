"""The vectors of one embedding model: int8 records in a memory-mapped file, searched exactly.

Exact search reads every vector, about 8 ms for 100,000 of 384 dimensions on one core, and stays right up to a few
hundred thousand. Beyond that, the file would be split into clusters (an inverted file), of which a
query reads the nearest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_HEADER_BYTES: Final = 4_096
_LARGEST: Final = 127
_BLOCK_ROWS: Final = 1_024
"""Rows turned to float at a time: 1.5 MB of 384 dimensions, which stays in the processor's cache."""
_FIRST_ROWS: Final = 1_024
_SPARSE: Final = 4
"""When fewer than one row in so many is asked for, only those are read."""


@dataclass(frozen=True, slots=True)
class _Vectors:
    """The mapped records, int8 of shape (rows, dimension), and one over the length of each; they change together."""

    records: NDArray[Any]
    scales: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.records)


class VectorFile:
    """A vector for each row that has one, as int8[dimension] whose largest number is 127 or -127.

    Only directions are kept: a cosine divides by the length of the record. A record that is not like that (never
    written, removed, or torn by a power failure) is no vector, so zeros cannot be found. Rows belong to one
    `generation` of the database; a file of another one is started anew. A file that may be mapped is only ever
    lengthened or replaced as a whole: a search that reads beyond the end of a shortened one kills the process.
    """

    def __init__(self, path: Path, *, model: str, dimension: int, generation: str) -> None:
        self.path: Final = path
        self.model: Final = model
        self.dimension: Final = dimension
        header = json.dumps({"format": 1, "model": model, "dimension": dimension, "generation": generation})
        self._header = header.encode().ljust(_HEADER_BYTES)
        if not self._is_ours():
            self._start()
        records = self._map()
        self._vectors = _Vectors(records, _scales(records))

    @property
    def count(self) -> int:
        """How many rows have a vector."""
        return int(np.count_nonzero(self._vectors.scales))

    def present(self, rows: int) -> NDArray[np.bool_]:
        """For each of the first `rows` rows, whether it has a vector."""
        present = np.zeros(rows, dtype=bool)
        known = self._vectors.scales[:rows]
        present[: len(known)] = known > 0
        return present

    def put(self, rows: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Set the vectors of rows, float32 of shape (rows, dimension). A vector of zeros is refused.

        Raises:
            ValueError: The shape is not that of this file, or a vector has no direction.
        """
        if vectors.shape != (len(rows), self.dimension):
            raise ValueError(f"vectors of shape {vectors.shape}, not ({len(rows)}, {self.dimension})")
        if not len(rows):
            return
        largest = np.abs(vectors).max(axis=1)
        if not np.isfinite(vectors).all() or not largest.all():
            raise ValueError("a vector is zero or not finite")
        self._grow(max(rows) + 1)
        target = np.asarray(rows, dtype=np.intp)
        values = np.rint(vectors / largest[:, None] * _LARGEST).astype(np.int8)
        self._vectors.records[target] = values
        self._vectors.scales[target] = _scales(values)

    def remove(self, rows: Sequence[int]) -> None:
        """Take the vectors of rows out; nothing happens to rows without one."""
        target = np.asarray([row for row in rows if row < len(self._vectors)], dtype=np.intp)
        self._vectors.scales[target] = 0
        self._vectors.records[target] = 0

    def cosines(self, query: NDArray[np.float32], rows: NDArray[np.intp], total: int) -> NDArray[np.float32]:
        """The cosine of a unit query with each of `rows` (ascending, of `total` rows); NaN where there is no vector."""
        vectors = self._vectors  # a writer may put longer ones in their place meanwhile
        known = rows[rows < len(vectors)]
        found = _gathered(vectors, query, known) if len(known) * _SPARSE < total else _scanned(vectors, query)[known]
        cosines = np.full(len(rows), np.nan, dtype=np.float32)
        cosines[: len(known)] = np.where(vectors.scales[known] > 0, found, np.nan)
        return cosines

    def flush(self) -> None:
        """Write what changed through to the disk."""
        self._vectors.records.flush()  # type: ignore[attr-defined]

    def close(self) -> None:
        self.flush()

    def _is_ours(self) -> bool:
        try:
            with self.path.open("rb") as file:
                return file.read(_HEADER_BYTES) == self._header
        except FileNotFoundError:
            return False

    def _start(self) -> None:
        fresh = self.path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(self._header)
            file.truncate(_HEADER_BYTES + _FIRST_ROWS * self.dimension)
        fresh.replace(self.path)

    def _map(self) -> NDArray[Any]:
        rows = max(0, self.path.stat().st_size - _HEADER_BYTES) // self.dimension
        return np.memmap(self.path, dtype=np.int8, mode="r+", offset=_HEADER_BYTES, shape=(rows, self.dimension))

    def _grow(self, rows: int) -> None:
        if rows <= len(self._vectors):
            return
        self.flush()
        with self.path.open("r+b") as file:
            file.truncate(_HEADER_BYTES + (rows + rows // 4 + _FIRST_ROWS) * self.dimension)
        records = self._map()
        scales = np.zeros(len(records), dtype=np.float32)
        scales[: len(self._vectors)] = self._vectors.scales
        self._vectors = _Vectors(records, scales)


def _gathered(vectors: _Vectors, query: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float32]:
    if not len(rows):
        return np.zeros(0, dtype=np.float32)
    return np.vecdot(vectors.records[rows].astype(np.float32), query) * vectors.scales[rows]


def _scanned(vectors: _Vectors, query: NDArray[np.float32]) -> NDArray[np.float32]:
    records, scales = np.asarray(vectors.records), vectors.scales
    found = np.zeros(len(records), dtype=np.float32)
    block = np.empty((_BLOCK_ROWS, len(query)), dtype=np.float32)
    for start in range(0, len(records), _BLOCK_ROWS):
        held = start + np.flatnonzero(scales[start : start + _BLOCK_ROWS])
        values = block[: len(held)]
        values[:] = records[held]
        # Not `dot`: its threads wait for each other, tens of times as long, when the machine is busy.
        found[held] = np.vecdot(values, query)
    return found * scales


def _scales(records: NDArray[np.int8]) -> NDArray[np.float32]:
    """One over the length of each record; 0 for what is no vector."""
    scales = np.zeros(len(records), dtype=np.float32)
    for start in range(0, len(records), _BLOCK_ROWS):
        values = records[start : start + _BLOCK_ROWS].astype(np.float32)
        sound = np.abs(values).max(axis=1) == _LARGEST
        scales[start : start + len(values)][sound] = 1 / np.linalg.norm(values[sound], axis=1)
    return scales


def vector_path(directory: Path, generation: str, model: str, dimension: int) -> Path:
    """The file of a model's vectors: each generation, model and dimension has its own, so they cannot mix."""
    space = sha256(f"{model}:{dimension}".encode()).hexdigest()[:12]
    return directory / f"{_prefix(generation)}{space}.bin"


def other_model_files(directory: Path, generation: str, keep: Path) -> Iterator[Path]:
    """The files of models that are no longer in use."""
    return (path for path in directory.glob(f"{_prefix(generation)}*.bin") if path != keep)


def drop_other_generations(directory: Path, generation: str) -> None:
    """Delete the files whose rows mean nothing any more. A search that still has one mapped keeps its pages."""
    for path in directory.glob("vectors-*"):
        if not path.name.startswith(_prefix(generation)):
            with suppress(PermissionError):  # Windows keeps what is mapped: the next time it goes
                path.unlink(missing_ok=True)


def _prefix(generation: str) -> str:
    return f"vectors-{generation[:12]}-"
