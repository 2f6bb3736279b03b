"""Finding memories: the rank index that follows the graph, the model that embeds it, and the ranking over both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread
from platformdirs import user_cache_path

from uniko_mcp.config import EmbeddingSettings
from uniko_mcp.memory.indexer import Indexer
from uniko_mcp.recall.query import RecallQuery, Window
from uniko_mcp.recall.result import RecallBundle
from uniko_mcp.store import Store

if TYPE_CHECKING:
    from uniko_mcp.recall.recaller import Recaller
    from uniko_mcp.recall.worker import IndexWorker, WorkerStatus

INDEX_PATIENCE: Final = 5.0
"""Seconds that recall waits for acknowledged writes to be indexed; it is a matter of milliseconds."""

MODEL_PATIENCE: Final = 3.0
"""Seconds that a recall waits for the model to load from disk. One that must be fetched takes longer."""

CLOSING_PATIENCE: Final = 0.5
"""Seconds that closing waits for the batch at hand, or for a model that is being loaded."""

_RELEVANT_FACTS: Final = 100
_NO_BUDGET: Final = 1_000_000
"""Tokens; whoever asks cuts to a budget of their own."""

_CATCHING_UP: Final = "The index is being brought up to date; the latest memories may be missing."


@dataclass(frozen=True, slots=True)
class RecollectionStatus:
    """How far the index is, and how its model is."""

    documents: int
    sequence: int
    catching_up: bool
    vectors: WorkerStatus


@dataclass(frozen=True, slots=True)
class _Engine:
    """What is made once the index is open: these modules import numpy, which a start need not wait for."""

    worker: IndexWorker
    recaller: Recaller


class Recollection:
    """Recall over one memory. Belongs to one event loop; everything that takes time happens in threads."""

    def __init__(self, store: Store, directory: Path, embedding: EmbeddingSettings, *, zone: tzinfo) -> None:
        self._indexer = Indexer(store, directory, self._indexed)
        self._embedding = embedding
        self._zone = zone
        self._engine: asyncio.Task[_Engine] | None = None
        self._awake = False

    def start(self) -> None:
        """Follow the store from now on. The model is left alone until `wake`."""
        self._indexer.start()
        self._engine = asyncio.get_running_loop().create_task(self._make_engine())

    def wake(self) -> None:
        """Begin to load the model: somebody is using the memory. Returns at once."""
        if not self._awake:
            self._awake = True
            self._indexed()

    async def close(self) -> None:
        """End; what is not embedded is taken up at the next start."""
        if self._engine is not None:
            self._engine.cancel()
            with suppress(asyncio.CancelledError, Exception):
                engine = await self._engine
                await to_thread.run_sync(engine.worker.stop, CLOSING_PATIENCE)
        await self._indexer.close()

    async def recall(self, query: RecallQuery) -> RecallBundle:
        """The best evidence for a query, over every write that was acknowledged before the call."""
        self.wake()
        caught_up = await self._indexer.caught_up(INDEX_PATIENCE)
        engine = await self._ready()
        await to_thread.run_sync(engine.worker.wait_until_loaded, MODEL_PATIENCE)
        bundle = await to_thread.run_sync(engine.recaller.recall, query)
        return bundle if caught_up else replace(bundle, notes=(*bundle.notes, _CATCHING_UP))

    async def relevant_facts(self, text: str, *, viewer: str, now: int) -> list[str]:
        """The ids of facts that bear on a text, best first. Waits neither for the index nor for the model."""
        engine = await self._ready()
        query = RecallQuery(
            text, viewer, limit=_RELEVANT_FACTS, token_budget=_NO_BUDGET, kinds=("Fact",), reference_time=now
        )
        bundle = await to_thread.run_sync(engine.recaller.recall, query)
        return [item.id for item in bundle.items]

    async def reindex(self, progress: Callable[[int], None] | None = None) -> int:
        """Build the index anew; how many documents it then holds. Their vectors follow in the background."""
        self.wake()
        documents = await self._indexer.rebuild(progress)
        self._indexed()
        return documents

    async def settled(self) -> bool:
        """Wait until every write acknowledged before is indexed; whether it came to that in time."""
        return await self._indexer.caught_up(INDEX_PATIENCE)

    async def embedded(self, patience: float | None = None) -> bool:
        """Wait until everything has its vector or there is no model; whether it came to that in time."""
        self.wake()
        engine = await self._ready()
        await self._indexer.caught_up(INDEX_PATIENCE)
        return await to_thread.run_sync(engine.worker.wait_until_idle, patience, abandon_on_cancel=True)

    async def status(self) -> RecollectionStatus:
        """How far the index is. Waits until it is open, and for nothing else."""
        engine = await self._ready()
        index = await self._indexer.index()
        status = await to_thread.run_sync(index.status)
        vectors = await to_thread.run_sync(engine.worker.status)
        return RecollectionStatus(status.documents, status.sequence, self._indexer.behind, vectors)

    async def _ready(self) -> _Engine:
        assert self._engine is not None
        return await asyncio.shield(self._engine)

    async def _make_engine(self) -> _Engine:
        index = await self._indexer.index()

        def make() -> _Engine:
            from uniko_mcp.recall.embedder import NO_MODEL, EmbeddingChoice, load_embedder
            from uniko_mcp.recall.recaller import Recaller
            from uniko_mcp.recall.worker import IndexWorker

            choice = EmbeddingChoice(
                self._embedding.model,
                self._embedding.path,
                self._embedding.download,
                user_cache_path("uniko-mcp") / "models",
            )
            off = choice.path is None and choice.model == NO_MODEL
            worker = IndexWorker(index, None if off else partial(load_embedder, choice))
            return _Engine(worker, Recaller(index, worker, read_dates=self._read_dates))

        engine = await to_thread.run_sync(make)
        if self._awake:
            engine.worker.start()
        return engine

    def _read_dates(self, text: str, at: int) -> Sequence[Window]:
        from uniko_mcp.extract.dates import find_dates

        found = find_dates(text, at=at, zone=self._zone)
        return [Window(date.from_us, date.to_us, date.relative) for date in found]

    def _indexed(self) -> None:
        """Documents came in, or the model is wanted: have what lacks a vector embedded."""
        engine = self._engine
        if self._awake and engine is not None and engine.done() and not engine.cancelled() and not engine.exception():
            engine.result().worker.start()
            engine.result().worker.wake()
