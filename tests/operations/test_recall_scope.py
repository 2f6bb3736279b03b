"""What recall searches: where a fact comes from, which moment is asked about, and what a time leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.client import MemoryClient
from uniko_mcp.config import EmbeddingSettings, Settings

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "memory", embedding=EmbeddingSettings(model="none"))


async def recalled(memory: MemoryClient, query: str, **more: Any) -> list[str]:
    return [item["id"] for item in (await memory("recall", query=query, **more))["items"]]


async def test_a_fact_is_of_the_conversation_the_goal_and_the_people_it_rests_on(memory: MemoryClient) -> None:
    said = [{"sender": "Ana", "content": "hm", "message_id": "m"}]
    await memory("create_goal", goal_id="g", title="g")
    await memory("create_goal", goal_id="other", title="other")
    await memory("record_messages", session_id="in", goal_id="g", messages=said)
    await memory("record_messages", session_id="out", goal_id="other", messages=[{"sender": "bo", "content": "hm"}])
    await memory("add_observation", observation_id="o", message_id="m", content="It is blue.", subject="gate")
    fact = {"subject": "gate", "predicate": "has the colour", "object": "blue", "supporting_observation_ids": ["o"]}
    await memory("assert_fact", fact_id="f", **fact)
    only_facts = {"query": "What colour has the gate?", "kinds": ["fact"]}
    for of_it in ({}, {"session_ids": ["in"]}, {"goal_id": "g"}, {"participants": ["Ana"]}, {"participants": ["ana"]}):
        assert await recalled(memory, **only_facts, **of_it) == ["f"]
    for of_others in ({"session_ids": ["out"]}, {"goal_id": "other"}, {"participants": ["bo"]}):
        found = await memory("recall", **only_facts, **of_others)
        assert (found["items"], found["total_considered"]) == ([], 0)
    answered = await memory("answer", question="What colour has the gate?", session_ids=["in"])
    assert "f" in {citation["id"] for citation in answered["citations"]}


async def test_a_fact_recorded_in_a_time_is_of_that_time_whenever_it_began_to_hold(memory: MemoryClient) -> None:
    memory.at = "2026-03-01T12:00:00Z"
    await memory("assert_fact", fact_id="f", subject="Ana", predicate="works at", object="Acme", valid_from="2020")
    assert await recalled(memory, "Acme", since="2026-02-01") == ["f"]
    assert await recalled(memory, "Acme", until="2020-12-31") == ["f"]
    assert await recalled(memory, "Acme", since="2021", until="2025-12-31") == []
    [item] = (await memory("recall", query="Acme"))["items"]
    assert item["timestamp"] == "2020-01-01T00:00:00Z"


async def test_as_of_a_past_moment_nothing_that_came_later_is_found(memory: MemoryClient) -> None:
    """T10: messages, facts, episodes and summaries."""

    async def say(id: str, content: str, at: str) -> None:
        message = {"sender": "ana", "content": content, "message_id": id, "timestamp": at}
        await memory("record_messages", session_id="s", messages=[message])

    await say("then", "The ledger is kept in Porto.", "2025-05-01T10:00:00Z")
    await say("later", "The ledger is kept in Faro now.", "2026-01-10T10:00:00Z")
    memory.at = "2026-01-11T00:00:00Z"
    await memory("assert_fact", fact_id="f", subject="ledger", predicate="kept by", object="Bo", valid_from="2025-01")
    await memory("record_episode", episode_id="e", action_type="audit", state={"topic": "the ledger"})
    await memory("summarize_session", session_id="s")
    everything = {"query": "Where is the ledger kept?", "limit": 50, "include_superseded": True}

    async def evidence(**more: Any) -> set[str]:
        items = (await memory("recall", **everything, **more))["items"]
        return {source.get("message_id", item["id"]) for item in items for source in item["sources"] or [{}]}

    assert {"then", "later", "f", "e"} <= await evidence()
    assert await evidence(reference_time="2025-06-01") == {"then"}
    assert await evidence(reference_time="2025-05-01") == {"then"}, "a date covers its day"
    assert await evidence(reference_time="2025-05-01T09:59:59Z") == set()
    answered = await memory("answer", question="Where is the ledger kept?", reference_time="2025-06-01")
    assert "Porto" in answered["context"]
    assert "Faro" not in answered["context"]


async def test_as_of_a_past_moment_the_revision_of_that_time_is_current(memory: MemoryClient) -> None:
    """T10."""
    for revision, at in (("1", "2025-01-01T00:00:00Z"), ("2", "2026-01-01T00:00:00Z")):
        memory.at = at
        await memory(
            "ingest_document",
            artifact_id=f"a{revision}",
            source="handbook",
            revision=revision,
            content=f"The gate opens at {revision} o'clock.",
        )

    async def revisions(**more: Any) -> set[str]:
        items = (await memory("recall", query="When does the gate open?", kinds=["chunk"], **more))["items"]
        return {source["artifact_id"] for item in items for source in item["sources"]}

    memory.at = "2026-02-01T00:00:00Z"
    assert await revisions() == {"a2"}
    assert await revisions(reference_time="2025-06-01") == {"a1"}
    assert await revisions(reference_time="2024-06-01") == set()
    assert await revisions(include_superseded=True) == {"a1", "a2"}


async def test_what_was_said_with_a_time_ahead_of_the_clock_is_found_at_once(memory: MemoryClient) -> None:
    message = {"sender": "ana", "content": "The ledger is kept in Porto.", "timestamp": "2099-01-01", "message_id": "m"}
    await memory("record_messages", session_id="s", messages=[message])
    assert "m" in await recalled(memory, "ledger", kinds=["message"])


async def test_the_order_is_the_same_in_an_index_made_anew(memory: MemoryClient) -> None:
    for name in "cab":
        message = {"sender": "ana", "content": f"orchid {name * 3}", "message_id": name, "timestamp": "2026-01-01"}
        await memory("record_messages", session_id=name, messages=[message])
    assert await recalled(memory, "orchid", kinds=["message"]) == ["a", "b", "c"]
    await memory.services.recollection.reindex()
    assert await recalled(memory, "orchid", kinds=["message"]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("time", "wanted"),
    [
        ("last week", {"then"}),
        ("before last week", {"long ago"}),
        ("after last week", {"today"}),
        ("until last week", {"long ago", "then"}),
        ("since last week", {"then", "today"}),
    ],
)
async def test_a_time_before_or_after_another_is_not_that_other(
    memory: MemoryClient, time: str, wanted: set[str]
) -> None:
    """T8."""
    memory.at = "2026-03-11T12:00:00Z"
    for id, at in (("long ago", "2025-05-01"), ("then", "2026-03-04"), ("today", "2026-03-11T11:00:00Z")):
        message = {"sender": "ana", "content": f"The deploy of {id}.", "message_id": id, "timestamp": at}
        await memory("record_messages", session_id=id, messages=[message])
    assert set(await recalled(memory, f"Which deploy {time}?", kinds=["message"])) == wanted


async def test_a_time_does_not_hide_what_was_said_at_another(memory: MemoryClient) -> None:
    memory.at = "2026-03-11T12:00:00Z"
    await memory("assert_fact", subject="Ana", predicate="works at", object="Acme", valid_from="2024")
    old = {"sender": "ana", "content": "The deploy failed.", "message_id": "old", "timestamp": "2025-05-01"}
    await memory("record_messages", session_id="s", messages=[old])
    found = await memory("recall", query="the deploy last week")
    assert [source["message_id"] for item in found["items"] for source in item["sources"]] == ["old"]
    assert any("all times were searched" in note for note in found["notes"])
    new = {"sender": "ana", "content": "The deploy worked.", "message_id": "new", "timestamp": "2026-03-04"}
    await memory("record_messages", session_id="t", messages=[new])
    found = await memory("recall", query="the deploy last week")
    assert {source["message_id"] for item in found["items"] for source in item["sources"]} == {"new"}
    assert any("Only memories of the time" in note for note in found["notes"])
