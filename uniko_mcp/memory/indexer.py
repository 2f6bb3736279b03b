"""Keeping the rank index in step with the graph: after each commit, beside the writes, and from anywhere it stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from uniko_mcp.errors import StoreClosedError, StoreError, UnikoError
from uniko_mcp.memory.projection import count_recallable, project, project_all
from uniko_mcp.memory.touched import Touched, touched_documents
from uniko_mcp.store import Commit, Store, View
from uniko_mcp.store.index.documents import DocumentKey, IndexDocument

if TYPE_CHECKING:
    from uniko_mcp.store.index.rank_index import RankIndex

_log = logging.getLogger(__name__)

RETRY_SECONDS: Final = 1.0
"""How long after a first failure the index is tried again; twice as long after each that follows."""
_LONGEST_PAUSE: Final = 60.0
_MOST_AT_ONCE: Final = 16
"""Change sets that are indexed together: more would take more memory, and be found later."""


@dataclass(frozen=True, slots=True)
class Rebuilding:
    """How far an index that is built anew is: the memories that are in, and about how many there are in all."""

    done: int
    total: int


class Indexer:
    """Follows the store's commits with the rank index in `<data>/index/`. Belongs to one event loop.

    Everything that takes time, opening the index too, happens in threads: `start` returns at once. What fails is logged
    and tried again, later each time; until then `failure` says why, and the index answers from what it holds.
    """

    def __init__(
        self,
        store: Store,
        directory: Path,
        indexed: Callable[[], None] = lambda: None,
        *,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        """`indexed` is called, on the loop, whenever documents came in or went."""
        self._store = store
        self._indexed = indexed
        self._directory = directory
        self._retry_seconds = retry_seconds
        self._waiting: list[Touched] = []
        self._woken = asyncio.Event()
        self._advanced = asyncio.Condition()
        self._one_rebuild = asyncio.Lock()
        self._index: RankIndex | None = None
        self._failure: StoreError | None = None
        self._rebuilding: Rebuilding | None = None
        self._done = 0
        self._task: asyncio.Task[None] | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Open the index and follow from now on, in the background."""
        loop = asyncio.get_running_loop()

        def hand_over(commit: Commit) -> None:  # on the writer's thread
            with suppress(RuntimeError):  # the loop is closed: nobody waits for the index any more
                loop.call_soon_threadsafe(self._note, Touched.by(commit))

        self._unsubscribe = self._store.on_commit(hand_over)
        self._task = loop.create_task(self._follow())

    async def close(self) -> None:
        """Stop following, and close the index. What it lacks is added when it is opened next. Again does nothing."""
        self._unsubscribe()
        self._unsubscribe = lambda: None
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        async with self._advanced:
            self._failure = StoreClosedError("the rank index is closed")
            self._advanced.notify_all()
        if self._index is not None:
            try:
                await to_thread.run_sync(self._index.close)
            except (StoreError, OSError) as error:
                _log.warning("the rank index could not be written through: %s", _reason(error))

    async def index(self) -> RankIndex:
        """The open index; waits while it is being opened.

        Raises:
            StoreError: It could not be opened so far.
        """
        async with self._advanced:
            await self._advanced.wait_for(lambda: self._index is not None or self._failure is not None)
        if self._index is None:
            assert self._failure is not None
            raise type(self._failure)(self._failure.message, next_step=self._failure.next_step)
        return self._index

    @property
    def failure(self) -> str | None:
        """Why the index does not follow the store at present, in words a user can read."""
        return self._failure.message if self._failure is not None else None

    @property
    def rebuilding(self) -> Rebuilding | None:
        """How far a rebuild is; None while there is none."""
        return self._rebuilding

    @property
    def behind(self) -> bool:
        """Whether acknowledged writes are not indexed yet."""
        return not self._holds(self._store.sequence)

    async def caught_up(self, patience: float) -> bool:
        """Wait until every write acknowledged before this call is indexed, at most `patience` seconds; whether it is.

        While the index is built anew, or fails to follow, nothing is waited for.
        """
        wanted = self._store.sequence
        with suppress(TimeoutError):
            async with asyncio.timeout(patience), self._advanced:
                await self._advanced.wait_for(lambda: self._stalled or self._done >= wanted)
        return self._holds(wanted)

    async def rebuild(self, progress: Callable[[Rebuilding], None] = lambda rebuilding: None) -> int:
        """Build the index anew from the graph; how many documents it then holds. Searches go on meanwhile.

        `progress` is told after each batch, on another thread, and may raise to stop.
        """
        index = await self.index()
        try:
            await self._rebuild(index, self._store.sequence, progress)
        except BaseException:
            self._woken.set()  # whoever follows makes whole what is left of it
            raise
        return (await to_thread.run_sync(index.status)).documents

    @property
    def _stalled(self) -> bool:
        return self._failure is not None or (self._index is not None and not self._index.complete)

    def _holds(self, sequence: int) -> bool:
        return self._index is not None and self._index.complete and self._done >= sequence

    def _note(self, touched: Touched) -> None:
        self._waiting.append(touched)
        self._woken.set()

    async def _follow(self) -> None:
        """Keep up for as long as the store is open, whatever fails in between."""
        pause = self._retry_seconds
        while True:
            try:
                await self._keep_up()
            except StoreClosedError:
                return
            except Exception as error:  # whatever it is, the index is behind, not lost
                pause = self._retry_seconds if self._failure is None else min(2 * pause, _LONGEST_PAUSE)
                await self._fail(error)
            await asyncio.sleep(pause)

    async def _keep_up(self) -> None:
        index = await self._sound_index()
        await self._resume(index)
        self._failure = None
        while True:
            await self._woken.wait()
            self._woken.clear()
            touched, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            if self._waiting:
                self._woken.set()
            if any(each.everything for each in touched):  # a snapshot was restored
                await self._rebuild(index, touched[-1].sequence)
            elif touched and (index.rebuilding or self._holds(touched[0].sequence - 1)):
                await self._apply(index, touched)
            else:
                await self._resume(index)

    async def _sound_index(self) -> RankIndex:
        """The index, opened the first time, and looked at again after a failure."""
        if self._index is not None:
            await to_thread.run_sync(self._index.replace_if_damaged)
            return self._index
        index = await to_thread.run_sync(self._open)
        async with self._advanced:
            self._index = index
            self._advanced.notify_all()
        return index

    async def _fail(self, error: Exception) -> None:
        _log.warning("the rank index does not follow the memory at present: %s", _reason(error))
        async with self._advanced:
            self._failure = StoreError(
                _reason(error), next_step=error.next_step if isinstance(error, StoreError) else ""
            )
            self._advanced.notify_all()

    def _open(self) -> RankIndex:
        from uniko_mcp.store.index.rank_index import RankIndex  # imports numpy, which a start need not wait for

        return RankIndex(self._directory)

    async def _resume(self, index: RankIndex) -> None:
        """Add what the index lacks, or build it anew where the journal has that no more."""
        self._done = held = await to_thread.run_sync(lambda: index.sequence)
        missed = await self._store.commits_since(held) if index.complete else None
        if missed is None:
            _log.info("building the rank index anew")
            await self._rebuild(index, self._store.sequence, unless=lambda: index.complete and index.sequence > held)
        elif missed:
            touched = [Touched.by(commit) for commit in missed]
            del missed  # with all its texts
            for start in range(0, len(touched), _MOST_AT_ONCE):
                await self._apply(index, touched[start : start + _MOST_AT_ONCE])
        else:
            await self._advance(held)

    async def _apply(self, index: RankIndex, touched: Sequence[Touched]) -> None:
        last = touched[-1].sequence
        if last > self._done:
            deleted = [key for each in touched for key in each.deleted]
            resting = await to_thread.run_sync(index.resting_on, deleted) if deleted else frozenset[DocumentKey]()
            named = await self._store.read(lambda view: touched_documents(view, touched))
            documents, gone = await self._read(sorted(named | resting))
            await to_thread.run_sync(lambda: index.apply(documents, gone, sequence=last))
        await self._advance(last)

    async def _read(self, keys: Sequence[DocumentKey]) -> tuple[list[IndexDocument], list[DocumentKey]]:
        """The documents of these memories, and those that are gone; in halves where they are too much at once."""
        try:
            return await self._store.read(lambda view: project(view, keys))
        except StoreClosedError:
            raise
        except StoreError:
            if len(keys) < 2:
                raise
        middle = len(keys) // 2
        first, first_gone = await self._read(keys[:middle])
        second, second_gone = await self._read(keys[middle:])
        return first + second, first_gone + second_gone

    async def _rebuild(
        self,
        index: RankIndex,
        sequence: int,
        progress: Callable[[Rebuilding], None] = lambda rebuilding: None,
        *,
        unless: Callable[[], bool] = lambda: False,
    ) -> None:
        """Build the index anew; `unless` says that what came before this has made it needless."""
        async with self._one_rebuild:  # two at once would each throw away what the other has built
            if unless():
                return
            self._done = min(self._done, sequence)  # less, where the memory was put back to what it was before
            try:
                await self._store.read(lambda view: self._build(index, view, sequence, progress))
            finally:
                self._rebuilding = None
            await self._advance(sequence)

    def _build(self, index: RankIndex, view: View, sequence: int, progress: Callable[[Rebuilding], None]) -> None:
        def tell(done: int) -> None:
            self._rebuilding = Rebuilding(done, max(done, total))
            progress(self._rebuilding)

        total = count_recallable(view)
        self._rebuilding = Rebuilding(0, total)
        index.rebuild(project_all(view), sequence=sequence, progress=tell)

    async def _advance(self, sequence: int) -> None:
        async with self._advanced:
            self._done = max(sequence, self._done)
            self._advanced.notify_all()
        self._indexed()


def _reason(error: Exception) -> str:
    """What failed, in words that hold no memory: those of foreign errors might quote one."""
    return error.message if isinstance(error, UnikoError) else f"the index failed with {type(error).__name__}"
