"""The vector file: exact to a quantisation step, and never a zero or a torn vector."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from uniko_mcp.store.index.vectors import VectorFile

DIMENSION = 32


def open_file(path: Path, *, model: str = "m", generation: str = "g") -> VectorFile:
    return VectorFile(path, model=model, dimension=DIMENSION, generation=generation)


def unit_rows(count: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_cosines_are_those_of_the_vectors_that_were_put(tmp_path: Path) -> None:
    file, vectors = open_file(tmp_path / "v"), unit_rows(5_000)
    file.put(list(range(5_000)), vectors)
    query = vectors[17]
    everything = file.cosines(query, np.arange(5_000), 5_000)
    few = file.cosines(query, np.array([3, 17]), 5_000)
    np.testing.assert_allclose(everything, vectors @ query, atol=0.01)
    np.testing.assert_allclose(few, everything[[3, 17]], atol=1e-6)
    assert int(everything.argmax()) == 17


def test_rows_without_a_vector_have_no_cosine(tmp_path: Path) -> None:
    file, vectors = open_file(tmp_path / "v"), unit_rows(2)
    file.put([0, 9], vectors)
    file.remove([0, 12_345])
    assert np.isnan(file.cosines(vectors[0], np.array([0, 4, 9_999]), 10_000)).all()
    assert file.count == 1


def test_a_torn_record_is_no_vector(tmp_path: Path) -> None:
    file = open_file(tmp_path / "v")
    file.put([0, 1], unit_rows(2))
    file.close()
    with (tmp_path / "v").open("r+b") as raw:
        raw.seek(4_096)
        raw.write(b"\0" * DIMENSION)
    assert open_file(tmp_path / "v").present(2).tolist() == [False, True]


def test_a_cut_file_keeps_what_is_whole(tmp_path: Path) -> None:
    file = open_file(tmp_path / "v")
    file.put([0, 1], unit_rows(2))
    file.close()
    with (tmp_path / "v").open("r+b") as raw:
        raw.truncate(4_096 + DIMENSION + 5)
    reopened = open_file(tmp_path / "v")
    assert reopened.present(2).tolist() == [True, False]
    reopened.put([1], unit_rows(1))
    assert reopened.count == 2


@pytest.mark.parametrize("change", [{"generation": "later"}, {"model": "other"}])
def test_a_file_of_another_generation_or_model_is_started_anew(tmp_path: Path, change: dict[str, str]) -> None:
    file = open_file(tmp_path / "v")
    file.put([0], unit_rows(1))
    file.close()
    assert open_file(tmp_path / "v", **change).count == 0


@pytest.mark.parametrize(
    "vectors",
    [
        np.zeros((1, DIMENSION), dtype=np.float32),
        np.full((1, DIMENSION), np.nan, dtype=np.float32),
        np.ones((1, DIMENSION + 1), dtype=np.float32),
        np.ones((2, DIMENSION), dtype=np.float32),
    ],
)
def test_what_is_no_vector_of_this_model_is_refused(tmp_path: Path, vectors: np.ndarray) -> None:
    with pytest.raises(ValueError, match="vector"):
        open_file(tmp_path / "v").put([0], vectors)


def test_a_search_goes_on_while_the_file_is_lengthened(tmp_path: Path) -> None:
    file, vectors = open_file(tmp_path / "v"), unit_rows(20)
    file.put(list(range(20)), vectors)
    failures: list[BaseException] = []
    lengthened = threading.Event()

    def search() -> None:
        try:
            while not lengthened.is_set():
                file.cosines(vectors[0], np.arange(20), 20)
        except BaseException as error:
            failures.append(error)

    searching = threading.Thread(target=search)
    searching.start()
    for row in range(20, 200_000, 2_000):
        file.put([row], vectors[:1])
    lengthened.set()
    searching.join()
    assert failures == []


def test_starting_a_file_anew_leaves_what_is_mapped_readable(tmp_path: Path) -> None:
    """A map that is longer than its file kills the process that reads it."""
    mapped, vectors = open_file(tmp_path / "v"), unit_rows(5_000)
    mapped.put(list(range(5_000)), vectors)
    assert open_file(tmp_path / "v", generation="later").count == 0
    np.testing.assert_allclose(mapped.cosines(vectors[0], np.arange(5_000), 5_000), vectors @ vectors[0], atol=0.01)
