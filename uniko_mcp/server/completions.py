"""Completions: the ids, phases and names that a person may be typing into a prompt's or a resource's argument."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from mcp.server.context import ServerRequestContext
from mcp_types import CompleteRequestParams, CompleteResult, Completion

from uniko_mcp.memory.completion import Completable, complete
from uniko_mcp.memory.phases import Phase
from uniko_mcp.server.failures import protocol_errors
from uniko_mcp.server.runner import OperationRunner

_MOST: Final = 100
"""The most values that the protocol allows in one answer."""

_KINDS: Final[Mapping[str, Completable]] = {
    "goal_id": "Goal",
    "session_id": "Session",
    "name": "Entity",
    "fact_id": "Fact",
}


class Completions:
    """The completions of one server. An argument's name alone says what it takes, in prompts as in resources."""

    def __init__(self, runner: OperationRunner) -> None:
        self._runner = runner

    async def complete(self, ctx: ServerRequestContext[Any], params: CompleteRequestParams) -> CompleteResult:
        """What begins as typed, the likeliest first; nothing for an argument that is free text or unknown."""
        with protocol_errors("completion/complete"):
            values, total = await self._matching(params.argument.name, params.argument.value)
        return CompleteResult(completion=Completion(values=values, total=total, has_more=total > len(values)))

    async def _matching(self, argument: str, typed: str) -> tuple[list[str], int]:
        if argument == "phase":
            phases = [phase for phase in get_args(Phase) if phase.startswith(typed.lower())]
            return phases, len(phases)
        kind = _KINDS.get(argument)
        if kind is None:
            return [], 0
        viewer = self._runner.settings.agent_id
        services = await self._runner.services()
        return await services.store.read(lambda view: complete(view, kind, typed, viewer=viewer, limit=_MOST))
