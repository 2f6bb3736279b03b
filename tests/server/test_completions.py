from __future__ import annotations

import pytest
from mcp_types import PromptReference, ResourceTemplateReference

from .conftest import Connect

pytestmark = pytest.mark.anyio

PROMPT = PromptReference(name="end_of_session")


def template(uri: str) -> ResourceTemplateReference:
    return ResourceTemplateReference(uri=uri)


async def test_ids_phases_and_names_are_completed_by_what_they_begin_with(connect: Connect) -> None:
    message = {"sender": "user", "content": "Hello"}
    async with connect() as client:
        await client.call_tool("create_goal", {"title": "Move billing", "goal_id": "g-billing"})
        await client.call_tool("create_goal", {"title": "Hire", "goal_id": "g-hire"})
        await client.call_tool("record_messages", {"session_id": "Monday", "messages": [message]})
        await client.call_tool("assert_fact", {"subject": "Ångström", "predicate": "is a unit", "fact_id": "f-1"})

        async def complete(reference: object, name: str, typed: str) -> list[str]:
            return (await client.complete(reference, {"name": name, "value": typed})).completion.values

        assert await complete(PROMPT, "goal_id", "g-") == ["g-hire", "g-billing"]
        assert await complete(PROMPT, "goal_id", "move") == ["g-billing"]
        assert await complete(PROMPT, "session_id", "mon") == ["Monday"]
        assert await complete(template("memory://goals/{phase}"), "phase", "a") == ["active", "abandoned"]
        assert await complete(template("memory://entity/{name}"), "name", "ång") == ["Ångström"]
        assert await complete(template("memory://fact/{fact_id}"), "fact_id", "") == ["f-1"]
        assert await complete(PROMPT, "something", "x") == []


async def test_more_than_the_protocol_allows_is_cut_and_counted(connect: Connect) -> None:
    async with connect() as client:
        for number in range(101):
            await client.call_tool("create_goal", {"title": "Goal", "goal_id": f"g{number}"})
        completion = (await client.complete(PROMPT, {"name": "goal_id", "value": "g"})).completion
    assert len(completion.values) == 100
    assert completion.total == 101
    assert completion.has_more


async def test_a_private_fact_of_another_agent_is_not_offered_nor_what_it_is_about(connect: Connect) -> None:
    """S2, in completions"""
    fact = {"subject": "user", "predicate": "pin", "object": "1234", "fact_id": "secret", "visibility": "private"}
    async with connect(agent_id="other") as client:
        await client.call_tool("assert_fact", fact)
    async with connect() as client:
        for uri, name in (("memory://fact/{fact_id}", "fact_id"), ("memory://entity/{name}", "name")):
            completion = (await client.complete(template(uri), {"name": name, "value": ""})).completion
            assert completion.values == []
            assert completion.total == 0
