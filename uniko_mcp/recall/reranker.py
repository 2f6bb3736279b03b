"""The optional cross-encoder: reads the query and each of the best candidates together, slower and more exact."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, cast

from uniko_mcp.errors import ModelUnavailableError

logger = logging.getLogger(__name__)

DEFAULT_CROSS_ENCODER: Final = "Xenova/ms-marco-MiniLM-L-6-v2"
MOST_RERANKED: Final = 50
"""Candidates that are read with the query; each costs some milliseconds."""

_THREADS: Final = 2


class CrossEncoder(Protocol):
    """Judges how well each text answers the query; any real numbers, higher is better."""

    def rerank(self, query: str, documents: Iterable[str]) -> Iterable[float]: ...


def load_cross_encoder(
    model: str = DEFAULT_CROSS_ENCODER, *, download: bool = True, cache: Path | None = None
) -> CrossEncoder:
    """Load a cross-encoder that fastembed knows; slow, never on the start path.

    Raises:
        ModelUnavailableError: It is not on disk and may not be, or cannot be, fetched.
    """
    try:
        encoder = import_module("fastembed.rerank.cross_encoder").TextCrossEncoder
        folder = str(cache) if cache else None
        return cast("CrossEncoder", encoder(model, folder, _THREADS, local_files_only=not download))
    except Exception as error:  # fastembed passes on what huggingface_hub, requests and onnxruntime raise
        raise ModelUnavailableError(
            f"cross-encoder {model!r} cannot be loaded ({type(error).__name__})",
            next_step="Allow embedding.download, or set recall.rerank to false",
        ) from error


@dataclass(frozen=True, slots=True)
class Judgement:
    """How well each text answers the query, or why that is not known."""

    scores: tuple[float, ...] | None
    notes: tuple[str, ...] = ()


class Reranker:
    """Loads a cross-encoder in the background at first use; until it is there the order stays, and a note says so."""

    def __init__(self, load: Callable[[], CrossEncoder]) -> None:
        self._load = load
        self._encoder: CrossEncoder | None = None
        self._reason = "is still loading"
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def judge(self, query: str, texts: Sequence[str]) -> Judgement:
        """Judge the texts; whatever keeps the cross-encoder from it is in the notes."""
        self._start()
        if self._encoder is None:
            return _without(self._reason)
        try:
            scores = tuple(float(score) for score in self._encoder.rerank(query, texts))
        except Exception as error:  # whatever the model's libraries raise; their words might quote a memory
            logger.warning("the cross-encoder failed: %s", type(error).__name__)
            return _without(f"failed ({type(error).__name__})")
        if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
            logger.warning("the cross-encoder gave %d scores for %d texts, or no numbers", len(scores), len(texts))
            return _without("gave no sound scores")
        return Judgement(scores)

    def wait_until_settled(self, timeout: float | None = None) -> None:
        """Wait until the model is loaded, or known to be unavailable."""
        self._start()
        assert self._thread is not None
        self._thread.join(timeout)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="uniko-cross-encoder", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        try:
            self._encoder = self._load()
        except ModelUnavailableError as error:
            logger.warning("%s", error)
            self._reason = f"is missing ({error.message})"


def _without(reason: str) -> Judgement:
    return Judgement(None, (f"The cross-encoder {reason}; the order is without it.",))
