"""A gate that many pass together or one alone: queries run side by side, a checkpoint needs the graph to itself."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager


class Gate:
    """A readers-writer lock that lets nobody new in while someone waits to be alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._alone = False

    @contextmanager
    def together(self) -> Generator[None, None, None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, patience: float | None = None) -> Generator[bool, None, None]:
        """Yields whether the others left within `patience` seconds (None: however long it takes)."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._alone = True
            emptied = self._changed.wait_for(lambda: not self._inside, patience)
            if not emptied:
                self._open()
        try:
            yield emptied
        finally:
            if emptied:
                with self._changed:
                    self._open()

    def _open(self) -> None:
        self._alone = False
        self._changed.notify_all()
