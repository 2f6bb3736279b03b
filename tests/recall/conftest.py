"""An empty index, and a real embedding model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.model import build_minilm
from uniko_mcp.recall.embedder import Embedder, EmbeddingChoice, load_embedder
from uniko_mcp.store.index.rank_index import RankIndex


@pytest.fixture
def index(tmp_path: Path) -> Iterator[RankIndex]:
    with RankIndex(tmp_path / "index") as index:
        yield index


@pytest.fixture(scope="session")
def minilm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_minilm(tmp_path_factory.mktemp("minilm"))


@pytest.fixture(scope="session")
def minilm(minilm_folder: Path) -> Embedder:
    return load_embedder(EmbeddingChoice(path=minilm_folder))
