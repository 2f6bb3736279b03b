"""What ranking needs to know of every document: one record a row, and what it rests on, in memory, kept up to date."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.store.index.shape import TRAITS

NOWHERE: Final = -1
"""The row or label code of something that is not there."""
UNKNOWN_TIME: Final = -(2**63)

Origin: TypeAlias = tuple[int, int, int, int]
"""Row, label code of the session, label code of the sender, microseconds: see `origin_dtype`."""

_SPARE_ROWS: Final = 1_024


def record_dtype() -> np.dtype[np.void]:
    """The type of a row's record. `record` in the database holds its bytes, so a change of it is a change of FORMAT.

    `tie` is a number that follows from kind and id. It decides between equals, so that an index that is made anew, in
    which rows have other numbers, answers as before.
    """
    return np.dtype(
        [
            ("alive", "?"),
            ("shares_vector", "?"),
            ("kind", "<i4"),
            ("role", "<i4"),
            ("session", "<i4"),
            ("sender", "<i4"),
            ("sender_name", "<i4"),
            ("owner", "<i4"),
            ("parent", "<i4"),
            ("previous", "<i4"),
            ("next", "<i4"),
            ("ordinal", "<i4"),
            ("tie", "<u4"),
            ("timestamp", "<i8"),
            ("about_from", "<i8"),
            ("about_to", "<i8"),
            ("superseded_at", "<i8"),
            ("length", "<f4"),
            ("prose", "<f4"),
            ("shape", "<f4", (len(TRAITS),)),
        ]
    )


def origin_dtype() -> np.dtype[np.void]:
    """The type of an origin: the row of a document, and who said what it rests on, in which session, when."""
    return np.dtype([("row", "<i4"), ("session", "<i4"), ("sender", "<i4"), ("said_at", "<i8")])


Records: TypeAlias = Mapping[str, NDArray[Any]]
"""The fields of `record_dtype` by their names, each an array over all rows: a query reads few of them, of all rows, so
what it reads should lie together."""


@dataclass(frozen=True)
class Columns:
    """The records of all rows as they were at one moment.

    Rows of deleted documents are not `alive`. Later writes may change single records in place, never their number.
    `origins` (see `origin_dtype`) are those of documents that rest on what others say: a fact has as many as sources.
    """

    records: Records
    origins: NDArray[np.void]
    version: int

    def __len__(self) -> int:
        return len(self.records["alive"])

    @cached_property
    def vector_rows(self) -> NDArray[np.intp]:
        """For each row, the row whose vector tells its meaning: its own, or its parent's where it shares that."""
        records = self.records
        parents = records["parent"]
        shares = records["shares_vector"] & (parents != NOWHERE) & records["alive"][parents]
        return np.where(shares, parents, np.arange(len(self)))


class ColumnTable:
    """Grows the records, sets single rows and links each message to its neighbours in the session.

    Not thread-safe: whoever writes to the index holds its lock.
    """

    def __init__(self, records: dict[str, NDArray[Any]], origins: NDArray[np.void]) -> None:
        self._records = records
        self._origins = origins
        self._size = len(records["alive"])
        self._version = 0
        self._columns = self._current()

    @classmethod
    def load(cls, rows: Iterable[tuple[int, bytes]], origins: Iterable[Origin]) -> ColumnTable:
        """The table of what the database holds: (row, record) pairs, ascending, and the origins of any rows."""
        pairs = list(rows)
        found = np.frombuffer(b"".join(record for _, record in pairs), dtype=record_dtype())
        numbers = np.fromiter((row for row, _ in pairs), dtype=np.intp, count=len(pairs))
        records = _empty(int(numbers[-1]) + 1 if len(pairs) else 0)
        for name, values in records.items():
            values[numbers] = found[name]
        return cls(records, np.array(list(origins), dtype=origin_dtype()))

    def columns(self) -> Columns:
        """The rows as they are now; the same object until something changes."""
        if self._columns.version != self._version:
            self._columns = self._current()
        return self._columns

    def set(self, row: int, record: np.void) -> None:
        """Put a record at a row, which may be the next one."""
        if row >= len(self._records["alive"]):
            grown = _empty(row + 1 + max(_SPARE_ROWS, row // 4))
            for name, values in self._current().records.items():
                grown[name][: self._size] = values
            self._records = grown
        for name, values in self._records.items():
            values[row] = record[name]
        self._size = max(self._size, row + 1)
        self._version += 1

    def remove(self, row: int) -> None:
        """Forget a row; its number is not used again."""
        self._records["alive"][row] = False
        self._version += 1

    def set_origins(self, rows: Collection[int], origins: Sequence[Origin]) -> None:
        """Put these origins in the place of all that the rows had."""
        replaced = np.zeros(self._size, dtype=bool)
        replaced[list(rows)] = True
        kept = self._origins[~replaced[self._origins["row"]]]
        self._origins = np.concatenate([kept, np.array(origins, dtype=origin_dtype())])
        self._version += 1

    def link_neighbours(self, sessions: Iterable[int], message: int) -> None:
        """Set `previous` and `next` of the messages (the kind with that label code) of these sessions."""
        records = self._current().records
        messages = records["alive"] & (records["kind"] == message)
        for session in sessions:
            rows = np.flatnonzero(messages & (records["session"] == session))
            _link(records, rows)
        self._version += 1

    def link_all_neighbours(self, message: int) -> None:
        """The same for every session."""
        records = self._current().records
        _link(records, np.flatnonzero(records["alive"] & (records["kind"] == message)))

    def _current(self) -> Columns:
        records = {name: values[: self._size] for name, values in self._records.items()}
        return Columns(records, self._origins, self._version)


def _empty(rows: int) -> dict[str, NDArray[Any]]:
    dtype = record_dtype()
    return {name: np.zeros((rows, *dtype[name].shape), dtype[name].base) for name in dtype.names or ()}


def _link(records: Records, rows: NDArray[np.intp]) -> None:
    ordered = rows[np.lexsort((rows, records["ordinal"][rows], records["timestamp"][rows], records["session"][rows]))]
    sessions = records["session"][ordered]
    records["previous"][ordered] = NOWHERE
    records["next"][ordered] = NOWHERE
    together = np.flatnonzero((sessions[1:] == sessions[:-1]) & (sessions[1:] != NOWHERE))
    records["previous"][ordered[together + 1]] = ordered[together]
    records["next"][ordered[together]] = ordered[together + 1]
