"""Resources: what the memory holds as documents that a user can attach and a client can watch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias, cast, get_args

from mcp.server.context import ServerRequestContext
from mcp_types import (
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from uniko_mcp.memory.phases import Phase
from uniko_mcp.models.domain import Goal
from uniko_mcp.models.names import entity_id
from uniko_mcp.server.addresses import SINGLE, TEMPLATES, Address, Place, parse
from uniko_mcp.server.failures import protocol_errors, resource_not_found
from uniko_mcp.server.fitting import Json
from uniko_mcp.server.rendering import render
from uniko_mcp.server.runner import OperationRunner
from uniko_mcp.server.subscriptions import Subscriptions

_MIME: Final = "text/markdown"
_PAGE: Final = 100

_ABOUT: Final[Mapping[Place, tuple[str, str]]] = {
    "status": ("Status of the memory", "Where it is kept, how much it holds, and whether anything needs attention."),
    "short-term": ("Short-term memory", "What you noted for yourself and is in every prompt."),
    "long-term": ("Long-term memory", "What you noted for yourself to look up."),
    "goals": ("Goals of a phase", "The goals that are active, planned, completed or abandoned, newest first."),
    "goal": ("A goal and its context", "A goal with its tasks, sessions, recent messages, facts and entities."),
    "session": ("A session", "A conversation and what was recorded in it."),
    "entity": ("An entity", "A person, place, thing or idea by name: the facts about it, and where it is mentioned."),
    "fact": ("A fact", "A fact with its time and its evidence."),
}

_Reader: TypeAlias = Callable[[str], Awaitable[Json | None]]


class Resources:
    """The resources of one server. They are read through the same operations as everything else."""

    def __init__(self, runner: OperationRunner, subscriptions: Subscriptions) -> None:
        self._runner = runner
        self._subscriptions = subscriptions
        self._readers: Mapping[Place, _Reader] = {
            "status": self._status,
            "short-term": self._short_term,
            "long-term": self._long_term,
            "goals": self._goals,
            "goal": self._goal,
            "session": self._session,
            "entity": self._entity,
            "fact": self._fact,
        }

    async def list_resources(
        self, ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """The status, the notes and the lists of goals, then every goal, in pages."""
        self._subscriptions.watch_list(ctx)
        cursor = params.cursor if params else None
        with protocol_errors("resources/list"):
            page = await self._runner.run("list_goals", {"limit": _PAGE, **({"cursor": cursor} if cursor else {})})
        goals = [_describe_goal(Goal.model_validate(goal)) for goal in page["goals"]]
        return ListResourcesResult(
            resources=[*(() if cursor else _fixed()), *goals], next_cursor=page.get("next_cursor")
        )

    async def list_templates(
        self, ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """The URI templates (RFC 6570) of everything that can be read by id or name."""
        return ListResourceTemplatesResult(
            resource_templates=[
                ResourceTemplate(
                    name=place,
                    title=_ABOUT[place][0],
                    uri_template=str(template),
                    description=_ABOUT[place][1],
                    mime_type=_MIME,
                )
                for place, template in TEMPLATES.items()
            ]
        )

    async def read_resource(
        self, ctx: ServerRequestContext[Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """A resource as markdown, with what was recorded in a fence.

        Raises:
            MCPError: There is no such resource.
        """
        uri = str(params.uri)
        address = parse(uri)
        if address is None:
            raise resource_not_found(uri, ctx.protocol_version)
        with protocol_errors("resources/read"):
            content = await self._readers[address.place](address.value)
        if content is None:
            raise resource_not_found(uri, ctx.protocol_version)
        text = f"# {_ABOUT[address.place][0]}\n\n{render(content)}\n"
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=_MIME, text=text)])

    async def _status(self, _: str) -> Json:
        return await self._runner.run("memory_status", {})

    async def _short_term(self, _: str) -> Json:
        return await self._runner.run("memory_short_term_read", {})

    async def _long_term(self, _: str) -> Json:
        return await self._runner.run("my_memory", {})

    async def _goals(self, phase: str) -> Json | None:
        if phase not in get_args(Phase):
            return None
        return await self._runner.run("list_goals", {"phase": phase, "limit": _PAGE})

    async def _goal(self, goal_id: str) -> Json | None:
        context = await self._runner.run("goal_context", {"goal_id": goal_id})
        return context if context["found"] else None

    async def _session(self, session_id: str) -> Json | None:
        return await self._memory("Session", session_id)

    async def _entity(self, name: str) -> Json | None:
        half = self._runner.settings.output.max_tokens // 2
        entity = await self._memory("Entity", entity_id(name), max_tokens=half)
        if entity is None:
            return None
        found = await self._runner.run("search_facts", {"subject": name}, max_tokens=half)
        return entity | {"facts": found["facts"], "facts_in_all": found["total"]}

    async def _fact(self, fact_id: str) -> Json | None:
        return await self._memory("Fact", fact_id)

    async def _memory(self, kind: str, id: str, *, max_tokens: int | None = None) -> Json | None:
        memory = await self._runner.run("get_memory", {"id": id, "kind": kind}, max_tokens=max_tokens)
        return memory if memory["found"] else None


def _fixed() -> list[Resource]:
    phases = cast("tuple[Phase, ...]", get_args(Phase))
    return [
        *(_describe(Address(place), *_ABOUT[place]) for place in SINGLE),
        *(_describe(Address("goals", phase), f"{phase.capitalize()} goals", _ABOUT["goals"][1]) for phase in phases),
    ]


def _describe_goal(goal: Goal) -> Resource:
    return _describe(Address("goal", goal.goal_id), goal.title, f"{_ABOUT['goal'][1]} Phase: {goal.phase}.")


def _describe(address: Address, title: str, description: str) -> Resource:
    name = address.uri.removeprefix("memory://")
    return Resource(name=name, title=title, uri=address.uri, description=description, mime_type=_MIME)
