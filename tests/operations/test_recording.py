"""Messages, actions, episodes and observations: what is linked, what is chained, what happens on a resend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.client import MemoryClient
from uniko_mcp.config import ExtractionSettings, Settings
from uniko_mcp.errors import IdConflictError, InvalidArgumentsError, NotFoundError
from uniko_mcp.models.names import entity_id
from uniko_mcp.operations.call import open_services

pytestmark = pytest.mark.anyio


async def provenance(memory: MemoryClient, id: str, relation: str) -> list[dict[str, Any]]:
    return [p for p in (await memory("get_memory", id=id))["provenance"] if p["relation"] == relation]


async def test_messages_are_chained_with_who_said_them_to_whom_and_where(memory: MemoryClient) -> None:
    messages = [
        {"sender": "ana", "content": "Is it done?", "message_id": "m1", "timestamp": "2026-01-01T10:00:00Z"},
        {
            "sender": "bot",
            "role": "assistant",
            "content": "Nearly.",
            "message_id": "m2",
            "timestamp": "2026-01-01T10:00:05Z",
            "addressed_to": ["ana"],
        },
    ]
    recorded = await memory("record_messages", session_id="s1", topic="release", messages=messages)
    assert (recorded["message_ids"], recorded["created"]) == (["m1", "m2"], 2)
    later = {"sender": "ana", "content": "Good.", "message_id": "m3", "timestamp": "2026-01-01T10:01:05Z"}
    await memory("record_messages", session_id="s1", messages=[later])

    found = await memory("get_memory", id="m2")
    assert found["kind"] == "Message"
    assert found["memory"]["content"] == "Nearly."
    ends = {(p["relation"], p["direction"]): p["id"] for p in found["provenance"]}
    assert ends["SENT_BY", "out"] == "bot"
    assert ends["ADDRESSED_TO", "out"] == "ana"
    assert ends["IN_SESSION", "out"] == "s1"
    assert (ends["NEXT", "in"], ends["NEXT", "out"]) == ("m1", "m3")
    gaps = {p["id"]: p["properties"]["gap_ms"] for p in found["provenance"] if p["relation"] == "NEXT"}
    assert gaps == {"m1": 5_000, "m3": 60_000}
    assert (await memory("get_memory", id="bot"))["memory"]["kind"] == "agent"
    session = await memory("get_memory", id="s1")
    assert (session["memory"]["topic"], session["memory"]["message_count"]) == ("release", 3)


async def test_spacy_tells_what_a_name_names_where_it_is_asked_for(tmp_path: Path) -> None:
    said = [{"sender": "ana", "content": "I met Barack Obama.", "message_id": "m"}]
    kinds: list[str] = []
    for spacy in (False, True):
        settings = Settings(data_dir=tmp_path / str(spacy), extraction=ExtractionSettings(spacy=spacy))
        async with open_services(settings) as services:
            memory = MemoryClient(services, "a")
            await memory("record_messages", session_id="s", messages=said)
            [named] = await provenance(memory, "m", "MENTIONS")
            kinds.append((await memory("get_memory", id=named["id"]))["memory"]["entity_type"])
    assert kinds == ["name", "person"]


async def test_the_first_mention_that_tells_what_a_name_names_decides_its_type(memory: MemoryClient) -> None:
    async def entity_type() -> str | None:
        return (await memory("get_memory", id=entity_id("Lisbon"), kind="Entity"))["memory"].get("entity_type")

    await memory("assert_fact", subject="Lisbon", predicate="is", object="sunny")
    assert await entity_type() is None
    for content in ("Ana Souza lives in Lisbon.", "I moved to Lisbon in May 2024."):
        await memory("record_messages", session_id="s", messages=[{"sender": "ana", "content": content}])
        assert await entity_type() == "place"
    await memory("assert_fact", subject="Lisbon", predicate="has", object="trams")
    await memory("record_messages", session_id="s", messages=[{"sender": "ana", "content": 'I read "Lisbon" again.'}])
    assert await entity_type() == "place"


async def test_the_same_text_twice_is_two_messages(memory: MemoryClient) -> None:
    """T2: twice as messages; never zero."""
    said = {"sender": "ana", "content": "Yes."}
    first = await memory("record_messages", session_id="s", messages=[said, said])
    assert first["created"] == 2
    assert len(set(first["message_ids"])) == 2


async def test_a_unit_is_resent_without_effect_and_grows_by_what_is_new(memory: MemoryClient) -> None:
    """W6: a write that timed out at the client."""
    unit = [{"sender": "ana", "content": f"line {n}", "message_id": f"m{n}"} for n in range(3)]
    first = await memory("record_messages", session_id="s", messages=unit)
    again = await memory("record_messages", session_id="s", messages=unit)
    assert (again["message_ids"], again["created"]) == (first["message_ids"], 0)
    more = await memory(
        "record_messages", session_id="s", messages=[*unit, {"sender": "ana", "content": "new", "message_id": "m3"}]
    )
    assert more["created"] == 1
    assert (await memory("get_memory", id="s"))["memory"]["message_count"] == 4


async def test_an_id_reused_with_other_content_refuses_the_whole_unit(memory: MemoryClient) -> None:
    await memory("record_messages", session_id="s", messages=[{"sender": "a", "content": "x", "message_id": "m1"}])
    unit = [
        {"sender": "a", "content": "fresh", "message_id": "m0"},
        {"sender": "a", "content": "another", "message_id": "m1"},
    ]
    with pytest.raises(IdConflictError, match="'m1' was recorded with another content"):
        await memory("record_messages", session_id="s", messages=unit)
    assert (await memory("get_memory", id="m0"))["found"] is False
    twice = [
        {"sender": "a", "content": "one", "message_id": "m5"},
        {"sender": "a", "content": "two", "message_id": "m5"},
    ]
    with pytest.raises(IdConflictError):
        await memory("record_messages", session_id="s", messages=twice)
    assert (await memory("get_memory", id="m5"))["found"] is False


async def test_a_session_serves_a_goal_or_a_task_and_says_which_does_not_exist(memory: MemoryClient) -> None:
    await memory("create_goal", goal_id="g", title="g")
    said = [{"sender": "ana", "content": "let us begin"}]
    recorded = await memory("record_messages", session_id="s", messages=said, goal_id="g", task_id="ghost")
    assert [link["id"] for link in recorded["skipped_links"]] == ["ghost"]
    assert [p["id"] for p in await provenance(memory, "s", "FOR_GOAL")] == ["g"]


@pytest.mark.parametrize("content", ["", "   ", "\n\t"])
async def test_blank_content_is_refused(memory: MemoryClient, content: str) -> None:
    """I2: blank content."""
    with pytest.raises(InvalidArgumentsError, match=r"messages\.0\.content: .*(blank|empty)"):
        await memory("record_messages", session_id="s", messages=[{"sender": "a", "content": content}])


async def test_text_of_every_script_comes_back_unchanged_and_a_lone_surrogate_is_refused(memory: MemoryClient) -> None:
    """W10: emoji, CJK, Cyrillic; a lone surrogate is not a character."""
    text = "👩‍🚀 東京に住む Привет ñ ﷽ \u0000 end"
    await memory("record_messages", session_id="s", messages=[{"sender": "a", "content": text, "message_id": "m"}])
    assert (await memory("get_memory", id="m"))["memory"]["content"] == text
    with pytest.raises(InvalidArgumentsError, match="lone surrogate at position 2"):
        await memory("record_messages", session_id="s", messages=[{"sender": "a", "content": "ab\ud800"}])
    with pytest.raises(InvalidArgumentsError, match="lone surrogate"):
        await memory("create_goal", title="g", metrics={"a": "\udfff"})


async def test_actions_of_a_session_are_chained_and_a_long_output_goes_whole_into_an_artifact(
    memory: MemoryClient,
) -> None:
    await memory("record_messages", session_id="s", messages=[{"sender": "a", "content": "go", "message_id": "m"}])
    first = await memory("record_action", action_id="a1", action_type="search", session_id="s", message_id="m")
    output = "line\n" * 2_000
    second = await memory(
        "record_action", action_id="a2", action_type="read", session_id="s", output=output, input={"path": "/x"}
    )
    assert "overflow_artifact_id" not in first
    assert [p["id"] for p in await provenance(memory, "a2", "NEXT_ACTION")] == ["a1"]
    assert [p["id"] for p in await provenance(memory, "a1", "TRIGGERED_BY")] == ["m"]
    action = (await memory("get_memory", id="a2"))["memory"]
    assert action["input"] == '{"path": "/x"}'
    assert len(action["output"]) < 400
    artifact = await provenance(memory, second["overflow_artifact_id"], "HAS_CONTENT")
    assert (await memory("get_memory", id=artifact[0]["id"]))["memory"]["text"] == output


async def test_a_text_longer_than_a_result_comes_in_windows(memory: MemoryClient) -> None:
    """S1: every result under the token budget, with the way to the rest."""
    text = "".join(f"{n} 東京 " for n in range(20_000))
    await memory("record_messages", session_id="s", messages=[{"sender": "a", "content": text, "message_id": "m"}])
    windows: list[str] = []
    found = await memory("get_memory", id="m")
    while "next_offset" in found:
        assert found["truncated"] is True
        assert len(str(found).encode()) < 60_000
        windows.append(found["memory"]["content"])
        found = await memory("get_memory", id="m", offset=found["next_offset"])
    assert "".join([*windows, found["memory"]["content"]]) == text


async def test_an_entity_with_many_neighbours_says_that_there_are_more(memory: MemoryClient) -> None:
    said = [{"sender": "a", "content": "x", "message_id": f"m{n}"} for n in range(30)]
    await memory("record_messages", session_id="s", messages=said)
    session = await memory("get_memory", id="s")
    assert session["truncated"] is True
    assert sum(p["kind"] == "Message" for p in session["provenance"]) == 20


async def test_an_action_names_the_links_it_could_not_make(memory: MemoryClient) -> None:
    recorded = await memory("record_action", action_type="x", message_id="no", previous_action_id="none")
    assert [(link["parameter"], link["id"]) for link in recorded["skipped_links"]] == [
        ("message_id", "no"),
        ("previous_action_id", "none"),
    ]


async def test_an_episode_follows_the_one_before_within_an_hour_only(memory: MemoryClient) -> None:
    memory.at = "2026-01-01T10:00:00Z"
    first = await memory("record_episode", action_type="debugging", state={"topic": "", "question": "Why?"})
    memory.at = "2026-01-01T10:30:00Z"
    second = await memory("record_episode", action_type="fix", outcome="success", entities=["Billing", "billing"])
    memory.at = "2026-01-01T11:30:00.001Z"
    third = await memory("record_episode", action_type="review")
    assert "followed_episode_id" not in first
    assert (second["followed_episode_id"], second["gap_ms"]) == (first["episode_id"], 1_800_000)
    assert "followed_episode_id" not in third
    found = (await memory("get_memory", id=first["episode_id"]))["memory"]
    assert (found["text"], found["importance"]) == ("Why?", 0.5)
    assert [p["text"] for p in await provenance(memory, second["episode_id"], "MENTIONS")] == ["Billing"]


async def test_a_resent_action_or_episode_returns_the_first_result(memory: MemoryClient) -> None:
    """W6"""
    action = {"action_id": "a", "action_type": "x", "output": "y" * 4_000, "session_id": "s"}
    assert await memory("record_action", **action) == await memory("record_action", **action)
    await memory("record_episode", episode_id="e0", action_type="x")
    first = await memory("record_episode", episode_id="e1", action_type="x", state={"topic": "t"})
    assert await memory("record_episode", episode_id="e1", action_type="x", state={"topic": "t"}) == first
    with pytest.raises(IdConflictError):
        await memory("record_episode", episode_id="e1", action_type="x", state={"topic": "u"})
    status = await memory("memory_status")
    assert (status["counts"]["Action"], status["counts"]["Episode"]) == (1, 2)


async def test_a_claim_is_kept_as_an_observation_with_its_triple_time_and_origin(memory: MemoryClient) -> None:
    """T7"""
    said = {"sender": "Zoe", "content": "I moved to Porto last Friday.", "message_id": "m", "timestamp": "2025-05-07"}
    recorded = await memory("record_messages", session_id="s", messages=[said])
    assert recorded["observations"] == 1
    [found] = await provenance(memory, "m", "OBSERVED_IN")
    observation = await memory("get_memory", id=found["id"])
    kept = observation["memory"]
    recorded_at = kept.pop("recorded_at")
    assert kept == {
        "observation_id": found["id"],
        "content": "Zoe moved to Porto last Friday [2025-05-02].",
        "subject": "Zoe",
        "predicate": "moved to",
        "object": "Porto",
        "confidence": 0.9,
        "observed_at": "2025-05-07T00:00:00Z",
        "about_from": "2025-05-02T00:00:00Z",
        "about_to": "2025-05-03T00:00:00Z",
        "visibility": "shared",
        "recorded_by": "assistant",
        "method": "rules",
    }
    assert recorded_at > kept["observed_at"]
    linked = {(p["relation"], p["direction"], p["kind"]): p["id"] for p in observation["provenance"]}
    assert linked == {
        ("EVIDENCE", "out", "Message"): "m",
        ("OBSERVED_IN", "out", "Message"): "m",
        ("ABOUT", "out", "Entity"): entity_id("Zoe"),
        ("RECORDED_BY", "out", "Participant"): "assistant",
    }
    assert observation["provenance"][0]["sender"] == "Zoe"
    assert (await memory("record_messages", session_id="s", messages=[said]))["observations"] == 0


async def test_an_observation_needs_its_message_and_carries_its_date(memory: MemoryClient) -> None:
    """T7: a message dated last year, stored today."""
    with pytest.raises(NotFoundError, match="message_id: there is no message 'm'"):
        await memory("add_observation", message_id="m", content="Ana likes tea", subject="Ana")
    said = {"sender": "ana", "content": "I like tea", "message_id": "m", "timestamp": "2025-02-03"}
    await memory("record_messages", session_id="s", messages=[said])
    added = await memory("add_observation", message_id="m", content="Ana likes tea", subject="Ana", confidence=0.9)
    found = await memory("get_memory", id=added["observation_id"])
    assert found["memory"]["observed_at"] == "2025-02-03T00:00:00Z"
    assert [p["text"] for p in found["provenance"] if p["relation"] == "ABOUT"] == ["ana"]
    assert found["provenance"][0]["relation"] == "EVIDENCE"


async def test_the_context_of_a_goal_holds_what_bears_on_it_and_its_subgoals(memory: MemoryClient) -> None:
    await memory("create_goal", goal_id="g", title="Migrate billing")
    await memory("create_goal", goal_id="sub", title="Dry run", parent_goal_id="g")
    await memory("create_task", task_id="t1", title="copy", goal_id="g", status="done")
    await memory("create_task", task_id="t2", title="compare", goal_id="sub", priority=0.9)
    await memory("create_task", task_id="other", title="elsewhere")
    said = [{"sender": "ana", "content": f"line {n}", "message_id": f"m{n}"} for n in range(3)]
    await memory("record_messages", session_id="s", messages=said, goal_id="g", topic="kick-off")
    await memory("record_messages", session_id="x", messages=[{"sender": "bo", "content": "unrelated"}])
    await memory(
        "add_observation", observation_id="o", message_id="m1", content="Invoices are late", subject="Invoices"
    )
    await memory("assert_fact", subject="Invoices", predicate="are", object="late", supporting_observation_ids=["o"])
    context = await memory("goal_context", goal_id="g")
    assert (context["found"], context["goal"]["title"]) == (True, "Migrate billing")
    assert [goal["goal_id"] for goal in context["subgoals"]] == ["sub"]
    assert [task["task_id"] for task in context["tasks"]] == ["t2", "t1"]
    assert [session["topic"] for session in context["sessions"]] == ["kick-off"]
    assert [message["message_id"] for message in context["recent_messages"]] == ["m2", "m1", "m0"]
    assert [fact["object"] for fact in context["facts"]] == ["late"]
    assert [entity["name"] for entity in context["entities"]] == ["Invoices"]
    assert context["truncated"] is False


async def test_the_context_of_a_goal_tells_nothing_of_another_agent_s_private_observations(
    memory: MemoryClient,
) -> None:
    """S2: neither the facts that rest on one nor the things that it is about."""
    await memory("create_goal", goal_id="g", title="g")
    said = [{"sender": "ana", "content": "ok", "message_id": "m"}]
    await memory("record_messages", session_id="s", messages=said, goal_id="g")
    await memory(
        "add_observation", observation_id="o", message_id="m", content="x", subject="Merger", visibility="private"
    )
    await memory("assert_fact", subject="Merger", predicate="is", object="on", supporting_observation_ids=["o"])
    mine = await memory("goal_context", goal_id="g")
    others = await memory.as_agent("other")("goal_context", goal_id="g")
    assert [(e["name"], e["mentions"]) for e in mine["entities"]] == [("Merger", 1)]
    assert [fact["object"] for fact in mine["facts"]] == ["on"]
    assert (others["entities"], others["facts"]) == ([], [])


async def test_a_node_with_many_neighbours_lists_the_newest_with_what_their_edges_hold(memory: MemoryClient) -> None:
    await memory("assert_fact", fact_id="new", subject="a", predicate="p", object="new")
    for number in range(25):
        await memory("assert_fact", fact_id=f"old-{number:02d}", subject="a", predicate="q", object=str(number))
        await memory("invalidate_fact", fact_id=f"old-{number:02d}", replacement_fact_id="new", reason=f"r{number}")
    replaced = await provenance(memory, "new", "INVALIDATES")
    assert [(p["id"], p["properties"]["reason"]) for p in replaced] == [
        (f"old-{number:02d}", f"r{number}") for number in range(24, 4, -1)
    ]


async def test_a_goal_context_stays_in_its_budget_and_says_what_it_left_out(memory: MemoryClient) -> None:
    """S1: whole items only."""
    await memory("create_goal", goal_id="g", title="g")
    said = [{"sender": "ana", "content": f"{n} " + "word " * 60} for n in range(60)]
    await memory("record_messages", session_id="s", messages=said, goal_id="g")
    context = await memory("goal_context", goal_id="g", token_budget=1_000)
    assert len(str(context)) / 3 < 1_300
    assert context["truncated"] is True
    assert context["left_out"]["recent_messages"] == 60 - len(context["recent_messages"])
    assert all(message["content"].endswith("word ") for message in context["recent_messages"])


async def test_the_facts_of_a_goal_come_by_relevance_and_then_by_age(memory: MemoryClient) -> None:
    await memory("create_goal", goal_id="g", title="Migrate the invoices", description="to the new ledger")
    said = [{"sender": "ana", "content": "Let us talk about Acme.", "message_id": "m"}]
    await memory("record_messages", session_id="s", messages=said, goal_id="g")
    await memory("add_observation", observation_id="o", message_id="m", content="About Acme", subject="Acme")
    for fact_id, predicate, value in (
        ("invoices", "keeps its invoices in", "the old ledger"),
        ("coffee", "drinks", "coffee"),
        ("cake", "eats", "cake"),
    ):
        await memory("assert_fact", fact_id=fact_id, subject="Acme", predicate=predicate, object=value)
    assert await memory.services.recollection.settled(60)
    context = await memory("goal_context", goal_id="g")
    assert [fact["fact_id"] for fact in context["facts"]] == ["invoices", "cake", "coffee"]


async def test_a_goal_context_says_so_where_there_is_more_than_it_ever_shows(memory: MemoryClient) -> None:
    """S1"""
    await memory("create_goal", title="g", goal_id="g")
    said = [{"sender": "ana", "content": f"{number}"} for number in range(101)]
    await memory("record_messages", session_id="s", goal_id="g", messages=said)
    context = await memory("goal_context", goal_id="g", token_budget=100_000)
    assert len(context["recent_messages"]) == 100
    assert (context["truncated"], context["left_out"]) == (True, {"recent_messages": 1})


async def test_an_unknown_goal_has_no_context(memory: MemoryClient) -> None:
    """S4"""
    assert await memory("goal_context", goal_id="ghost") == {
        "found": False,
        "subgoals": [],
        "tasks": [],
        "sessions": [],
        "recent_messages": [],
        "facts": [],
        "entities": [],
        "truncated": False,
        "left_out": {},
        "scope": "goal ghost and its subgoals",
    }


async def test_everything_is_there_after_closing_and_opening_again(memory: MemoryClient) -> None:
    await memory("create_goal", goal_id="g", title="g")
    await memory("record_messages", session_id="s", messages=[{"sender": "a", "content": "x", "message_id": "m"}])
    before = await memory("get_memory", id="m")
    await memory.services.store.close()
    async with open_services(memory.services.settings) as services:
        again = MemoryClient(services, memory.agent_id)
        assert await again("get_memory", id="m") == before
        assert (await again("list_goals"))["total"] == 1
