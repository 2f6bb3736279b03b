"""The rank index: full text, vectors and columns of all recallable documents, on disk, derived and disposable."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.errors import StoreError
from uniko_mcp.store.index.columns import Columns, ColumnTable
from uniko_mcp.store.index.database import Database, set_meta
from uniko_mcp.store.index.documents import DocumentKey, IndexDocument
from uniko_mcp.store.index.labels import Labels
from uniko_mcp.store.index.lookups import Lookups
from uniko_mcp.store.index.passages import passage_of
from uniko_mcp.store.index.vectors import VectorFile, drop_other_generations, other_model_files, vector_path
from uniko_mcp.store.index.writer import MESSAGE, DocumentWriter

_REBUILD_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class Pending:
    """A document that still needs a vector: its row, and the text to embed."""

    row: int
    text: str


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How far the index is. `model` is that of the vectors in use; vectors of other models may still lie aside.

    `embedded` counts the documents that are found by meaning, with a vector of their own or their parent's.
    """

    documents: int
    sequence: int
    rebuilding: bool
    model: str | None
    dimension: int | None
    embedded: int
    other_model_vectors: bool


class RankIndex(Lookups):
    """Owns `<data>/index/`. All methods block on disk and may be called from any thread, never from the event loop.

    A failing disk comes out as a StoreError.
    """

    def __init__(self, directory: Path) -> None:
        """Open the index in a directory, or start one there.

        Raises:
            StoreError: The directory or a file in it can be neither read nor replaced.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreError(
                f"the folder {str(directory)!r} cannot be made: {error.strerror}",
                next_step="Move away what is in its place, or mend the permissions",
            ) from error
        self.directory: Final = directory
        self._lock = threading.RLock()
        self._rebuild_lock = threading.Lock()
        self._database = Database(directory / "rank.sqlite")
        self._vectors: VectorFile | None = None
        self._newer: set[DocumentKey] | None = None
        self._complete = True
        self._load()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write through and let go of the files. Later calls raise StoreClosedError."""
        with self._lock:
            vectors, self._vectors = self._vectors, None
            self._database.close()
            if vectors is not None:
                vectors.flush()

    def replace_if_damaged(self) -> None:
        """Look at the files again after a failure; what cannot be read is replaced by an empty index."""
        with self._lock:
            if self._database.sound():
                return
            self._database.close()
            self._database = Database(self._database.path)
            self._load()
            self._restart_vectors()

    @property
    def sequence(self) -> int:
        """The last journal sequence that the index holds all changes of; 0 when new, found damaged or being rebuilt."""
        return int(self._database.meta("sequence") or 0)

    @property
    def complete(self) -> bool:
        """False while the index is rebuilt, and after a rebuild that failed: then only another one makes it whole."""
        return self._complete

    @property
    def rebuilding(self) -> bool:
        return self._newer is not None

    @property
    def generation(self) -> str:
        """Changes whenever rows begin to stand for other documents."""
        return self._generation

    @property
    def labels(self) -> Labels:
        return self._labels

    @property
    def columns(self) -> Columns:
        """The records of all rows as they are now; the start of every query."""
        with self._lock:
            return self._table.columns()

    def status(self) -> IndexStatus:
        with self._lock:
            vectors, columns = self._vectors, self._table.columns()
            alive = columns.records["alive"]
            return IndexStatus(
                documents=int(alive.sum()),
                sequence=self.sequence,
                rebuilding=self.rebuilding,
                model=vectors.model if vectors is not None else None,
                dimension=vectors.dimension if vectors is not None else None,
                embedded=int((alive & self._present()[columns.vector_rows]).sum()),
                other_model_vectors=any(self._other_model_files()),
            )

    # Writing.

    def put(self, documents: Iterable[IndexDocument], *, sequence: int | None = None) -> None:
        """Add documents, or replace those of the same kind and id. They are found by words when this returns."""
        self.apply(documents, (), sequence=sequence)

    def delete(self, keys: Iterable[DocumentKey], *, sequence: int | None = None) -> None:
        """Take documents out; unknown ones are passed over. They are found by nothing when this returns."""
        self.apply((), keys, sequence=sequence)

    def apply(
        self, documents: Iterable[IndexDocument], deleted: Iterable[DocumentKey], *, sequence: int | None = None
    ) -> None:
        """Delete, then put, all or nothing; `sequence` is the number of the journal's change set that this follows."""
        documents, deleted = tuple(documents), tuple(deleted)
        with self._writing(sequence if self._complete else None) as writer:
            writer.delete(deleted)
            writer.put(documents)
            if self._newer is not None:
                self._newer.update(deleted, (document.key for document in documents))

    def rebuild(
        self,
        documents: Iterable[IndexDocument],
        *,
        sequence: int,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Throw everything away and index these documents, which were read from the graph at `sequence`.

        What is put or deleted meanwhile is newer and wins; what is in already can be searched. `progress` is told
        after each batch how many documents are in. When it stops half-way, `sequence` stays 0. A second
        rebuild waits for the first.
        """
        with self._rebuild_lock:
            self._rebuild(documents, sequence, progress)

    def _rebuild(
        self, documents: Iterable[IndexDocument], sequence: int, progress: Callable[[int], None] | None
    ) -> None:
        with self._lock:
            self._newer = set()
            self._complete = False
            self._database.clear()
            self._load()
            self._restart_vectors()
        try:
            done = 0
            remaining = iter(documents)
            while batch := tuple(islice(remaining, _REBUILD_BATCH)):
                with self._writing() as writer:
                    writer.put(document for document in batch if document.key not in self._newer)
                done += len(batch)
                if progress is not None:
                    progress(done)
            with self._writing(sequence):
                pass
            self._complete = True
        finally:
            with self._lock:
                self._newer = None

    @contextmanager
    def _writing(self, sequence: int | None = None) -> Generator[DocumentWriter]:
        with self._lock:
            try:
                with self._database.writing() as connection:
                    writer = DocumentWriter(connection, self._table, self._labels)
                    yield writer
                    writer.finish()
                    if sequence is not None:
                        set_meta(connection, "sequence", str(sequence))
            except BaseException:
                self._load()  # the arrays are ahead of the tables that were rolled back
                raise
            if self._vectors is not None:
                self._vectors.remove(writer.stale_vectors)

    def _load(self) -> None:
        self._common: set[str] = set()
        self._generation = self._database.meta("generation") or ""
        with self._database.reading() as connection:
            self._labels = Labels(connection.execute("SELECT code, space, name FROM label ORDER BY code"))
            self._table = ColumnTable.load(
                connection.execute("SELECT row, record FROM document ORDER BY row"),
                connection.execute("SELECT DISTINCT row, session, sender, said_at FROM origin"),
            )
        self._table.link_all_neighbours(self._labels.code("kind", MESSAGE))

    # Links and vectors.

    def resting_on(self, keys: Iterable[DocumentKey]) -> set[DocumentKey]:
        """The documents that are pieces of these, or rest on the same messages: the graph no longer knows that of what
        was deleted."""
        of_key = "SELECT row FROM document WHERE kind = ? AND id = ?"
        of_message = "SELECT DISTINCT row FROM origin WHERE message = ?"
        with self._database.reading() as connection:
            rows = [row for key in keys for (row,) in connection.execute(of_key, key)]
            sources = {source for document in self.documents(rows).values() for source in document.sources}
            found = [row for each in sources for (row,) in connection.execute(of_message, (each.message_id,))]
        found += np.flatnonzero(np.isin(self.columns.records["parent"], rows)).tolist()
        return {document.key for document in self.documents(found).values()}

    def use_model(self, model: str, dimension: int) -> None:
        """Search and keep vectors of this model from now on. Those of other models are never compared with them: they
        stay aside until every document has a new one (see `drop_other_models`)."""
        with self._lock:
            self._vectors = self._open_vectors(model, dimension)

    def drop_other_models(self) -> None:
        """Delete the vectors of all models but the one in use."""
        with self._lock:
            for path in self._other_model_files():
                path.unlink(missing_ok=True)

    def cosines(self, query: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float32] | None:
        """The cosine of a unit vector with each of these ascending rows, NaN where none is kept; None without a model.

        Raises:
            ValueError: The query has another dimension than the vectors.
        """
        with self._lock:
            vectors, total = self._vectors, len(self._table.columns())
        if vectors is None:
            return None
        if query.shape != (vectors.dimension,):
            raise ValueError(f"a query of shape {query.shape} for vectors of dimension {vectors.dimension}")
        return vectors.cosines(query, rows, total)

    def pending_count(self) -> int:
        """How many vectors of the model in use are still to be made."""
        with self._lock:
            return len(self._pending_rows())

    def pending_embeddings(self, limit: int) -> list[Pending]:
        """The newest documents without a vector, each with the text to embed; short ones first, as batches like it.

        The newest, since what was just said is asked for next, also while thousands wait.
        """
        with self._lock:
            rows = self._pending_rows()
            times = self._table.columns().records["timestamp"][rows]
        if len(rows) > limit:
            rows = rows[np.argpartition(times, -limit)[-limit:]]
        documents = self.documents(rows.tolist())
        pending = [Pending(row, passage_of(document)) for row, document in documents.items()]
        return sorted(pending, key=lambda item: (len(item.text), item.row))

    def store_embeddings(self, pending: Sequence[Pending], vectors: NDArray[np.float32], *, model: str) -> int:
        """Keep the vectors of what was pending and has not changed since; how many were kept.

        Raises:
            ValueError: The vectors are of another model or dimension than those in use.
        """
        with self._lock:
            current = self.documents([item.row for item in pending])
            if self._vectors is None or self._vectors.model != model:
                raise ValueError(f"vectors of {model!r}, while the index keeps those of another model")
            kept = [
                place
                for place, item in enumerate(pending)
                if item.row in current and passage_of(current[item.row]) == item.text
            ]
            self._vectors.put([pending[place].row for place in kept], vectors[kept])
            return len(kept)

    def flush(self) -> None:
        """Write vectors through to the disk."""
        with self._lock:
            if self._vectors is not None:
                self._vectors.flush()

    def _pending_rows(self) -> NDArray[np.intp]:
        columns = self._table.columns()
        own = columns.vector_rows == np.arange(len(columns))
        return np.flatnonzero(columns.records["alive"] & own & ~self._present())

    def _present(self) -> NDArray[np.bool_]:
        """For each row, whether it has a vector of its own."""
        rows = len(self._table.columns())
        return np.zeros(rows, dtype=bool) if self._vectors is None else self._vectors.present(rows)

    def _open_vectors(self, model: str, dimension: int) -> VectorFile:
        path = vector_path(self.directory, self._generation, model, dimension)
        vectors = VectorFile(path, model=model, dimension=dimension, generation=self._generation)
        drop_other_generations(self.directory, self._generation)
        return vectors

    def _other_model_files(self) -> Iterator[Path]:
        if self._vectors is None:
            return iter(())
        return other_model_files(self.directory, self._generation, self._vectors.path)

    def _restart_vectors(self) -> None:
        if self._vectors is not None:
            self._vectors = self._open_vectors(self._vectors.model, self._vectors.dimension)
