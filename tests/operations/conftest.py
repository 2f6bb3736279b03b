"""A real memory in a temporary folder, spoken to through the catalogue as every client does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.client import MemoryClient
from uniko_mcp.config import Settings
from uniko_mcp.operations.call import open_services


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "memory")


@pytest.fixture
async def memory(anyio_backend: Any, settings: Settings) -> AsyncIterator[MemoryClient]:
    async with open_services(settings) as services:
        yield MemoryClient(services, "assistant")
