"""Embedding models behind one small interface: fastembed by name or from a folder, or any that litellm reaches."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.errors import MissingExtraError, ModelUnavailableError
from uniko_mcp.recall.provider import key_of, load_provider_library

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

DEFAULT_MODEL: Final = "BAAI/bge-small-en-v1.5"
NO_MODEL: Final = "none"
"""The name that switches semantic search off."""

_MODEL_FILES: Final = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx", "onnx/model_quantized.onnx")
_THREADS: Final = 1
_RUNS: Final = 2
"""Runs of the model beside each other, of one thread each: two threads in one run wait for each other by spinning, and
take nearly twice the time and the work."""
_RUN_CHARACTERS: Final = 1_000
"""Characters in one run of the model, with what its texts are padded to: twice as many are no faster on two cores, and
eight texts of 700 characters in one run take 300 MB more, and a fifth longer, than one by one."""
_QUERY_PREFIXES: Final = {
    "BAAI/bge-small-en-v1.5": "Represent this sentence for searching relevant passages: ",
    "BAAI/bge-base-en-v1.5": "Represent this sentence for searching relevant passages: ",
    "BAAI/bge-large-en-v1.5": "Represent this sentence for searching relevant passages: ",
}
PROBE: Final = "dimension"
_REMOTE_BATCH: Final = 64
_REMOTE_SECONDS: Final = 30.0
_REMOTE_RETRIES: Final = 2
QUERY_SECONDS: Final = 5.0
"""How long recall waits for a service: what is slower is found by words, and the service is asked again later."""


class Embedder(Protocol):
    """Turns texts into unit vectors, float32 of shape (texts, dimension). `model` names what the vectors belong to.

    Both methods raise ModelUnavailableError when the model cannot be reached.
    """

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    def embed_query(self, text: str) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class EmbeddingChoice:
    """Which model to load: a local folder wins over a name; `download` allows to fetch a model that is not cached.

    `api_base` is the address of a service that runs the model.
    """

    model: str = DEFAULT_MODEL
    path: Path | None = None
    download: bool = True
    cache: Path | None = None
    api_base: str | None = None


def load_embedder(choice: EmbeddingChoice) -> Embedder:
    """Load the chosen model; seconds for one on disk, minutes for a download. Never called on the start path.

    Raises:
        ModelNotHereError: The model is not on disk, and `choice` does not let it be fetched.
        ModelUnavailableError: It is unknown, damaged, does not answer or cannot be fetched.
    """
    _hush_fastembed()
    if choice.path is not None:
        return _load_folder(choice.path)
    if choice.api_base is None and choice.model in _fastembed_models():
        return _load_named(choice)
    return LitellmEmbedder(choice.model, api_base=choice.api_base)


class ModelNotHereError(ModelUnavailableError):
    """The model is not on this machine. It might be fetched."""


class FastembedEmbedder:
    """A model that runs here, on onnxruntime."""

    def __init__(self, session: _FastembedSession, model: str, query_prefix: str = "") -> None:
        self.model: Final = model
        self._session = session
        self._query_prefix = query_prefix
        self.dimension: Final = int(self.embed_documents([PROBE]).shape[1])

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            batches = list(_batches(texts))
            if len(batches) == 1:  # a query needs no further thread
                rows = self._run(batches[0])
            else:
                with ThreadPoolExecutor(_RUNS, "uniko-embed") as runs:
                    rows = [row for embedded in runs.map(self._run, batches) for row in embedded]
        except Exception as error:  # fastembed passes on what tokenizers and onnxruntime raise
            raise ModelUnavailableError(f"embedding model {self.model!r} failed ({type(error).__name__})") from error
        return _unit_rows(rows)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.embed_documents([self._query_prefix + text])[0]

    def _run(self, batch: list[str]) -> list[NDArray[np.float32]]:
        return list(self._session.embed(batch, batch_size=len(batch)))


class LitellmEmbedder:
    """A model that some service runs; its key comes from the provider's own environment variable."""

    def __init__(
        self,
        model: str,
        *,
        api_base: str | None = None,
        seconds: float = _REMOTE_SECONDS,
        query_seconds: float = QUERY_SECONDS,
    ) -> None:
        """`seconds` is the patience with each attempt at some texts, `query_seconds` with all attempts at a query."""
        self.model: Final = model
        self._api_base = api_base
        self._seconds = seconds
        self._query_seconds = query_seconds
        self.dimension: Final = int(self._embed([PROBE]).shape[1])

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._embed(texts)
        if vectors.shape[1] != self.dimension:
            raise self._unavailable(f"gave vectors of dimension {vectors.shape[1]}, and {self.dimension} before")
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vectors = _answer_within(self._query_seconds, lambda: self.embed_documents([text]))
        if vectors is None:
            raise self._unavailable(f"did not answer within {self._query_seconds:g} seconds")
        return vectors[0]

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows: list[list[float]] = []
        for start in range(0, len(texts), _REMOTE_BATCH):
            rows += self._request(list(texts[start : start + _REMOTE_BATCH]))
        return _unit_rows(rows)

    def _request(self, texts: list[str]) -> list[list[float]]:
        try:
            litellm = load_provider_library()
            response = cast("_LitellmEmbedding", litellm.embedding)(
                model=self.model,
                input=texts,
                api_base=self._api_base,
                api_key=key_of(litellm, self.model, self._api_base),
                timeout=self._seconds,
                max_retries=_REMOTE_RETRIES,
            )
            data = sorted(response.data, key=lambda item: item.get("index") or 0)
            vectors = [cast("list[float]", item["embedding"]) for item in data]
        except MissingExtraError as error:
            raise ModelUnavailableError(error.message, next_step=error.next_step) from error
        except Exception as error:  # litellm passes on whatever its providers raise
            raise self._unavailable(f"did not answer ({type(error).__name__})") from error
        if len(vectors) != len(texts):
            raise self._unavailable(f"gave {len(vectors)} vectors for {len(texts)} texts")
        return vectors

    def _unavailable(self, what: str) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"embedding model {self.model!r} {what}",
            next_step="Check embedding.model, embedding.api_base and the provider's key, or set the model to none",
        )


class _FastembedSession(Protocol):
    def embed(self, documents: list[str], batch_size: int) -> Iterable[NDArray[np.float32]]: ...


class _LitellmResponse(Protocol):
    data: list[dict[str, Any]]


class _LitellmEmbedding(Protocol):
    def __call__(
        self,
        *,
        model: str,
        input: list[str],
        api_base: str | None,
        api_key: str | None,
        timeout: float,
        max_retries: int,
    ) -> _LitellmResponse: ...


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, in runs of the model; best when texts of a length are beside each other."""
    batch: list[str] = []
    for text in texts:
        longest = max(len(text), *(len(other) for other in batch), 1)
        if batch and longest * (len(batch) + 1) > _RUN_CHARACTERS:
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _unit_rows(rows: Iterable[Any]) -> NDArray[np.float32]:
    try:
        vectors = np.array(list(rows), dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    except (TypeError, ValueError) as error:  # their words would quote what came
        raise ModelUnavailableError("the embedding model gave what are no vectors of one dimension") from error
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise ModelUnavailableError("the embedding model gave a vector without direction")
    return vectors / lengths


def _answer_within(seconds: float, request: Callable[[], Answer]) -> Answer | None:
    """What the request answers, or None when that takes longer: then its thread is left to end by itself."""
    answers: Future[Answer] = Future()

    def run() -> None:
        try:
            answers.set_result(request())
        except Exception as error:
            answers.set_exception(error)

    threading.Thread(target=run, name="uniko-embed-query", daemon=True).start()
    try:
        return answers.result(seconds)
    except TimeoutError:
        return None


def _hush_fastembed() -> None:
    """Its retries are not for the user's terminal: what came of them is in the error, and in every result's notes."""
    from loguru import logger as its_logger

    its_logger.disable("fastembed")


def _fastembed_models() -> frozenset[str]:
    from fastembed import TextEmbedding

    return frozenset(str(model["model"]) for model in TextEmbedding.list_supported_models())


def _load_named(choice: EmbeddingChoice) -> FastembedEmbedder:
    from fastembed import TextEmbedding

    cache = str(choice.cache) if choice.cache else None
    if choice.download:
        logger.info("the embedding model %s is fetched, once", choice.model)
    try:
        session = TextEmbedding(choice.model, cache, _THREADS, local_files_only=not choice.download)
    except Exception as error:  # fastembed passes on what huggingface_hub, requests and onnxruntime raise
        if choice.download:
            raise ModelUnavailableError(
                f"embedding model {choice.model!r} could not be fetched ({type(error).__name__})",
                next_step="Check the network, or give embedding.path a folder with the model",
            ) from error
        raise ModelNotHereError(
            f"embedding model {choice.model!r} is not on this machine and may not be fetched",
            next_step="Give embedding.path a folder with the model, or allow embedding.download",
        ) from error
    prefix = _QUERY_PREFIXES.get(choice.model, "")
    return FastembedEmbedder(cast("_FastembedSession", session), choice.model, prefix)


def _load_folder(folder: Path) -> FastembedEmbedder:
    """A folder with the ONNX model, `tokenizer.json` and `config.json`, pooled as sentence-transformers models are."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    file = next((name for name in _MODEL_FILES if (folder / name).is_file()), None)
    if file is None:
        raise ModelUnavailableError(
            f"embedding.path {str(folder)!r} holds no model.onnx",
            next_step="Point it to a folder with model.onnx, tokenizer.json and config.json",
        )
    name = f"local/{sha256((folder / file).read_bytes()).hexdigest()[:16]}"
    try:
        dimension = int(json.loads((folder / "config.json").read_text(encoding="utf-8"))["hidden_size"])
        if name not in _fastembed_models():
            TextEmbedding.add_custom_model(
                model=name,
                pooling=_pooling(folder, PoolingType),
                normalization=True,
                sources=ModelSource(hf=name),
                dim=dimension,
                model_file=file,
            )
        session = TextEmbedding(name, threads=_THREADS, specific_model_path=str(folder))
        return FastembedEmbedder(cast("_FastembedSession", session), name)
    except Exception as error:  # whatever a damaged folder makes json, tokenizers and onnxruntime raise
        raise ModelUnavailableError(
            f"the model in embedding.path {str(folder)!r} cannot be loaded ({type(error).__name__})",
            next_step="The folder needs model.onnx, tokenizer.json, tokenizer_config.json and config.json",
        ) from error


def _pooling(folder: Path, pooling: Any) -> Any:
    """The mean over tokens unless the folder's pooling configuration asks for the first token."""
    description = folder / "1_Pooling" / "config.json"
    if not description.is_file():
        return pooling.MEAN
    wanted = json.loads(description.read_text(encoding="utf-8"))
    return pooling.CLS if wanted.get("pooling_mode_cls_token") else pooling.MEAN
