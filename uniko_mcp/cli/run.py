"""Running one operation in this process, for the commands that need no server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uniko_mcp.config import Settings
    from uniko_mcp.operations.catalogue import Result


def run_operation(settings: Settings, name: str, arguments: Mapping[str, Any]) -> Result:
    """The result of the operation `name`, with the memory opened for it and closed again.

    Raises:
        UnikoError: As from `open_services` and `dispatch`; `UnknownOperationError` before anything is opened.
    """
    import anyio

    from uniko_mcp.operations import CATALOGUE
    from uniko_mcp.operations.call import Call, open_services
    from uniko_mcp.operations.dispatch import dispatch

    operation = CATALOGUE.select(settings.tools).find(name)

    async def run() -> Result:
        async with open_services(settings) as services:
            return await dispatch(services, Call(settings.agent_id, settings), operation, arguments)

    return anyio.run(run)


def result_json(result: Result) -> str:
    """The result as indented JSON, with the same fields that a tool's structured content has."""
    import json

    from uniko_mcp.server.rendering import structured

    return json.dumps(structured(result), ensure_ascii=False, indent=2)
