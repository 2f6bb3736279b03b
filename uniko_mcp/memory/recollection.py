"""Finding memories: the rank index that follows the graph, the model that embeds it, and the ranking over both."""

from __future__ import annotations

import asyncio
import time
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
from uniko_mcp.errors import StoreError
from uniko_mcp.memory.indexer import RETRY_SECONDS, Indexer, Rebuilding
from uniko_mcp.recall.query import RecallQuery, Window
from uniko_mcp.recall.result import RecallBundle
from uniko_mcp.store import Store

if TYPE_CHECKING:
    from uniko_mcp.recall.recaller import Recaller
    from uniko_mcp.recall.worker import IndexWorker, ModelState, WorkerStatus
    from uniko_mcp.store.index.rank_index import RankIndex

INDEX_PATIENCE: Final = 5.0
"""Seconds that recall waits for acknowledged writes to be indexed; it is a matter of milliseconds."""

MODEL_PATIENCE: Final = 3.0
"""Seconds from the first recall on that recalls wait for the model: enough to load it from disk. While one is fetched,
memories are found by their words, at once."""

CLOSING_PATIENCE: Final = 0.5
"""Seconds that closing waits for the batch at hand, or for a model that is being loaded."""

_RELEVANT_FACTS: Final = 100
_NO_BUDGET: Final = 1_000_000
"""Tokens; whoever asks cuts to a budget of their own."""

_CATCHING_UP: Final = "The index is being brought up to date; the latest memories may be missing."
_REBUILDING: Final = "The index is being built anew: {:,} of about {:,} memories can be found so far."
_NOT_FOLLOWING: Final = "The latest memories may be missing, since they cannot be indexed at present: {}."


@dataclass(frozen=True, slots=True)
class RecollectionStatus:
    """How far the index is, and how its model is.

    `failure` says why it does not take in what is new, `rebuilding` how far it is where it is built anew.
    """

    documents: int
    sequence: int
    catching_up: bool
    vectors: WorkerStatus
    failure: str | None = None
    rebuilding: Rebuilding | None = None

    @property
    def warnings(self) -> list[str]:
        """What needs attention."""
        warnings: list[str] = []
        if self.failure:
            warnings.append(f"What is new cannot be indexed at present: {self.failure}")
        elif self.vectors.state == "unavailable":
            warnings.append(f"Memories are found by their words alone at present: {self.vectors.reason}")
        if self.vectors.refused:
            warnings.append(f"Memories on which the embedding model fails: {self.vectors.refused}")
        return warnings


@dataclass(frozen=True, slots=True)
class _Engine:
    """What is made once the index is open: these modules import numpy, which a start need not wait for."""

    index: RankIndex
    worker: IndexWorker
    recaller: Recaller


class Recollection:
    """Recall over one memory. Belongs to one event loop; everything that takes time happens in threads."""

    def __init__(
        self,
        store: Store,
        directory: Path,
        embedding: EmbeddingSettings,
        *,
        zone: tzinfo,
        rerank: bool = False,
        index_patience: float = INDEX_PATIENCE,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        """Recall over a store, with its index in `directory`.

        `index_patience` is how many seconds recall waits for acknowledged writes to be indexed, `retry_seconds` how
        soon a failing index is retried.
        """
        self._indexer = Indexer(store, directory, self._indexed, retry_seconds=retry_seconds)
        self._embedding = embedding
        self._zone = zone
        self._index_patience = index_patience
        self._rerank = rerank
        self._engine: asyncio.Task[_Engine] | None = None
        self._awake = False
        self._patient_until: float | None = None

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
        """The best evidence for a query, over every write that was acknowledged before the call.

        While the index fails to take them in, it is over what it holds, and a note says so.

        Raises:
            StoreError: The index cannot be opened or read at all.
        """
        self.wake()
        caught_up = await self._indexer.caught_up(self._index_patience)
        engine = await self._ready()
        await to_thread.run_sync(engine.worker.wait_until_loaded, self._model_patience())
        bundle = await to_thread.run_sync(recall_one_generation, engine.index, engine.recaller, query)
        if caught_up:
            return bundle
        return replace(bundle, notes=(*bundle.notes, self._behind()))

    async def relevant_facts(self, text: str, *, viewer: str, now: int) -> list[str]:
        """The ids of facts that bear on a text, best first. Waits neither for the index nor for the model.

        Without an index none is known; that is a warning of `status`.
        """
        try:
            engine = await self._ready()
        except StoreError:
            return []
        query = RecallQuery(text, viewer, limit=_RELEVANT_FACTS, token_budget=_NO_BUDGET, kinds=("Fact",), now=now)
        bundle = await to_thread.run_sync(recall_one_generation, engine.index, engine.recaller, query)
        return [item.id for item in bundle.items]

    async def reindex(self, progress: Callable[[Rebuilding], None] = lambda rebuilding: None) -> int:
        """Build the index anew; how many documents it then holds. Their vectors follow in the background.

        `progress` is told after each batch, on another thread, and may raise to stop.
        """
        self.wake()
        documents = await self._indexer.rebuild(progress)
        self._indexed()
        return documents

    async def settled(self, patience: float = INDEX_PATIENCE) -> bool:
        """Wait until every write acknowledged before is indexed; whether it came to that in time."""
        return await self._indexer.caught_up(patience)

    async def embedded(self, patience: float | None = None) -> bool:
        """Wait until everything has its vector or there is no model; whether it came to that in time.

        With `patience`, in seconds, a model that is being fetched is not waited for.
        """
        self.wake()
        engine = await self._ready()
        await self._indexer.caught_up(INDEX_PATIENCE)
        until: tuple[ModelState, ...] = () if patience is None else ("fetching",)
        wait = partial(engine.worker.wait_until_idle, patience, until=until)
        return await to_thread.run_sync(wait, abandon_on_cancel=True)

    async def status(self) -> RecollectionStatus:
        """How far the index is. Waits until it is open or fails to, and for nothing else."""
        try:
            engine = await self._ready()
            behind, rebuilding = self._indexer.behind, self._indexer.rebuilding  # before the rest, which is no older
            status = await to_thread.run_sync(engine.index.status)
            vectors = await to_thread.run_sync(engine.worker.status)
        except StoreError as error:
            return _unreadable(error)
        failure = self._indexer.failure
        return RecollectionStatus(status.documents, status.sequence, behind, vectors, failure, rebuilding)

    def _behind(self) -> str:
        """Why the latest memories may be missing."""
        if failure := self._indexer.failure:
            return _NOT_FOLLOWING.format(failure)
        if rebuilding := self._indexer.rebuilding:
            return _REBUILDING.format(rebuilding.done, rebuilding.total)
        return _CATCHING_UP

    def _model_patience(self) -> float:
        """Seconds that are left to wait for the model."""
        if self._patient_until is None:
            self._patient_until = time.monotonic() + MODEL_PATIENCE
        return max(0.0, self._patient_until - time.monotonic())

    async def _ready(self) -> _Engine:
        """The engine; made again where the index could not be opened before."""
        if self._engine is None or _failed(self._engine):
            self._engine = asyncio.get_running_loop().create_task(self._make_engine())
        return await asyncio.shield(self._engine)

    async def _make_engine(self) -> _Engine:
        index = await self._indexer.index()

        def make() -> _Engine:
            from uniko_mcp.recall.embedder import NO_MODEL, EmbeddingChoice, load_embedder
            from uniko_mcp.recall.recaller import Recaller
            from uniko_mcp.recall.reranker import Reranker, load_cross_encoder
            from uniko_mcp.recall.worker import IndexWorker

            choice = EmbeddingChoice(
                self._embedding.model,
                self._embedding.path,
                self._embedding.download,
                user_cache_path("uniko-mcp") / "models",
                self._embedding.api_base,
            )
            off = choice.path is None and choice.model == NO_MODEL
            here = partial(load_embedder, replace(choice, download=False))
            fetch = partial(load_embedder, choice) if choice.download else None
            worker = IndexWorker(index, None if off else here, fetch=fetch)
            cross_encoder = partial(load_cross_encoder, download=choice.download, cache=choice.cache)
            reranker = Reranker(cross_encoder) if self._rerank else None
            return _Engine(index, worker, Recaller(index, worker, read_dates=self._read_dates, reranker=reranker))

        engine = await to_thread.run_sync(make)
        if self._awake:
            engine.worker.start()
        return engine

    def _read_dates(self, text: str, at: int) -> Sequence[Window]:
        from uniko_mcp.memory.windows import read_windows  # the extractors, which a start need not wait for

        return read_windows(text, at, zone=self._zone)

    def _indexed(self) -> None:
        """Documents came in, or the model is wanted: have what lacks a vector embedded."""
        engine = self._engine
        if self._awake and engine is not None and engine.done() and not _failed(engine):
            engine.result().worker.start()
            engine.result().worker.wake()


def recall_one_generation(index: RankIndex, recaller: Recaller, query: RecallQuery) -> RecallBundle:
    """Recall, and once more when the index was begun anew meanwhile: a row found before may now be another memory,
    one that this agent must not see."""
    while True:
        generation = index.generation
        bundle = recaller.recall(query)
        if index.generation == generation:
            return bundle


def _failed(engine: asyncio.Task[_Engine]) -> bool:
    return engine.done() and (engine.cancelled() or engine.exception() is not None)


def _unreadable(error: StoreError) -> RecollectionStatus:
    from uniko_mcp.recall.worker import WorkerStatus

    vectors = WorkerStatus("unavailable", None, embedded=0, pending=0, reason="there is no index to embed")
    return RecollectionStatus(documents=0, sequence=0, catching_up=True, vectors=vectors, failure=error.message)
