"""Prompts: what a session begins with, and what it should not end without."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
)

from uniko_mcp.config import PromptSection
from uniko_mcp.errors import ConfigError
from uniko_mcp.models.nearest import nearest
from uniko_mcp.operations.catalogue import Catalogue
from uniko_mcp.server.failures import protocol_errors
from uniko_mcp.server.runner import OperationRunner
from uniko_mcp.server.sections import Sections, message

_Get: TypeAlias = Callable[[Mapping[str, str]], Awaitable[list[PromptMessage]]]

_GOAL: Final = PromptArgument(name="goal_id", description="The goal that this session is about.")
_TOPIC: Final = PromptArgument(name="topic", description="What this session is about, as a question or as words.")
_SESSION: Final = PromptArgument(name="session_id", description="The session that is ending.")
_PROMPTS: Final = (
    Prompt(
        name="short_term_memory",
        title="Your short-term memory",
        description="What you noted for yourself and is to be in every prompt.",
        arguments=[],
    ),
    Prompt(
        name="agent_context",
        title="What you remember",
        description="What the memory holds that bears on a new session: open goals and tasks, known facts, and what"
        " bears on its topic or goal.",
        arguments=[_TOPIC, _GOAL],
    ),
    Prompt(
        name="end_of_session",
        title="Before the session ends",
        description="Asks the model to record what should outlive the session, and with which tools.",
        arguments=[_SESSION, _GOAL],
    ),
)

_MAX_ARGUMENT_CHARS: Final = 512
"""Arguments stand in the prompt as its own words: in one line, and no longer than an id or a question is."""

_WRITING: Final = frozenset({"end_of_session"})
"""Prompts that ask for writes; a server that only reads does not offer them."""

_END_OF_SESSION: Final = """\
This session{session} is about to end. Record now what the next one should know{goal}, and nothing that is recorded \
already:

1. What was said and is not kept yet: record_messages{in_session}, word for word, with who said it.
2. What became of goals and tasks: update_goal and update_task; give a result when something is done. create_goal or \
create_task for what is still open.
3. What you did that matters later: record_action for single steps, record_episode for how the work went, with its \
outcome.
4. What you now know for certain: assert_fact, with supersede when it replaces something; invalidate_fact for what \
turned out to be wrong.

Then say in a few lines what you recorded and what is open."""


class Prompts:
    """The prompts of one server; `agent_context` is made of the sections in its settings."""

    def __init__(self, runner: OperationRunner) -> None:
        self._filled = Sections(runner)
        self._prompts = {
            prompt.name: prompt for prompt in _PROMPTS if prompt.name not in _WRITING or not runner.settings.read_only
        }
        self._sections = runner.settings.prompt.sections
        for section in self._sections:
            _check(section, runner.catalogue)
        self._getters: Mapping[str, _Get] = {
            "short_term_memory": self._short_term_memory,
            "agent_context": self._agent_context,
            "end_of_session": _end_of_session,
        }

    async def list_prompts(
        self, ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        """All prompts, on one page."""
        return ListPromptsResult(prompts=list(self._prompts.values()))

    async def get_prompt(self, ctx: ServerRequestContext[Any], params: GetPromptRequestParams) -> GetPromptResult:
        """A prompt, filled from the memory as it is now.

        Raises:
            MCPError: There is no such prompt, or it has no such argument.
        """
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name}. {nearest(params.name, self._prompts)}")
        arguments = {
            name: " ".join(value.split())[:_MAX_ARGUMENT_CHARS]
            for name, value in (params.arguments or {}).items()
            if value.strip()
        }
        known = [argument.name for argument in prompt.arguments or ()]
        for name in arguments:
            if name not in known:
                raise MCPError(
                    INVALID_PARAMS, f"Invalid arguments for {prompt.name}: {name} is unknown. {nearest(name, known)}"
                )
        with protocol_errors(f"prompt {prompt.name}"):
            messages = await self._getters[prompt.name](arguments)
        return GetPromptResult(description=prompt.description, messages=messages)

    async def _short_term_memory(self, arguments: Mapping[str, str]) -> list[PromptMessage]:
        return [await self._filled.short_term() or message("user", "There is no short-term memory so far.")]

    async def _agent_context(self, arguments: Mapping[str, str]) -> list[PromptMessage]:
        found = await self._filled.context(self._sections, arguments)
        return found or [message("user", "The memory is empty so far.")]


async def _end_of_session(arguments: Mapping[str, str]) -> list[PromptMessage]:
    session, goal = arguments.get("session_id"), arguments.get("goal_id")
    text = _END_OF_SESSION.format(
        session=f" ({session})" if session else "",
        goal=f" about goal {goal}" if goal else "",
        in_session=f" with session_id {session}" if session else "",
    )
    return [message("user", text)]


def _check(section: PromptSection, catalogue: Catalogue) -> None:
    operation = catalogue.get(section.tool)
    what = f"prompt.sections: {section.section!r} is to be filled by {section.tool}"
    if operation is None:
        raise ConfigError(f"{what}, which does not exist", next_step=nearest(section.tool, catalogue))
    if not operation.hints.read_only:
        raise ConfigError(f"{what}, which writes", next_step="Use a tool that only reads")
