"""Running an operation: arguments in, result model out. The one way in for every client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from uniko_mcp.errors import ReadOnlyError
from uniko_mcp.models.ids import new_id
from uniko_mcp.operations.arguments import read_arguments
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import AnyOperation, Params, Plan, Query, Result, Service


async def dispatch(services: Services, call: Call, operation: AnyOperation, arguments: Mapping[str, Any]) -> Result:
    """Validate `arguments` against the operation's params and run its handler.

    Raises:
        UnikoError: Every failure that has a name: `InvalidArgumentsError` before anything ran, `ReadOnlyError`, or
            what the handler found. Nothing is written by a call that raises.
    """
    if services.settings.read_only and not operation.hints.read_only:
        raise ReadOnlyError(f"{operation.name} writes, and this server is read-only", next_step="Start it without it")
    params = with_own_id(operation, read_arguments(operation, arguments, zone=call.zone))
    match operation.handler:
        case Query(run):
            return await services.store.read(lambda view: run(view, call, params))
        case Plan(run):
            return await services.store.write(lambda draft: run(draft, call, params))
        case Service(run):
            return await run(services, call, params)
        case _ as never:
            assert_never(never)


def with_own_id(operation: AnyOperation, params: Params) -> Params:
    """The params with every id decided that the caller left to us."""
    if operation.own_id and getattr(params, operation.own_id) is None:
        params = params.model_copy(update={operation.own_id: new_id()})
    return operation.prepare(params) if operation.prepare else params
