from __future__ import annotations

import re

import pytest

from uniko_mcp.operations import CATALOGUE
from uniko_mcp.server.instructions import (
    GUIDE,
    GUIDE_CHARACTERS,
    INSTRUCTIONS_CHARACTERS,
    instructions,
    room_for_section,
)

from .conftest import Connect


def test_the_guide_is_short_and_names_only_tools_that_exist() -> None:
    assert len(GUIDE) <= GUIDE_CHARACTERS
    named = set(re.findall(r"\b[a-z]+_[a-z_]+\b", GUIDE)) - {"as_of"}
    assert named <= set(CATALOGUE)
    assert len(named) >= 10


def test_a_short_term_memory_follows_the_guide_as_far_as_there_is_room() -> None:
    section = "x" * room_for_section()
    assert len(instructions(section)) == INSTRUCTIONS_CHARACTERS
    assert instructions(section).endswith(section)
    assert instructions() == GUIDE


@pytest.mark.anyio
async def test_a_client_gets_the_guide(connect: Connect, era: str) -> None:
    async with connect() as client:
        assert client.instructions == (GUIDE if era == "legacy" else None)
