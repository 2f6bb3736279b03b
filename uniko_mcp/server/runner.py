"""Running operations for the connected agent: what tools, resources, prompts and completions all stand on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from uniko_mcp.config import Settings
from uniko_mcp.operations.call import AskClient, Call, Progress, Services, silent
from uniko_mcp.operations.catalogue import Catalogue
from uniko_mcp.operations.dispatch import dispatch
from uniko_mcp.server.fitting import Json, fit


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
    ) -> Json:
        """The result of one operation as JSON, within the tokens that a result may have.

        Raises:
            UnikoError: Everything that `dispatch` raises, and `UnknownOperationError`.
        """
        operation = self.catalogue.find(name)
        call = Call(agent_id=self.settings.agent_id, settings=self.settings, progress=progress, ask_client=ask_client)
        services = await self.services()
        services.wake()  # the client is at work: by its first recall the model should be loaded
        result = await dispatch(services, call, operation, arguments)
        return self.fitted(result.as_json())

    def fitted(self, content: Json) -> Json:
        """What is made of one or several results, within the tokens that one may have."""
        return fit(content, self.settings.output.max_tokens)
