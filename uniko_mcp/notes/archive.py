"""The kept versions of one note on disk: a file for each signed event, named by what orders it.

The current version is the one whose name comes first in that order, so a version exists from the rename of its file
on, and there is no pointer that could disagree.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from uniko_mcp.notes.events import SignedEvent
from uniko_mcp.notes.models import Stamp
from uniko_mcp.store.durable import make_directory, write_file

KEPT_VERSIONS: Final = 50

_SET_ASIDE: Final = "set-aside"
_NAME: Final = re.compile(r"(\d{12})-([0-9a-f]{64})\.json")


class Archive:
    """The versions of one note of one identity. All methods block; one process writes at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stamps(self) -> list[Stamp]:
        """The kept versions, the current one first."""
        return sorted(_stamps_in(self._folder), key=lambda stamp: stamp.precedence)

    def newest(self) -> Stamp | None:
        """The current version."""
        return next(iter(self.stamps()), None)

    def high_water(self) -> Stamp | None:
        """The newest version ever seen here, whether it can be read or is set aside."""
        seen = [*_stamps_in(self._folder), *_stamps_in(self._folder / _SET_ASIDE)]
        return min(seen, key=lambda stamp: stamp.precedence, default=None)

    def read(self, stamp: Stamp) -> SignedEvent:
        """One version.

        Raises:
            ValueError: Its file is damaged.
        """
        event = SignedEvent.from_json(self._path(stamp).read_text(encoding="utf-8"))
        if event.stamp != stamp:
            raise ValueError("the file holds another event than its name says")
        return event

    def add(self, event: SignedEvent) -> bool:
        """Keep a version; whether it was new. The oldest beyond the fifty newest go."""
        if self._path(event.stamp).exists():
            return False
        make_directory(self._folder)
        write_file(self._path(event.stamp), event.to_json().encode("utf-8"))
        self._prune()
        return True

    def set_aside(self, stamp: Stamp) -> Path:
        """Take a version that cannot be read out of the order, and keep its file for good. Returns where it is."""
        place = self._aside(stamp)
        make_directory(place.parent)
        self._path(stamp).replace(place)
        return place

    def keep_aside(self, event: SignedEvent) -> bool:
        """Keep an event that cannot be read, for good, without making it a version; whether it was new."""
        place = self._aside(event.stamp)
        if place.exists():
            return False
        make_directory(place.parent)
        write_file(place, event.to_json().encode("utf-8"))
        return True

    def _prune(self) -> None:
        for old in self.stamps()[KEPT_VERSIONS:]:
            with suppress(OSError):  # the version is kept all the same, and the next one tries again
                self._path(old).unlink()

    def _path(self, stamp: Stamp) -> Path:
        return self._folder / f"{stamp.created_at:012d}-{stamp.event_id}.json"

    def _aside(self, stamp: Stamp) -> Path:
        return self._folder / _SET_ASIDE / self._path(stamp).name


def _stamps_in(folder: Path) -> list[Stamp]:
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    matches = [match for name in names if (match := _NAME.fullmatch(name))]
    return [Stamp(int(match[1]), match[2]) for match in matches]
