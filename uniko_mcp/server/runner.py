"""Running operations for the connected agent: what tools, resources, prompts and completions all stand on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from uniko_mcp.config import Settings
from uniko_mcp.operations.call import AskClient, Call, Progress, Services, silent
from uniko_mcp.operations.catalogue import Catalogue
from uniko_mcp.operations.dispatch import dispatch
from uniko_mcp.server.fitting import Json, fit

HEADING_TOKENS: Final = 20
"""What a resource or a prompt puts above a result."""


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
        max_tokens: int | None = None,
    ) -> Json:
        """The result of one operation as JSON, within the tokens that a result may have, or within fewer.

        Raises:
            UnikoError: Everything that `dispatch` raises, and `UnknownOperationError`.
        """
        operation = self.catalogue.find(name)
        settings = self.settings if max_tokens is None else _with_less_room(self.settings, max_tokens)
        call = Call(agent_id=settings.agent_id, settings=settings, progress=progress, ask_client=ask_client)
        services = await self.services()
        services.wake()  # the client is at work: by its first recall the model should be loaded
        result = await dispatch(services, call, operation, arguments)
        return fit(result, settings.output.max_tokens - HEADING_TOKENS)


def _with_less_room(settings: Settings, max_tokens: int) -> Settings:
    return settings.model_copy(update={"output": settings.output.model_copy(update={"max_tokens": max_tokens})})
