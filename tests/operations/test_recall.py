"""Recall through the catalogue, by words alone: read after write, filters before ranking, honest results."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.client import MemoryClient
from tests.cross_encoder import cache_cross_encoder
from uniko_mcp.config import EmbeddingSettings, RecallSettings, Settings
from uniko_mcp.errors import InvalidArgumentsError
from uniko_mcp.operations.call import open_services

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "memory", embedding=EmbeddingSettings(model="none"))


async def say(
    memory: MemoryClient, *contents: str, session: str = "s", sender: str = "ana", **fields: Any
) -> list[str]:
    messages = [{"sender": sender, "content": content, **fields} for content in contents]
    recorded = await memory("record_messages", session_id=session, messages=messages)
    return recorded["message_ids"]


def evidence(found: dict[str, Any]) -> list[str]:
    """The messages behind the items, in order, each once."""
    return list(dict.fromkeys(s["message_id"] for item in found["items"] for s in item["sources"] if "message_id" in s))


async def test_what_a_call_acknowledged_the_next_recall_finds(memory: MemoryClient) -> None:
    for number in range(20):
        [said] = await say(memory, f"The launch code of rocket {number} is zeta{number}.")
        found = await memory("recall", query=f"zeta{number}", limit=1)
        assert evidence(found) == [said]


async def test_an_item_names_its_sources_and_whether_it_was_said_or_derived(memory: MemoryClient) -> None:
    [said] = await say(memory, "I moved to Porto last Friday.", timestamp="2025-05-07")
    found = await memory("recall", query="When did ana move to Porto?")
    item = found["items"][0]
    assert item["timestamp"] == "2025-05-07T00:00:00Z"
    assert item["sources"] == [{"message_id": said, "session_id": "s", "sender": "ana"}]
    assert item["derived"] is (item["kind"] == "observation")
    assert found["notes"] == ["Semantic search is switched off; memories were found by their words."]


async def test_a_relative_date_in_a_claim_is_a_date_of_its_message(memory: MemoryClient) -> None:
    """T7: "last Friday" of a message of May 2025 is a date in May 2025."""
    await say(memory, "I moved to Porto last Friday.", timestamp="2025-05-07")
    found = await memory("recall", query="ana Porto", kinds=["observation"])
    assert "2025-05-02" in found["items"][0]["text"]


async def test_the_time_window_filters_before_ranking(memory: MemoryClient) -> None:
    """T8: 200 recent distractors, one match last week, query "last week"."""
    [wanted] = await say(memory, "We chose the blue logo.", timestamp="2026-03-04T10:00:00Z")
    await say(
        memory, *(f"The logo, the logo! Draft {n} of the logo." for n in range(200)), timestamp="2026-03-11T09:00:00Z"
    )
    found = await memory("recall", query="Which logo did we choose last week?", reference_time="2026-03-11T12:00:00Z")
    assert evidence(found)[0] == wanted


async def test_since_and_until_are_instants_and_a_date_covers_its_day(memory: MemoryClient) -> None:
    """T6"""
    await say(memory, "The gate is red.", timestamp="2026-03-01T10:00:00Z")
    await say(memory, "The gate is green.", timestamp="2026-03-01T23:30:00+05:30")
    await say(memory, "The gate is blue.", timestamp="2026-03-02")

    async def colours(**window: str) -> set[str]:
        found = await memory("recall", query="gate", kinds=["message"], limit=10, **window)
        return {item["text"].split()[-1].rstrip(".") for item in found["items"]}

    assert await colours(since="2026-03-01", until="2026-03-01") == {"red", "green"}
    assert await colours(since="2026-03-01T12:00:00+01:00") == {"green", "blue"}
    assert await colours(until="2026-03-01T10:00:00Z") == {"red"}


async def test_near_duplicates_that_differ_in_a_value_are_both_kept(memory: MemoryClient) -> None:
    """T9"""
    for one, other in (("500 ms", "900 ms"), ("port 8080", "port 8443")):
        await say(memory, f"The timeout of the gateway is {one}.", f"The timeout of the gateway is {other}.")
        found = await memory("recall", query=f"timeout of the gateway {one} {other}", limit=10)
        texts = " ".join(item["text"] for item in found["items"])
        assert one in texts
        assert other in texts


async def test_equal_texts_take_one_place_and_leave_room_for_others(memory: MemoryClient) -> None:
    await say(memory, *["The server is called Hermes."] * 8, "Hermes runs on port 8080.")
    found = await memory("recall", query="Hermes server", limit=3)
    assert any("8080" in item["text"] for item in found["items"])


@pytest.mark.parametrize("query", ["", "   ", "\t\n"])
async def test_a_blank_query_is_refused(memory: MemoryClient, query: str) -> None:
    """I2"""
    with pytest.raises(InvalidArgumentsError, match=r"query: (is blank|must not be empty)"):
        await memory("recall", query=query)


@pytest.mark.parametrize(
    "query", ["the of and", "?!...", "*", '"', "a/b", "'", "NEAR(", "OR", "x" * 20_000, "the " * 5_000]
)
async def test_a_query_that_says_nothing_never_returns_everything(memory: MemoryClient, query: str) -> None:
    """I2"""
    await say(memory, *(f"Message number {n} about trains." for n in range(30)))
    found = await memory("recall", query=query, limit=200)
    assert len(found["items"]) < 5


@pytest.mark.parametrize(
    ("query", "said"),
    [("don't eat", "I don't eat fish."), ("pre-edit", "Use the pre-edit hook."), ("a/b test", "The a/b test won.")],
)
async def test_words_with_marks_in_them_are_found(memory: MemoryClient, query: str, said: str) -> None:
    """I2"""
    [wanted] = await say(memory, said)
    await say(memory, "Something else.", "And more of it.")
    assert evidence(await memory("recall", query=query))[:1] == [wanted]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("404", "The page answers with error 404."),
        ("1234", "Ticket 1234 is open."),
        ("v2.3.1", "We deployed v2.3.1 today."),
        ("2.3.1", "We deployed v2.3.1 today."),
        ("東京", "私は東京に住む。"),
        ("cafe", "Das Café ist zu."),
        ("Strasse", "Die Straße ist lang."),
        ("snake_case", "Call the function snake_case_name now."),
        ("bar.py", "The bug is in foo/bar.py at line 3."),
    ],
)
async def test_digits_identifiers_accents_and_scripts_without_spaces_are_found(
    memory: MemoryClient, query: str, said: str
) -> None:
    """I3"""
    [wanted] = await say(memory, said)
    await say(memory, "Something else.", "The weather is fine.", "We talked about trains.")
    assert evidence(await memory("recall", query=query))[:1] == [wanted]


async def test_private_knowledge_is_not_recalled_for_others(memory: MemoryClient) -> None:
    """S2"""
    await memory("assert_fact", subject="user", predicate="earns", object="a fortune", visibility="private")
    assert (await memory("recall", query="what does the user earn"))["items"]
    assert (await memory.as_agent("other")("recall", query="what does the user earn"))["items"] == []


async def test_what_is_no_longer_true_is_left_out_unless_asked_for(memory: MemoryClient) -> None:
    await memory("assert_fact", fact_id="old", subject="office", predicate="is in", object="Lisbon")
    await memory("assert_fact", fact_id="new", subject="office", predicate="is in", object="Porto", supersede=True)
    found = await memory("recall", query="where is the office")
    assert [item["id"] for item in found["items"]] == ["new"]
    everything = await memory("recall", query="where is the office", include_superseded=True)
    assert {item["id"] for item in everything["items"]} == {"old", "new"}


async def test_filters_name_what_was_searched(memory: MemoryClient) -> None:
    """S4: an unknown conversation is empty, and the scope says so."""

    async def sources(**filters: Any) -> set[tuple[str, str]]:
        found = await memory("recall", query="key", **filters)
        return {(source["session_id"], source["sender"]) for item in found["items"] for source in item["sources"]}

    await memory("create_goal", goal_id="g", title="g")
    said = [{"sender": "ana", "content": "The key is under the mat."}]
    await memory("record_messages", session_id="in", goal_id="g", messages=said)
    await say(memory, "The key is lost.", session="out", sender="bo")
    assert await sources() == {("in", "ana"), ("out", "bo")}
    assert await sources(goal_id="g") == {("in", "ana")}
    assert await sources(participants=["bo"]) == {("out", "bo")}
    assert await sources(session_ids=["out"]) == {("out", "bo")}
    unknown = await memory("recall", query="key", session_ids=["ghost"])
    assert unknown["items"] == []
    assert "conversations ghost" in unknown["scope"]


async def test_a_result_keeps_to_its_budget_with_whole_items(memory: MemoryClient) -> None:
    """S1: 800 observations on one entity."""
    await say(memory, *(f"The sensor reads {n} degrees in hall {n % 7}." for n in range(800)))
    found = await memory("recall", query="What does the sensor read?", limit=200, token_budget=1_000)
    assert found["tokens"] <= 1_000
    assert found["truncated"] is True
    assert found["total_considered"] >= 800
    assert all(item["text"].endswith(".") for item in found["items"])


async def test_what_a_named_thing_is_linked_to_counts(memory: MemoryClient) -> None:
    await say(memory, "Marcus Webb joined Acme Corp in Berlin.", "The weather is fine.")
    found = await memory("recall", query="Where does Marcus Webb work?", explain=True)
    assert found["items"][0]["why"]["links"] > 0


async def test_a_cross_encoder_that_cannot_be_had_is_said_and_changes_nothing(tmp_path: Path) -> None:
    """C4"""
    settings = Settings(
        data_dir=tmp_path / "memory",
        embedding=EmbeddingSettings(model="none", download=False),
        recall=RecallSettings(rerank=True),
    )
    async with open_services(settings) as services:
        memory = MemoryClient(services, "assistant")
        [said] = await say(memory, "The vault opens at dawn.")
        found = await memory("recall", query="When does the vault open?")
    assert evidence(found) == [said]
    assert any("cross-encoder" in note for note in found["notes"])


async def test_a_cross_encoder_judges_where_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache_cross_encoder(tmp_path / "uniko-mcp" / "models")
    settings = Settings(
        data_dir=tmp_path / "memory",
        embedding=EmbeddingSettings(model="none", download=False),
        recall=RecallSettings(rerank=True),
    )
    async with open_services(settings) as services:
        memory = MemoryClient(services, "assistant")
        await say(memory, "The vault opens at dawn.", "The vault, which is old and made of steel, opens at dawn or so.")
        with anyio.fail_after(60):
            while True:  # it is loaded beside the first recalls
                found = await memory("recall", query="When does the vault open?", kinds=["message"], explain=True)
                if not any("cross-encoder" in note for note in found["notes"]):
                    break
    assert found["items"][0]["text"] == "The vault opens at dawn."
    assert all("cross_encoder" in item["why"] for item in found["items"])


async def test_the_same_question_gets_the_same_answer(memory: MemoryClient) -> None:
    await say(memory, *(f"Train {n} leaves from platform {n % 5}." for n in range(40)))
    first = await memory("recall", query="Which train leaves from platform 3?", explain=True)
    assert await memory("recall", query="Which train leaves from platform 3?", explain=True) == first
    assert all(item["why"] for item in first["items"])


async def test_an_index_that_was_lost_is_built_anew(memory: MemoryClient) -> None:
    [said] = await say(memory, "The vault opens at dawn.")
    assert evidence(await memory("recall", query="vault")) == [said]
    settings = memory.services.settings
    await memory.services.recollection.close()
    await memory.services.store.close()
    shutil.rmtree(settings.data_dir / "index")
    async with open_services(settings) as services:
        assert evidence(await MemoryClient(services, "assistant")("recall", query="vault")) == [said]
