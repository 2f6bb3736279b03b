"""What each relay has said to the newest version of each note, kept on disk so that a restart forgets nothing.

The signed events themselves are in the archive: pending is the current version of a note at each relay that has
neither accepted nor rejected it.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from uniko_mcp.notes.models import Delivery, NoteKind
from uniko_mcp.store.durable import make_directory, write_file


class Outbox:
    """Deliveries by relay and note. Safe to use from several threads; `record` blocks on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._deliveries = _load(path)

    def delivery(self, relay: str, kind: NoteKind, event_id: str) -> Delivery:
        """What became of this event at the relay; pending when nothing is known of it."""
        known = self._deliveries.get((relay, kind))
        return known if known and known.event_id == event_id else Delivery(event_id, "pending")

    def record(self, relay: str, kind: NoteKind, delivery: Delivery) -> None:
        """Keep what became of an event. Replaces what was known of the note's earlier versions at this relay."""
        with self._lock:
            if self._deliveries.get((relay, kind)) == delivery:
                return
            self._deliveries[relay, kind] = delivery
            rows = [
                {"relay": url, "kind": note_kind.value, **asdict(kept)}
                for (url, note_kind), kept in self._deliveries.items()
            ]
            make_directory(self._path.parent)
            write_file(self._path, json.dumps(rows, indent=1).encode("utf-8"))


def _load(path: Path) -> dict[tuple[str, NoteKind], Delivery]:
    try:
        rows = cast(list[dict[str, Any]], json.loads(path.read_text(encoding="utf-8")))
        return {(row.pop("relay"), NoteKind(row.pop("kind"))): Delivery(**row) for row in rows}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # then everything counts as pending, and sending an event again is harmless
