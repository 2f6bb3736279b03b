"""The notes through their operations: what a client sends and sees."""

from __future__ import annotations

from typing import Any

import pytest

from tests.client import MemoryClient
from uniko_mcp.errors import InvalidArgumentsError, LimitExceededError
from uniko_mcp.models.tokens import estimate_result_tokens
from uniko_mcp.operations import notes
from uniko_mcp.operations.call import Call
from uniko_mcp.operations.catalogue import AnyOperation
from uniko_mcp.operations.dispatch import dispatch

pytestmark = pytest.mark.anyio


async def call(memory: MemoryClient, operation: AnyOperation, **arguments: Any) -> dict[str, Any]:
    result = await dispatch(memory.services, Call(memory.agent_id, memory.services.settings), operation, arguments)
    return result.model_dump(mode="json", exclude_none=True)


async def test_what_is_saved_is_read_with_its_event(memory: MemoryClient) -> None:
    saved = await call(memory, notes.memory_save, type="long_term", content="Ada prefers tea 🍵.")
    assert (saved["type"], saved["chars"], saved["bytes"]) == ("long_term", 18, 21)
    assert (saved["relays"], saved["warnings"]) == ({}, [])
    read = await call(memory, notes.my_memory)
    assert read == {
        "content": "Ada prefers tea 🍵.",
        "event_id": saved["event_id"],
        "created_at": saved["created_at"],
        "chars": 18,
        "warnings": [],
    }
    assert saved["created_at"].endswith("Z")


async def test_a_memory_that_is_too_long_for_a_result_is_read_in_parts(memory: MemoryClient) -> None:
    """S1, N2: 32,000 letters of Cyrillic are 64,000 bytes."""
    content = "память" * 5_333
    await call(memory, notes.memory_save, type="long_term", content=content)
    first = await call(memory, notes.my_memory)
    rest = await call(memory, notes.my_memory, offset=first["next_offset"])
    assert first["content"] + rest["content"] == content
    assert "next_offset" not in rest
    assert first["chars"] == rest["chars"] == len(content)
    assert estimate_result_tokens(first) <= memory.services.settings.output.max_tokens


async def test_nothing_saved_is_empty(memory: MemoryClient) -> None:
    assert await call(memory, notes.my_memory) == {"content": "", "chars": 0, "warnings": []}


async def test_the_short_term_memory_is_read_inside(memory: MemoryClient) -> None:
    await call(memory, notes.memory_save, type="short_term", content="- ship on Friday")
    assert (await call(memory, notes.memory_short_term_read))["content"] == "- ship on Friday"
    assert (await call(memory, notes.my_memory))["content"] == ""


async def test_an_empty_text_clears(memory: MemoryClient) -> None:
    await call(memory, notes.memory_save, type="long_term", content="something")
    cleared = await call(memory, notes.memory_save, type="long_term", content="")
    read = await call(memory, notes.my_memory)
    assert (read["content"], read["event_id"]) == ("", cleared["event_id"])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"type": "middle_term", "content": "x"}, "short_term"),
        ({"content": "x"}, "type"),
        ({"type": "long_term", "contents": "x"}, "content"),
        ({"type": "long_term", "content": "\ud800"}, "surrogate"),
    ],
)
async def test_a_wrong_argument_is_named(memory: MemoryClient, arguments: dict[str, Any], named: str) -> None:
    """I5, W10"""
    with pytest.raises(InvalidArgumentsError, match=named):
        await call(memory, notes.memory_save, **arguments)


async def test_a_text_over_the_limit_is_refused(memory: MemoryClient) -> None:
    """N2"""
    with pytest.raises(LimitExceededError, match="8,000 characters"):
        await call(memory, notes.memory_save, type="short_term", content="x" * 8_001)
