"""The real server on a real store, with the SDK's client in the same process, in both protocol eras."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from uniko_mcp.config import EmbeddingSettings, Settings
from uniko_mcp.operations import CATALOGUE
from uniko_mcp.operations.call import Services, open_services
from uniko_mcp.operations.catalogue import Catalogue
from uniko_mcp.server.app import MemoryServer, build_server

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture(params=["legacy", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    """Both protocol eras."""
    return request.param


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    async with open_services(
        Settings(data_dir=tmp_path / "memory", embedding=EmbeddingSettings(model="none"))
    ) as opened:
        yield opened


@pytest.fixture
def connect(services: Services, era: str) -> Connect:
    """`async with connect(catalogue=..., **settings) as client`: a client of a server on the same store."""

    @asynccontextmanager
    async def connected(catalogue: Catalogue = CATALOGUE, mode: str = era, **settings: Any) -> AsyncIterator[Client]:
        async with Client(server_of(services, catalogue, **settings), mode=mode) as client:
            yield client

    return connected


def server_of(services: Services, catalogue: Catalogue = CATALOGUE, **settings: Any) -> MemoryServer:
    """A server of what is open already, with other settings where given."""

    async def ready() -> Services:
        return services

    return build_server(
        services.settings.model_validate({**services.settings.model_dump(), **settings}), catalogue, ready
    )
