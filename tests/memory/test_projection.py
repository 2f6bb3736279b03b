"""What of the graph recall finds, and what it leaves unsaid: each kind of memory from its nodes to the result."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from uniko_mcp.config import EmbeddingSettings
from uniko_mcp.memory.recollection import Recollection
from uniko_mcp.models import json_text
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.recall.result import RecallItem
from uniko_mcp.store import Draft, Store
from uniko_mcp.store.index.documents import Source

pytestmark = pytest.mark.anyio


@pytest.fixture
async def recollection(store: Store, directory: Path) -> AsyncGenerator[Recollection]:
    recollection = Recollection(store, directory, EmbeddingSettings(model="none"), zone=UTC)
    recollection.start()
    yield recollection
    await recollection.close()


async def recalled(recollection: Recollection, query: str, *kinds: str, **more: Any) -> dict[str, RecallItem]:
    bundle = await recollection.recall(RecallQuery(query, kinds=kinds, **more))
    return {item.id: item for item in bundle.items}


def say(draft: Draft, id: str, text: str, *, sender: str = "ana", session: str = "s", at: int = 10) -> None:
    draft.put("Participant", sender, kind="human", name=sender)
    draft.put("Session", session)
    draft.put("Message", id, content=text, timestamp=at, ordinal=at)
    draft.link("SENT_BY", ("Message", id), ("Participant", sender))
    draft.link("IN_SESSION", ("Message", id), ("Session", session))


def observe(draft: Draft, id: str, message_id: str, text: str, *, private_to: str | None = None) -> None:
    visibility = "private" if private_to else "shared"
    draft.put("Observation", id, content=text, observed_at=10, visibility=visibility, recorded_by=private_to or "ana")
    draft.link("OBSERVED_IN", ("Observation", id), ("Message", message_id))


def believe(draft: Draft, id: str, text: str, *evidence: str, private_to: str | None = None) -> None:
    visibility = "private" if private_to else "shared"
    owner = private_to or "ana"
    draft.put(
        "Fact", id, subject=text, predicate="is", valid_from=5, recorded_at=90, visibility=visibility, recorded_by=owner
    )
    for observation_id in evidence:
        draft.link("SUPPORTED_BY", ("Fact", id), ("Observation", observation_id))


async def test_a_procedure_is_recalled_with_the_episodes_it_was_learnt_from(
    store: Store, recollection: Recollection
) -> None:
    def plan(draft: Draft) -> None:
        draft.put("Participant", "bot", kind="agent", name="bot")
        draft.put("Session", "s")
        draft.put("Episode", "e", action_type="deploy", text="Deployed", timestamp=20)
        draft.link("RECORDED_BY", ("Episode", "e"), ("Participant", "bot"))
        draft.link("IN_SESSION", ("Episode", "e"), ("Session", "s"))
        steps = json_text.dump(["Tag the release", {"run": "the pipeline"}])
        draft.put("Procedure", "p", name="Release", steps=steps, precondition="tests pass")
        draft.link("SUPPORTED_BY", ("Procedure", "p"), ("Episode", "e"))
        draft.put("Procedure", "bare", name="Release by hand")

    await store.write(plan)
    found = await recalled(recollection, "release pipeline", "Procedure")
    assert found["p"].text == 'Release: tests pass: Tag the release; {"run":"the pipeline"}'
    assert found["p"].sources == (Source(session_id="s", sender="bot", said_at=20),)
    assert (found["p"].timestamp, found["p"].derived) == (20, True)
    assert found["bare"].text == "Release by hand"
    assert set(await recalled(recollection, "release", "Procedure", session_ids=("s",))) == {"p"}


async def test_a_topic_is_recalled_with_what_belongs_to_it(store: Store, recollection: Recollection) -> None:
    def plan(draft: Draft) -> None:
        for number, sender in enumerate(("ana", "bo", "cy")):
            say(draft, f"m{number}", "well", sender=sender, at=10 + number)
        observe(draft, "o1", "m1", "so it is")
        observe(draft, "o2", "m2", "so it is too")
        believe(draft, "f", "it", "o2")
        draft.put("Topic", "t", name="Gardening", summary="How the beds are watered.")
        for kind, id in (("Message", "m0"), ("Observation", "o1"), ("Fact", "f")):
            draft.link("BELONGS_TO", (kind, id), ("Topic", "t"))
        draft.put("Topic", "bare", name="Gardening in winter")

    await store.write(plan)
    found = await recalled(recollection, "gardening", "Topic")
    assert set(found) == {"t", "bare"}
    assert found["t"].text == "Gardening: How the beds are watered."
    assert [source.message_id for source in found["t"].sources] == ["m0", "m1", "m2"]
    assert found["t"].timestamp == 10
    assert set(await recalled(recollection, "gardening", "Topic", participants=("CY",))) == {"t"}


async def test_a_topic_of_private_memories_alone_is_none_for_others(store: Store, recollection: Recollection) -> None:
    """S2."""

    def plan(draft: Draft) -> None:
        say(draft, "m", "well")
        observe(draft, "secret", "m", "so it is", private_to="bot")
        believe(draft, "hidden", "it", private_to="bot")
        draft.put("Topic", "t", name="Gardening")
        draft.link("BELONGS_TO", ("Observation", "secret"), ("Topic", "t"))
        draft.link("BELONGS_TO", ("Fact", "hidden"), ("Topic", "t"))

    await store.write(plan)
    assert await recalled(recollection, "gardening", "Topic") == {}
    await store.write(lambda draft: believe(draft, "open", "it"))
    await store.write(lambda draft: draft.link("BELONGS_TO", ("Fact", "open"), ("Topic", "t")))
    assert (await recalled(recollection, "gardening", "Topic"))["t"].sources == ()


async def test_a_shared_fact_does_not_tell_what_supports_it_privately(store: Store, recollection: Recollection) -> None:
    """S2: neither as a source nor by a filter."""

    def plan(draft: Draft) -> None:
        say(draft, "m1", "well", session="s1", at=10)
        say(draft, "m2", "hm", session="s2", at=20)
        say(draft, "m3", "oh", session="s3", at=30)
        observe(draft, "secret", "m1", "so it is", private_to="bot")
        observe(draft, "other", "m2", "so it is", private_to="other")
        observe(draft, "open", "m3", "so it is")
        believe(draft, "shared", "ledger", "secret", "other", "open")
        believe(draft, "mine", "ledger kept apart", "secret", "other", "open", private_to="bot")

    await store.write(plan)
    for viewer in ("bot", "nobody"):
        fact = (await recalled(recollection, "ledger", "Fact", viewer=viewer))["shared"]
        assert [source.message_id for source in fact.sources] == ["m3"]
        assert "shared" not in await recalled(recollection, "ledger", "Fact", viewer=viewer, session_ids=("s1",))
    own = (await recalled(recollection, "ledger", "Fact", viewer="bot"))["mine"]
    assert [source.message_id for source in own.sources] == ["m1", "m3"]
    assert set(await recalled(recollection, "ledger", "Fact", viewer="bot", session_ids=("s1",))) == {"mine"}


async def test_what_rests_on_a_forgotten_message_no_longer_names_it(store: Store, recollection: Recollection) -> None:
    """D1: in facts, summaries, topics and documents that were attached to it."""

    def plan(draft: Draft) -> None:
        say(draft, "kept", "a ledger", at=10)
        say(draft, "gone", "a secret ledger", at=20)
        for id in ("kept", "gone"):
            observe(draft, f"o-{id}", id, f"{id} ledger")
        believe(draft, "f", "ledger in Porto", "o-kept", "o-gone")
        draft.put("Summary", "sum", text="They spoke of a secret ledger.", created_at=30)
        draft.link("SUMMARIZES", ("Summary", "sum"), ("Session", "s"))
        draft.link("DERIVED_FROM", ("Summary", "sum"), ("Message", "gone"))
        draft.put("Topic", "t", name="The ledger", summary="It is secret.")
        draft.link("BELONGS_TO", ("Message", "kept"), ("Topic", "t"))
        draft.link("BELONGS_TO", ("Fact", "f"), ("Topic", "t"))
        draft.link("BELONGS_TO", ("Message", "gone"), ("Topic", "t"))
        draft.put("Artifact", "a", title="A ledger", created_at=40)
        draft.put("Chunk", "c", text="the ledger as a file", index=0)
        draft.link("HAS_CHUNK", ("Artifact", "a"), ("Chunk", "c"))
        draft.link("ATTACHED_TO", ("Artifact", "a"), ("Message", "gone"))

    async def everything() -> dict[str, RecallItem]:
        kinds = ("Message", "Observation", "Fact", "Summary", "Topic", "Chunk")
        return {
            id: item for kind in kinds for id, item in (await recalled(recollection, "ledger secret", kind)).items()
        }

    await store.write(plan)
    naming = [id for id, item in (await everything()).items() if "gone" in {s.message_id for s in item.sources}]
    assert naming == ["gone", "o-gone", "f", "sum", "t", "c"]
    await store.write(lambda draft: draft.set("Message", "gone", forgotten_at=50, content=""))
    for _ in range(2):
        after = await everything()
        assert list(after) == ["kept", "o-kept", "f", "t", "c"]
        assert all(source.message_id != "gone" for item in after.values() for source in item.sources)
        assert all("secret" not in item.text for item in after.values())
        await recollection.reindex()  # an index made anew says the same
    await store.write(lambda draft: draft.set("Message", "kept", forgotten_at=60))
    assert (await recalled(recollection, "ledger", "Fact"))["f"].sources == ()


async def test_what_rests_on_a_deleted_memory_no_longer_names_it(store: Store, recollection: Recollection) -> None:
    """D1: the graph does not know any more what rested on it."""

    def plan(draft: Draft) -> None:
        for number, id in enumerate(("kept", "gone")):
            say(draft, id, f"{id} ledger", at=10 + number)
            observe(draft, f"o-{id}", id, f"{id} ledger entry")
            draft.put("Chunk", f"c-{id}", text=f"{id} ledger page", index=0)
            draft.link("HAS_CHUNK", ("Message", id), ("Chunk", f"c-{id}"))
        believe(draft, "f", "ledger", "o-kept", "o-gone")

    async def found() -> dict[str, list[str | None]]:
        kinds = ("Message", "Observation", "Chunk", "Fact")
        return {
            id: [source.message_id for source in item.sources]
            for kind in kinds
            for id, item in (await recalled(recollection, "ledger", kind)).items()
        }

    await store.write(plan)
    assert (await found())["f"] == ["kept", "gone"]
    await store.write(lambda draft: draft.delete("Message", "gone"))
    assert await found() == {"kept": ["kept"], "o-kept": ["kept"], "c-kept": ["kept"], "f": ["kept"]}
    await store.write(lambda draft: draft.delete("Observation", "o-kept"))
    assert await found() == {"kept": ["kept"], "c-kept": ["kept"], "f": []}


async def test_a_message_that_is_remembered_again_is_found_with_what_rests_on_it(
    store: Store, recollection: Recollection
) -> None:
    def plan(draft: Draft) -> None:
        say(draft, "m", "a ledger")
        observe(draft, "o", "m", "one ledger")
        believe(draft, "f", "ledger", "o")

    async def sources() -> tuple[Source, ...]:
        return (await recalled(recollection, "ledger", "Fact"))["f"].sources

    await store.write(plan)
    before = await sources()
    await store.write(lambda draft: draft.set("Message", "m", forgotten_at=50))
    assert await sources() == ()
    await store.write(lambda draft: draft.set("Message", "m", forgotten_at=None))
    assert await sources() == before
    assert set(await recalled(recollection, "ledger", "Message", "Observation")) == {"m"}


async def test_a_topic_that_a_session_gets_later_is_that_of_all_that_was_said_in_it(
    store: Store, recollection: Recollection
) -> None:
    def plan(draft: Draft) -> None:
        say(draft, "m", "well")
        observe(draft, "o", "m", "so it is")
        draft.put("Summary", "sum", text="They agreed.", created_at=30)
        draft.link("SUMMARIZES", ("Summary", "sum"), ("Session", "s"))
        draft.put("Chunk", "c", text="well", index=0)
        draft.link("HAS_CHUNK", ("Message", "m"), ("Chunk", "c"))

    await store.write(plan)
    assert await recalled(recollection, "gardening") == {}
    await store.write(lambda draft: draft.set("Session", "s", topic="gardening"))
    for kind, id in (("Message", "m"), ("Observation", "o"), ("Summary", "sum"), ("Chunk", "c")):
        assert set(await recalled(recollection, "gardening", kind)) == {id}


async def test_a_summary_is_of_those_who_spoke(store: Store, recollection: Recollection) -> None:
    def plan(draft: Draft) -> None:
        say(draft, "m1", "well", sender="ana", at=10)
        say(draft, "m2", "hm", sender="bo", at=20)
        draft.put("Summary", "sum", text="A long talk.", created_at=30)
        draft.link("SUMMARIZES", ("Summary", "sum"), ("Session", "s"))
        for id in ("m1", "m2"):
            draft.link("DERIVED_FROM", ("Summary", "sum"), ("Message", id))

    await store.write(plan)
    summary = (await recalled(recollection, "long talk", participants=("bo",)))["sum"]
    assert [(source.message_id, source.sender) for source in summary.sources] == [("m1", "ana"), ("m2", "bo")]
    assert summary.timestamp == 30
    assert await recalled(recollection, "long talk", participants=("cy",)) == {}


async def test_a_fact_is_of_the_time_in_which_it_was_first_said(store: Store, recollection: Recollection) -> None:
    def plan(draft: Draft) -> None:
        say(draft, "m", "well", at=20)
        observe(draft, "o", "m", "so it is")
        believe(draft, "heard", "ledger heard", "o")
        believe(draft, "told", "ledger told")

    await store.write(plan)
    assert set(await recalled(recollection, "ledger", since=15, until=25)) == {"heard"}
    assert set(await recalled(recollection, "ledger", since=85, until=95)) == {"told"}
    assert set(await recalled(recollection, "ledger", reference_time=40, known_until=41)) == {"heard"}
    assert (await recalled(recollection, "ledger"))["heard"].timestamp == 5
