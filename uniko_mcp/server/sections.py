"""The sections of a prompt: each a heading, and under it what a tool answers; together no larger than one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from mcp_types import PromptMessage, TextContent

from uniko_mcp.config import PromptSection
from uniko_mcp.errors import UnikoError
from uniko_mcp.models.fence import fence
from uniko_mcp.models.tokens import estimate_tokens
from uniko_mcp.notes.section import LABEL
from uniko_mcp.server.failures import named
from uniko_mcp.server.rendering import recorded, render
from uniko_mcp.server.runner import OperationRunner

SHORT_TERM_TOOL: Final = "memory_short_term_read"

_FACTS_TOOL: Final = "search_facts"
_ROLES: Final[Mapping[str, Literal["user", "assistant"]]] = {
    "system": "user",  # MCP knows no system messages
    "user": "user",
    "assistant": "assistant",
}
_ASKED: Final = (
    ("topic", "What Bears on the Topic", "recall", "query"),
    ("goal_id", "This Goal", "goal_context", "goal_id"),
)
"""Sections on what is asked about: argument, heading, the tool and its parameter that fill it."""

_LEAST_ROOM: Final = 250
"""Tokens in which a section can say something."""
_MOST_ABOUT: Final = 512
"""Characters of a goal's words that facts are ranked by; its description may be a book."""


def message(role: str, text: str) -> PromptMessage:
    """A message of a prompt."""
    return PromptMessage(role=_ROLES[role], content=TextContent(text=text))


@dataclass(frozen=True, slots=True)
class Sections:
    """Fills sections from the memory as it is now."""

    runner: OperationRunner

    async def context(self, sections: Sequence[PromptSection], arguments: Mapping[str, str]) -> list[PromptMessage]:
        """These sections, then those on the topic or goal that the arguments name; those with nothing to say are left
        out.

        Room is given to the short-term memory first, which has a limit of its own, then to what is asked about, then
        to the rest: at most half of what is left to each, so that no long list takes it all.
        """
        asked = [
            PromptSection(section=heading, tool=tool, arguments={parameter: arguments[name]})
            for name, heading, tool, parameter in _ASKED
            if name in arguments
        ]
        about = await self._about(arguments)
        short_term = [section for section in sections if section.tool == SHORT_TERM_TOOL]
        others = [section for section in sections if section.tool != SHORT_TERM_TOOL]
        room = self.runner.settings.output.max_tokens
        filled: dict[int, PromptMessage] = {}
        for section in (*short_term, *asked, *others):
            allowed = room if section.tool == SHORT_TERM_TOOL else room // 2
            if found := await self._section_or_why(section, about, allowed):
                filled[id(section)] = found
                room -= estimate_tokens(found.content.text) if isinstance(found.content, TextContent) else 0
        return [filled[id(section)] for section in (*sections, *asked) if id(section) in filled]

    async def short_term(self) -> PromptMessage | None:
        """The short-term memory; None when there is none."""
        section = PromptSection(section="Short-Term Memory", tool=SHORT_TERM_TOOL)
        return await self._section(section, self.runner.settings.output.max_tokens)

    async def _about(self, arguments: Mapping[str, str]) -> str:
        """The topic and the words of the goal, which facts are ranked by; "" when nothing is asked about."""
        words = [arguments["topic"]] if "topic" in arguments else []
        if "goal_id" in arguments:
            with suppress(UnikoError):  # the section on the goal says what is wrong
                goal = await self.runner.run("get_memory", {"id": arguments["goal_id"], "kind": "Goal"})
                words += [goal["memory"][part] for part in ("title", "description") if part in goal.get("memory", {})]
        return " ".join(words)[:_MOST_ABOUT]

    async def _section_or_why(self, section: PromptSection, about: str, max_tokens: int) -> PromptMessage | None:
        """The section, or a line that says why it is missing: the others are worth having without it."""
        if max_tokens < _LEAST_ROOM:
            return _without(section, f"left out for want of room; {section.tool} shows it")
        try:
            return await self._ranked_facts(section, about, max_tokens) or await self._section(section, max_tokens)
        except Exception as error:
            return _without(section, str(named(error, f"section {section.section}")))

    async def _ranked_facts(self, section: PromptSection, about: str, max_tokens: int) -> PromptMessage | None:
        """Of a section with all facts, those that bear on what is asked about; None without such facts or question."""
        if not about or section.tool != _FACTS_TOOL or section.arguments.keys() - {"limit"}:
            return None
        arguments = {"query": about, "kinds": ["fact"], **section.arguments}
        ranked = PromptSection(section=section.section, role=section.role, tool="recall", arguments=arguments)
        return await self._section(ranked, max_tokens)

    async def _section(self, section: PromptSection, max_tokens: int) -> PromptMessage | None:
        content = await self.runner.run(section.tool, section.arguments, max_tokens=max_tokens)
        if section.skip_if_empty and not recorded(content):
            return None
        text = fence(content["content"], LABEL) if section.tool == SHORT_TERM_TOOL else render(content)
        return message(section.role, f"## {section.section}\n\n{text}")


def _without(section: PromptSection, why: str) -> PromptMessage:
    return message(section.role, f"## {section.section}\n\nMissing: {why}")
