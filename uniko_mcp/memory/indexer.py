"""Keeping the rank index in step with the graph: after each commit, beside the writes, and from anywhere it stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from uniko_mcp.memory.projection import RECALLABLE, project, project_all
from uniko_mcp.models.changes import Change, DeleteEdge, DeleteNode, PutEdge, PutNode, SetNode
from uniko_mcp.models.graph_schema import NODES
from uniko_mcp.store import Commit, Store, View
from uniko_mcp.store.index.documents import DocumentKey

if TYPE_CHECKING:
    from uniko_mcp.store.index.rank_index import RankIndex

_log = logging.getLogger(__name__)

_DEPENDENTS: Final = {
    "Session": ("(d:Message)-[:IN_SESSION]->(n:Session)", "(d:Episode)-[:IN_SESSION]->(n:Session)"),
    "Message": ("(d:Observation)-[:OBSERVED_IN]->(n:Message)", "(d:Chunk)<-[:HAS_CHUNK]-(n:Message)"),
    "Artifact": ("(d:Chunk)<-[:HAS_CHUNK]-(n:Artifact)",),
}
"""Whose documents say something of the node, beside its own."""


class Indexer:
    """Follows the store's commits with the rank index in `<data>/index/`. Belongs to one event loop.

    Everything that takes time, opening the index too, happens in threads: `start` returns at once.
    """

    def __init__(self, store: Store, directory: Path, indexed: Callable[[], None] = lambda: None) -> None:
        """`indexed` is called, on the loop, whenever documents came in or went."""
        self._store = store
        self._indexed = indexed
        self._directory = directory
        self._commits: list[Commit] = []
        self._woken = asyncio.Event()
        self._advanced = asyncio.Condition()
        self._opened: asyncio.Future[RankIndex] = asyncio.get_running_loop().create_future()
        self._done = 0
        self._rebuilding = False
        self._task: asyncio.Task[None] | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Open the index and follow from now on, in the background."""
        loop = asyncio.get_running_loop()

        def note(commit: Commit) -> None:  # on the writer's thread
            self._commits.append(commit)
            with suppress(RuntimeError):  # the loop is closed: nobody waits for the index any more
                loop.call_soon_threadsafe(self._woken.set)

        self._unsubscribe = self._store.on_commit(note)
        self._task = loop.create_task(self._follow())

    async def close(self) -> None:
        """Stop following, and close the index. What it lacks is added when it is opened next. Again does nothing."""
        self._unsubscribe()
        self._unsubscribe = lambda: None
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self._opened.done() and not self._opened.cancelled() and self._opened.exception() is None:
            await to_thread.run_sync(self._opened.result().close)

    async def index(self) -> RankIndex:
        """The open index.

        Raises:
            Exception: What kept it from opening.
        """
        return await asyncio.shield(self._opened)

    @property
    def behind(self) -> bool:
        """Whether acknowledged writes are not indexed yet."""
        return self._rebuilding or self._done < self._store.status().sequence

    async def caught_up(self, patience: float) -> bool:
        """Wait until every write acknowledged before this call is indexed, at most `patience` seconds; whether it is.

        While the index is built anew nothing is waited for.
        """
        wanted = self._store.status().sequence
        with suppress(TimeoutError):
            async with asyncio.timeout(patience), self._advanced:
                await self._advanced.wait_for(lambda: self._rebuilding or self._done >= wanted)
        return not self._rebuilding and self._done >= wanted

    async def rebuild(self, progress: Callable[[int], None] | None = None) -> int:
        """Build the index anew from the graph; how many documents it then holds. Searches go on meanwhile."""
        index = await self.index()
        self._rebuilding = True
        try:
            sequence = self._store.status().sequence
            await self._store.read(lambda view: index.rebuild(project_all(view), sequence=sequence, progress=progress))
            await self._advance(max(sequence, self._done))
        finally:
            self._rebuilding = False
        return (await to_thread.run_sync(index.status)).documents

    async def _follow(self) -> None:
        try:
            index = await to_thread.run_sync(self._open)
        except Exception as error:
            self._opened.set_exception(error)
            raise
        self._opened.set_result(index)
        await self._resume(index)
        while True:
            await self._woken.wait()
            self._woken.clear()
            commits, self._commits = self._commits, []
            if any(not commit.changes for commit in commits):  # a snapshot was restored: everything may have changed
                await self.rebuild()
            elif commits:
                await self._apply(index, commits)

    def _open(self) -> RankIndex:
        from uniko_mcp.store.index.rank_index import RankIndex  # imports numpy, which a start need not wait for

        return RankIndex(self._directory)

    async def _resume(self, index: RankIndex) -> None:
        """Add what was committed since the index was last open, or build it anew where the journal has it no more."""
        missed = await self._store.commits_since(index.sequence)
        if missed is None:
            _log.info("building the rank index anew")
            await self.rebuild()
        elif missed:
            await self._apply(index, missed)
        else:
            await self._advance(index.sequence)

    async def _apply(self, index: RankIndex, commits: list[Commit]) -> None:
        last = commits[-1].sequence
        if last > self._done:
            changes = [change for commit in commits for change in commit.changes]
            documents, gone = await self._store.read(lambda view: project(view, touched(view, changes)))
            await to_thread.run_sync(lambda: index.apply(documents, gone, sequence=last))
        await self._advance(max(last, self._done))

    async def _advance(self, sequence: int) -> None:
        async with self._advanced:
            self._done = sequence
            self._advanced.notify_all()
        self._indexed()


def touched(view: View, changes: Iterable[Change]) -> set[DocumentKey]:
    """The memories whose documents may read differently after these changes."""
    keys: set[DocumentKey] = set()
    changed: dict[str, set[str]] = {}
    for change in changes:
        match change:
            case PutEdge() | DeleteEdge():
                keys |= {(change.from_kind, change.from_id), (change.to_kind, change.to_id)}
            case PutNode() | SetNode() | DeleteNode():
                keys.add((change.kind, change.id))
                if _shows_elsewhere(change):
                    changed.setdefault(change.kind, set()).add(change.id)
    for kind, ids in changed.items():
        keys |= _dependents(view, kind, ids)
    return {key for key in keys if key[0] in RECALLABLE}


def _shows_elsewhere(change: PutNode | SetNode | DeleteNode) -> bool:
    """Whether the change is one that documents of other nodes show: a topic, a forgotten message, an old revision."""
    if isinstance(change, DeleteNode):
        return change.kind in _DEPENDENTS
    shown = {"Session": "topic", "Message": "forgotten_at", "Artifact": "superseded_at"}.get(change.kind)
    return shown is not None and change.properties.get(shown) is not None


def _dependents(view: View, kind: str, ids: set[str]) -> set[DocumentKey]:
    keys: set[DocumentKey] = set()
    for pattern in _DEPENDENTS[kind]:
        dependent = pattern[3 : pattern.index(")")]
        rows = view.rows(
            f"MATCH {pattern} WHERE n.{NODES[kind].key} IN $ids RETURN d.{NODES[dependent].key} AS id", ids=sorted(ids)
        )
        keys |= {(dependent, row["id"]) for row in rows}
    return keys
