"""Calling operations in tests: arguments as a client sends them, results as a client sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from uniko_mcp.models.time import parse_instant
from uniko_mcp.operations import CATALOGUE
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.dispatch import dispatch


class MemoryClient:
    """One agent's way into an open memory. `at` sets the clock of the calls that follow."""

    def __init__(self, services: Services, agent_id: str) -> None:
        self.services = services
        self.agent_id = agent_id
        self.at: str | None = None

    def as_agent(self, agent_id: str) -> MemoryClient:
        """The same memory as another agent sees it."""
        return MemoryClient(self.services, agent_id)

    async def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The operation's result as JSON, without what is empty."""
        call = Call(self.agent_id, self.services.settings)
        if self.at is not None:
            call = replace(call, now=parse_instant(self.at))
        result = await dispatch(self.services, call, CATALOGUE.find(name), arguments)
        return result.model_dump(mode="json", exclude_none=True)
