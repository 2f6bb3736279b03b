from __future__ import annotations

import re

import pytest
from mcp import Client

from uniko_mcp.notes import NoteKind
from uniko_mcp.operations import CATALOGUE
from uniko_mcp.operations.call import Services
from uniko_mcp.server.instructions import ADVICE, GUIDE_CHARACTERS, INSTRUCTIONS_CHARACTERS, guide

from .conftest import Connect, server_of

GUIDE = guide(CATALOGUE)


def test_the_guide_is_short_however_many_tools_are_offered() -> None:
    assert len(guide({tool for tools, _ in ADVICE for tool in tools})) <= GUIDE_CHARACTERS


def test_the_guide_names_only_tools_that_are_offered() -> None:
    reading = CATALOGUE.select([], read_only=True)
    assert {"list_goals", "goal_context", "search_facts"} <= _names(guide(reading)) <= set(reading)
    assert len(_names(GUIDE)) >= 10
    assert _names(GUIDE) <= set(CATALOGUE)


def test_an_advice_names_the_tools_that_it_needs() -> None:
    for tools, text in ADVICE:
        assert all(tool in text for tool in tools), text


def _names(text: str) -> set[str]:
    return set(re.findall(r"\b[a-z]+_[a-z_]+\b", text)) - {"short_term"}


@pytest.mark.anyio
async def test_a_client_is_told_the_guide_and_the_short_term_memory_as_far_as_there_is_room(
    connect: Connect, services: Services
) -> None:
    await services.notes.save(NoteKind.SHORT_TERM, "\n".join(f"- note {number}" for number in range(500)))
    async with connect(mode="auto") as client:
        told = client.instructions
    assert told.startswith(f"{GUIDE}\n\n## Short-Term Memory\n")
    assert "- note 0\n" in told
    assert told.endswith("memory://short-term")
    assert len(told) <= INSTRUCTIONS_CHARACTERS


@pytest.mark.anyio
async def test_the_next_client_is_told_what_was_saved_since(services: Services) -> None:
    server = server_of(services)
    for content, told in (("", GUIDE), ("Call me Zoe.", "Call me Zoe."), ("", GUIDE)):
        await services.notes.save(NoteKind.SHORT_TERM, content)
        for mode in ("legacy", "auto"):
            async with Client(server, mode=mode) as client:
                assert told in client.instructions
                assert ("Short-Term" in client.instructions) == bool(content)
