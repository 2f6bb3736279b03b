"""What the store tells about itself: its state, what happened at open, and each change set as it is committed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from uniko_mcp.models.changes import ChangeSet

RecoveryKind: TypeAlias = Literal["journal", "graph", "snapshot"]


@dataclass(frozen=True, slots=True)
class Commit:
    """A change set that is durable and in the graph. `recorded_at` is microseconds UTC."""

    sequence: int
    changes: ChangeSet
    recorded_at: int


@dataclass(frozen=True, slots=True)
class Recovery:
    """Something the store had to repair, in words a user can read.

    `kept` says whether everything acknowledged is still there; when it is False, `message` names what is missing.
    """

    kind: RecoveryKind
    message: str
    at: int
    kept: bool = True


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """A look at the store. Sizes are bytes, `sequence` is the number of the last acknowledged change set."""

    directory: Path
    engine: str
    schema_version: int
    read_only: bool
    sequence: int
    journal_entries: int
    journal_bytes: int
    graph_bytes: int
    snapshots: tuple[Path, ...]
    recoveries: tuple[Recovery, ...]
    quarantined: int
    failure: str | None
