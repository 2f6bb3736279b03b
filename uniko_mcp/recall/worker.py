"""The index worker: a background thread that loads the embedding model and gives every document its vector.

Writes never wait for it, and neither does recall: until a vector is there, a document is found by its words.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.errors import ModelUnavailableError, StoreClosedError, StoreError
from uniko_mcp.recall.embedder import PROBE, Embedder, ModelNotHereError
from uniko_mcp.store.index.rank_index import Pending, RankIndex

logger = logging.getLogger(__name__)

ModelState: TypeAlias = Literal["off", "loading", "fetching", "ready", "unavailable"]

RETRY_SECONDS: Final = 60.0
"""How long after a failure the model is asked for again."""
_TAKEN: Final = 128
"""Documents taken at a time: enough to sort by length, few enough that a new one waits about a second."""
_AT_ONCE: Final = 32
"""Documents embedded between two looks at whether to end: a quarter of a second."""
_QUERIES_KEPT: Final = 64
_NICENESS: Final = 10
"""How far embedding stands back where a call wants the processor."""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """How far the vectors are; `reason` says why there is no model.

    `embedded` memories are found by their meaning, `pending` ones will be, and `refused` ones will not, since the model
    fails on their text.
    """

    state: ModelState
    model: str | None
    embedded: int
    pending: int
    reason: str = ""
    refused: int = 0


class IndexWorker:
    """Owns the embedding model. `load` is called on the worker's thread; None switches semantic search off."""

    def __init__(
        self,
        index: RankIndex,
        load: Callable[[], Embedder] | None,
        *,
        fetch: Callable[[], Embedder] | None = None,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        """`fetch` gets a model that `load` does not find on this machine, which may take minutes."""
        self._index = index
        self._load = load
        self._fetch = fetch
        self._retry_seconds = retry_seconds
        self._embedder: Embedder | None = None
        self._state: ModelState = "off" if load is None else "loading"
        self._reason = ""
        self._changed = threading.Condition()
        self._awake = True
        self._stopping = False
        self._idle = False
        self._thread: threading.Thread | None = None
        self._refused: set[Pending] = set()
        self._refused_of = ""
        self._query_vector = lru_cache(_QUERIES_KEPT)(_embed_query)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to load the model and to embed what waits. A second call does nothing."""
        if self._load is None or self._thread is not None:
            return
        self._thread = threading.Thread(target=self._run, name="uniko-index", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Tell that documents came in or changed. Returns at once."""
        with self._changed:
            self._awake, self._idle = True, False
            self._changed.notify_all()

    def stop(self, patience: float | None = None) -> None:
        """Finish the batch at hand and end; what is not embedded is taken up at the next start.

        After `patience` seconds the thread is left to itself: it ends with the process, and loses no more than a batch.
        """
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(patience)

    def wait_until_idle(self, timeout: float | None = None, *, until: Collection[ModelState] = ()) -> bool:
        """Wait until nothing is pending, or the model turns out to be unavailable, or is in a state of `until`;
        whether it came to that in time."""
        ends = {"off", "unavailable", *until}
        with self._changed:
            return self._changed.wait_for(lambda: self._idle or self._stopping or self._state in ends, timeout)

    def wait_until_loaded(self, timeout: float) -> bool:
        """Wait until the model is loaded, or turns out not to be here; whether it came to that in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._state != "loading" or self._stopping, timeout)

    def status(self) -> WorkerStatus:
        index = self._index.status()
        lacking = max(0, index.documents - index.embedded) if self._load is not None else 0
        to_come = lacking if self._index.pending_count() > len(self._refused) else 0
        return WorkerStatus(self._state, index.model, index.embedded, to_come, self._reason, lacking - to_come)

    def embed_query(self, text: str) -> NDArray[np.float32] | None:
        """The vector of a query, or None while there is no model or it does not answer."""
        embedder = self._embedder
        if embedder is None:
            return None
        try:
            return self._query_vector(embedder, text)
        except Exception as error:
            self._fail(_as_unavailable(error))
            return None

    def notes(self) -> Sequence[str]:
        """What a reader of a result should know of the vectors; nothing when all is well."""
        status = self.status()
        if status.state == "off":
            return ["Semantic search is switched off; memories were found by their words."]
        if status.state == "loading":
            return ["The embedding model is still loading; memories were found by their words."]
        if status.state == "fetching":
            return ["The embedding model is being fetched; memories were found by their words."]
        if status.state == "unavailable":
            return [f"The embedding model is missing ({status.reason}); memories were found by their words."]
        if status.pending and self._index.status().other_model_vectors:
            return [
                f"The embedding model was changed to {status.model}; {status.embedded} memories are embedded anew,"
                f" {status.pending} are found by their words until then."
            ]
        if status.pending:
            return [f"{status.pending} memories are not embedded yet and were found by their words only."]
        if status.refused:
            return [f"The embedding model fails on {status.refused} memories; they were found by their words only."]
        return []

    def _run(self) -> None:
        try:
            while not self._stopping:
                self._attempt()
        except StoreClosedError:
            logger.debug("the index was closed")
        finally:
            with self._changed:
                self._stopping = True
                self._changed.notify_all()

    def _attempt(self) -> None:
        """Embed a batch, and rest where nothing waits or something failed."""
        try:
            busy = self._embed_some(self._make_ready())
        except StoreClosedError:
            raise
        except (StoreError, OSError) as error:
            logger.warning("vectors could not be written and are made again: %s", error)
            self._rest(self._retry_seconds)
        except Exception as error:
            self._fail(_as_unavailable(error))
            self._rest_unavailable()
        else:
            if not busy:
                self._rest(None)

    def _make_ready(self) -> Embedder:
        if self._embedder is not None:
            return self._embedder
        embedder = self._loaded()
        self._index.use_model(embedder.model, embedder.dimension)
        self._query_vector.cache_clear()
        _stand_back()
        self._enter("ready", embedder)
        return embedder

    def _loaded(self) -> Embedder:
        assert self._load is not None
        try:
            return self._load()
        except ModelNotHereError:
            if self._fetch is None:
                raise
            self._enter("fetching", None)
            return self._fetch()

    def _embed_some(self, embedder: Embedder) -> bool:
        """Embed what was taken; False when nothing waits."""
        with self._changed:
            self._awake = False
        if self._refused_of != self._index.generation:
            self._refused, self._refused_of = set(), self._index.generation
        taken = self._index.pending_embeddings(_TAKEN + len(self._refused))
        pending = [item for item in taken if item not in self._refused]
        if not pending:
            self._index.drop_other_models()
            self._index.flush()
            return False
        for start in range(0, len(pending), _AT_ONCE):
            if self._stopping:
                break
            for part, vectors in self._embedded(embedder, pending[start : start + _AT_ONCE]):
                self._index.store_embeddings(part, vectors, model=embedder.model)
        return True

    def _embedded(
        self, embedder: Embedder, pending: Sequence[Pending]
    ) -> Iterator[tuple[Sequence[Pending], NDArray[np.float32]]]:
        """The vectors, part by part: what fails is halved, and a text that fails alone is set aside until it changes.

        Raises:
            ModelUnavailableError: It is the model that fails, whatever it is given.
        """
        try:
            vectors = embedder.embed_documents([item.text for item in pending])
        except Exception:
            embedder.embed_documents([PROBE])
            if len(pending) == 1:
                logger.warning("the embedding model refuses a memory, which is found by its words only")
                self._refused.update(pending)
                return
            middle = len(pending) // 2
            yield from self._embedded(embedder, pending[:middle])
            yield from self._embedded(embedder, pending[middle:])
        else:
            yield pending, vectors

    def _fail(self, error: ModelUnavailableError) -> None:
        logger.warning("%s", error)
        self._enter("unavailable", None, error.message)

    def _enter(self, state: ModelState, embedder: Embedder | None, reason: str = "") -> None:
        with self._changed:
            self._embedder, self._state, self._reason = embedder, state, reason
            self._changed.notify_all()

    def _rest(self, seconds: float | None) -> None:
        """Until something comes in, or the model is lost by a query; at most so many seconds."""
        with self._changed:
            self._idle = not self._awake
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._stopping or self._awake or self._state != "ready", seconds)
            self._idle = False
            lost = self._state != "ready"
        if lost:
            self._rest_unavailable()

    def _rest_unavailable(self) -> None:
        """Until the model is asked for again."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping, self._retry_seconds)


def _stand_back() -> None:
    """Lower this thread's priority, and that of the threads it starts. Only Linux gives each thread its own."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _as_unavailable(error: Exception) -> ModelUnavailableError:
    """Whatever a model's libraries raise; their words might quote a memory."""
    if isinstance(error, ModelUnavailableError):
        return error
    return ModelUnavailableError(f"embedding failed with {type(error).__name__}")


def _embed_query(embedder: Embedder, text: str) -> NDArray[np.float32]:
    return embedder.embed_query(text)
