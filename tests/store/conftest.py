"""Fixtures of the store's tests: a data directory with a name that breaks careless code, and an open store in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from uniko_mcp.store import Store


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Not there yet, under a folder that is not there yet (C2)."""
    return tmp_path / "it's a data folder" / "für Übermorgen"


@pytest.fixture
async def store(directory: Path, anyio_backend: str) -> AsyncIterator[Store]:
    opened = await Store.open(directory)
    yield opened
    await opened.close()
