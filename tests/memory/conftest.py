"""An open store, whose index the tests open themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.memory.background_reading import KEY
from uniko_mcp.store import Store


@pytest.fixture
async def store(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path / "memory")
    yield opened
    await opened.close()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Of the index; not there yet."""
    return tmp_path / "memory" / "index"


@pytest.fixture
def key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
