"""The open memory: what `uniko_mcp.open` gives."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from os import PathLike
from typing import Any

from uniko_mcp.facade.agent import Agent
from uniko_mcp.facade.caller import Caller
from uniko_mcp.operations.call import Services, open_services
from uniko_mcp.operations.curate import MemoryStatus
from uniko_mcp.settings_sources import load_settings


class Memory:
    """An open memory."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def agent(self, agent_id: str | None = None) -> Agent:
        """The memory as this agent sees it; without an id, the one of the configuration."""
        return Agent(Caller(self._services, agent_id or self._services.settings.agent_id))

    async def status(self) -> MemoryStatus:
        """Where the memory is, how much it holds, and what needs attention."""
        return await self.agent().status()


@asynccontextmanager
async def open_memory(
    path: str | PathLike[str] | None = None, *, config: str | PathLike[str] | None = None, **settings: Any
) -> AsyncGenerator[Memory]:
    """Open the memory in the folder `path`; without one, where the settings say.

    `config` names a configuration file. `settings` are those of the configuration, such as `timezone="Europe/Berlin"`
    or `recall={"limit": 20}`; they win over the environment, and that over the file.

    Raises:
        ConfigError: A setting is unknown or cannot be used.
        StoreLockedError: Another process has this memory open.
        StoreError: It cannot be opened.
    """
    options = settings if path is None else {**settings, "data_dir": str(path)}
    async with open_services(load_settings(options, config_file=config)) as services:
        yield Memory(services)
