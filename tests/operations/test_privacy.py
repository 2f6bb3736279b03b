"""What an agent keeps private: others neither see it, nor what it is about, nor can they tell that it is there.

S2, S3: the rules hold in every operation, not only in recall.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.client import MemoryClient
from uniko_mcp.errors import IdConflictError, InvalidArgumentsError
from uniko_mcp.memory.completion import complete
from uniko_mcp.models.names import entity_id

pytestmark = pytest.mark.anyio

NOTHING = {"found": False, "provenance": [], "truncated": False}


async def observe(memory: MemoryClient, subject: str, **more: Any) -> None:
    await memory("record_messages", session_id="s", messages=[{"sender": "ana", "content": "hm", "message_id": "m"}])
    await memory("add_observation", message_id="m", content="It is so.", subject=subject, **more)


async def entities(memory: MemoryClient, typed: str) -> tuple[list[str], int]:
    return await memory.services.store.read(
        lambda view: complete(view, "Entity", typed, viewer=memory.agent_id, limit=10)
    )


async def test_what_only_private_memories_name_is_no_entity_for_others(memory: MemoryClient) -> None:
    other = memory.as_agent("other")
    await memory("assert_fact", subject="Project Falcon", predicate="starts in", object="May", visibility="private")
    await observe(memory, "Project Heron", visibility="private")
    for name in ("Project Falcon", "Project Heron"):
        assert await other("get_memory", id=entity_id(name)) == NOTHING
        assert (await memory("get_memory", id=entity_id(name)))["memory"]["name"] == name
    assert await entities(other, "project") == ([], 0)
    assert await entities(memory, "project") == (["Project Falcon", "Project Heron"], 2)


async def test_an_entity_is_there_for_all_once_something_shared_names_it_and_counts_what_each_may_see(
    memory: MemoryClient,
) -> None:
    other = memory.as_agent("other")
    for object in ("May", "June"):
        await memory("assert_fact", subject="falcon", predicate="starts in", object=object, visibility="private")
    await other("assert_fact", subject="Falcon", predicate="is", object="a bird")
    assert (await memory("get_memory", id=entity_id("falcon")))["memory"]["mention_count"] == 3
    found = await other("get_memory", id=entity_id("falcon"))
    assert found["memory"]["mention_count"] == 1
    assert [source["text"] for source in found["provenance"]] == ["Falcon is a bird"]
    assert await entities(other, "falcon") == (["falcon"], 1)


async def test_what_names_an_entity_in_passing_is_shared_and_makes_it_visible(memory: MemoryClient) -> None:
    await memory("record_episode", action_type="review", entities=["Kestrel"])
    assert (await memory.as_agent("other")("get_memory", id=entity_id("kestrel")))["found"] is True


async def test_many_private_memories_hide_no_shared_ones(memory: MemoryClient) -> None:
    for number in range(3):
        await memory("assert_fact", subject="falcon", predicate=f"shows {number}")
    for number in range(25):
        await memory("assert_fact", subject="falcon", predicate=f"hides {number}", visibility="private")
    found = await memory.as_agent("other")("get_memory", id=entity_id("falcon"))
    assert [source["text"] for source in found["provenance"]] == [f"falcon shows {number}" for number in (2, 1, 0)]
    assert found["truncated"] is False
    own = await memory("get_memory", id=entity_id("falcon"))
    assert (len(own["provenance"]), own["truncated"]) == (20, True)


async def test_a_private_fact_supersedes_only_private_facts_of_the_same_agent(memory: MemoryClient) -> None:
    other = memory.as_agent("other")
    theme = {"subject": "user", "predicate": "prefers"}
    shared = (await other("assert_fact", **theme, object="dark"))["fact"]
    own = (await memory("assert_fact", **theme, object="blue", visibility="private"))["fact"]
    new = await memory("assert_fact", **theme, object="light", visibility="private", supersede=True)
    conflicts = {fact["fact_id"]: fact for fact in new["conflicts"]}
    assert conflicts[shared["fact_id"]] == shared
    assert conflicts[own["fact_id"]]["retraction_reason"] == "superseded"
    assert (await other("search_facts", subject="user"))["facts"] == [shared]


async def test_a_private_fact_replaces_no_shared_one(memory: MemoryClient) -> None:
    await memory("assert_fact", fact_id="shared", subject="user", predicate="prefers", object="dark")
    await memory("assert_fact", fact_id="mine", subject="user", predicate="prefers", object="red", visibility="private")
    with pytest.raises(InvalidArgumentsError, match="'mine' is private and cannot replace a shared fact"):
        await memory("invalidate_fact", fact_id="shared", replacement_fact_id="mine", reason="a secret")
    assert "retracted_at" not in (await memory("get_memory", id="shared"))["memory"]


async def test_evidence_that_is_private_to_another_is_as_if_it_were_not_there(memory: MemoryClient) -> None:
    said = {"sender": "ana", "content": "hm", "message_id": "m", "timestamp": "2020-01-01T00:00:00Z"}
    await memory("record_messages", session_id="s", messages=[said])
    observation = {"message_id": "m", "content": "It is so.", "subject": "it", "visibility": "private"}
    await memory("add_observation", observation_id="o", **observation)
    other = memory.as_agent("other")
    other.at = "2026-01-01T00:00:00Z"
    asserted = await other("assert_fact", subject="it", predicate="is so", supporting_observation_ids=["o", "unknown"])
    assert [(link["id"], link["reason"]) for link in asserted["skipped_links"]] == [
        (id, "there is no such Observation") for id in ("o", "unknown")
    ]
    assert asserted["fact"]["valid_from"] == "2026-01-01T00:00:00Z"


async def test_evidence_is_shown_to_those_who_see_the_observation(memory: MemoryClient) -> None:
    await observe(memory, "it", observation_id="o", visibility="private")
    fact = await memory("assert_fact", fact_id="f", subject="it", predicate="is so", supporting_observation_ids=["o"])
    assert fact["skipped_links"] == []

    async def relations(client: MemoryClient) -> list[str]:
        return [source["relation"] for source in (await client("get_memory", id="f"))["provenance"]]

    assert {"EVIDENCE", "SUPPORTED_BY"} <= set(await relations(memory))
    assert {"EVIDENCE", "SUPPORTED_BY"}.isdisjoint(await relations(memory.as_agent("other")))


async def test_recall_names_no_message_that_supports_a_shared_fact_privately(memory: MemoryClient) -> None:
    await observe(memory, "it", observation_id="o", visibility="private")
    await memory("assert_fact", fact_id="f", subject="it", predicate="is blue", supporting_observation_ids=["o"])
    for client in (memory.as_agent("other"), memory):
        [item] = (await client("recall", query="blue"))["items"]
        assert (item["id"], item["sources"]) == ("f", [])
        assert (await client("recall", query="blue", session_ids=["s"]))["items"] == []
    own = {"subject": "it", "predicate": "is green", "visibility": "private", "supporting_observation_ids": ["o"]}
    await memory("assert_fact", **own)
    [item] = (await memory("recall", query="green"))["items"]
    assert [source["message_id"] for source in item["sources"]] == ["m"]
    assert (await memory.as_agent("other")("recall", query="green"))["items"] == []


async def test_an_id_that_another_agent_uses_privately_is_taken_even_for_the_same_content(memory: MemoryClient) -> None:
    secret = {"fact_id": "f", "subject": "user", "predicate": "pin", "object": "1234", "visibility": "private"}
    await memory("assert_fact", **secret)
    with pytest.raises(IdConflictError):
        await memory.as_agent("other")("assert_fact", **secret)
    observation = {"observation_id": "o", "visibility": "private"}
    await observe(memory, "it", **observation)
    with pytest.raises(IdConflictError):
        await observe(memory.as_agent("other"), "it", **observation)
