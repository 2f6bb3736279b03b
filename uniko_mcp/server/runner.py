"""Running operations for the connected agent: what tools, resources, prompts and completions all stand on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from uniko_mcp.config import Settings
from uniko_mcp.operations.call import AskClient, Call, Progress, Services, silent
from uniko_mcp.operations.catalogue import Catalogue, Result
from uniko_mcp.operations.dispatch import dispatch


@dataclass(frozen=True, slots=True)
class OperationRunner:
    """Runs operations by name. `services` waits until the memory is open."""

    settings: Settings
    catalogue: Catalogue
    services: Callable[[], Awaitable[Services]]

    async def run(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: Progress = silent,
        ask_client: AskClient | None = None,
    ) -> Result:
        """The result of one operation.

        Raises:
            UnikoError: Everything that `dispatch` raises, and `UnknownOperationError`.
        """
        operation = self.catalogue.find(name)
        call = Call(agent_id=self.settings.agent_id, settings=self.settings, progress=progress, ask_client=ask_client)
        services = await self.services()
        services.recollection.wake()  # the client is at work: by its first recall the model should be loaded
        return await dispatch(services, call, operation, arguments)
