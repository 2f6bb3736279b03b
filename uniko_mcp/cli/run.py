"""Running one operation in this process, for the commands that need no server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from uniko_mcp.config import Settings
    from uniko_mcp.operations.call import Services
    from uniko_mcp.operations.catalogue import Result

T = TypeVar("T")


async def nothing_before(services: Services) -> None:
    """What most commands wait for."""


def run_operation(
    settings: Settings,
    name: str,
    arguments: Mapping[str, Any],
    *,
    before: Callable[[Services], Awaitable[object]] = nothing_before,
) -> Result:
    """The result of the operation `name`, with the memory opened for it and closed again.

    `before` is awaited when the memory is open.

    Raises:
        UnikoError: As from `open_services` and `dispatch`; `UnknownOperationError` before anything is opened.
    """
    from uniko_mcp.operations import CATALOGUE
    from uniko_mcp.operations.call import Call
    from uniko_mcp.operations.dispatch import dispatch

    operation = CATALOGUE.select(settings.tools).find(name)

    async def run(services: Services) -> Result:
        await before(services)
        return await dispatch(services, Call(settings.agent_id, settings), operation, arguments)

    return run_with_services(settings, run)


def run_with_services(settings: Settings, work: Callable[[Services], Awaitable[T]]) -> T:
    """What `work` returns, with the memory opened for it and closed again.

    Raises:
        UnikoError: As from `open_services`.
    """
    import anyio

    from uniko_mcp.operations.call import open_services

    async def run() -> T:
        async with open_services(settings) as services:
            return await work(services)

    return anyio.run(run)


def result_json(result: Result) -> str:
    """The result as indented JSON, with the same fields that a tool's structured content has."""
    import json

    return json.dumps(result.as_json(), ensure_ascii=False, indent=2)
