"""An empty rank index in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from uniko_mcp.store.index.rank_index import RankIndex


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "with spaces and ümlauts" / "index"


@pytest.fixture
def index(directory: Path) -> Iterator[RankIndex]:
    with RankIndex(directory) as index:
        yield index
