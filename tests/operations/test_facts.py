"""Facts: reinforcement, conflicts, intervals, and questions about other moments."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.client import MemoryClient
from uniko_mcp.errors import IdConflictError, InvalidArgumentsError, NotFoundError

pytestmark = pytest.mark.anyio


def triples(found: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(fact["subject"], fact["predicate"], fact.get("object")) for fact in found["facts"]]


async def test_asserting_an_open_fact_again_reinforces_it_however_it_is_written(memory: MemoryClient) -> None:
    """T2: the same text twice is once as knowledge."""
    first = await memory("assert_fact", subject="User", predicate="prefers", object="Dark  Mode", confidence=0.6)
    again = await memory("assert_fact", subject="user", predicate="PREFERS", object="dark mode", confidence=0.8)
    assert (first["created"], again["created"]) == (True, False)
    assert again["fact"]["fact_id"] == first["fact"]["fact_id"]
    assert (again["fact"]["observation_count"], again["fact"]["confidence"]) == (2, 0.8)
    assert (await memory("search_facts"))["total"] == 1


async def test_a_resent_assertion_counts_once_whether_it_opened_or_reinforced(memory: MemoryClient) -> None:
    """W6: the same id sent again."""
    request = {"subject": "user", "predicate": "likes", "object": "tea"}
    first = await memory("assert_fact", fact_id="f1", **request)
    assert await memory("assert_fact", fact_id="f1", **request) == {**first, "created": False}
    await memory("assert_fact", fact_id="f2", **request)
    again = await memory("assert_fact", fact_id="f2", **request)
    assert (again["fact"]["fact_id"], again["fact"]["observation_count"]) == ("f1", 2)
    with pytest.raises(IdConflictError):
        await memory("assert_fact", fact_id="f1", subject="user", predicate="likes", object="coffee")


async def test_a_reinforcement_sent_again_counts_once_also_after_others_and_after_the_fact_was_closed(
    memory: MemoryClient,
) -> None:
    """W6"""
    request = {"subject": "user", "predicate": "likes", "object": "tea"}
    for fact_id in ("f1", "f2", "f3"):
        await memory("assert_fact", fact_id=fact_id, **request)
    again = await memory("assert_fact", fact_id="f2", **request)
    assert (again["created"], again["fact"]["fact_id"], again["fact"]["observation_count"]) == (False, "f1", 3)
    closed = await memory("invalidate_fact", fact_id="f1")
    for fact_id in ("f1", "f2", "f3"):
        assert (await memory("assert_fact", fact_id=fact_id, **request))["fact"] == closed["fact"]
    assert (await memory("search_facts", include_invalidated=True))["total"] == 1


async def test_a_contradiction_is_named_and_superseding_closes_it_with_a_reason(memory: MemoryClient) -> None:
    """T3: user prefers dark, then user prefers light."""
    dark = (await memory("assert_fact", subject="user", predicate="prefers", object="dark"))["fact"]
    light = await memory("assert_fact", subject="user", predicate="prefers", object="light")
    assert [fact["fact_id"] for fact in light["conflicts"]] == [dark["fact_id"]]
    assert (await memory("search_facts", subject="user"))["total"] == 2

    blue = await memory("assert_fact", subject="user", predicate="prefers", object="blue", supersede=True)
    assert len(blue["conflicts"]) == 2
    assert all("retracted_at" in fact for fact in blue["conflicts"])
    assert triples(await memory("search_facts", subject="user")) == [("user", "prefers", "blue")]
    found = await memory("get_memory", id=dark["fact_id"])
    replaced = [p for p in found["provenance"] if p["relation"] == "INVALIDATES"]
    assert [(p["direction"], p["id"], p["properties"]["reason"]) for p in replaced] == [
        ("in", blue["fact"]["fact_id"], "superseded")
    ]


async def test_an_unrelated_fact_about_the_same_subject_retires_nothing(memory: MemoryClient) -> None:
    """T4"""
    await memory("assert_fact", subject="user", predicate="prefers", object="dark")
    other = await memory("assert_fact", subject="user", predicate="lives in", object="Porto", supersede=True)
    assert other["conflicts"] == []
    assert (await memory("search_facts", subject="user"))["total"] == 2


async def test_changing_one_s_mind_keeps_both_as_said_and_the_newer_is_current(memory: MemoryClient) -> None:
    """T1: I love X, later I hate X."""
    memory.at = "2026-01-01T00:00:00Z"
    await memory("assert_fact", subject="ana", predicate="feels about olives", object="love")
    memory.at = "2026-06-01T00:00:00Z"
    await memory("assert_fact", subject="ana", predicate="feels about olives", object="hate", supersede=True)
    memory.at = "2026-07-01T00:00:00Z"
    assert [t[2] for t in triples(await memory("search_facts", subject="ana"))] == ["hate"]
    everything = await memory("search_facts", subject="ana", include_invalidated=True)
    assert [t[2] for t in triples(everything)] == ["hate", "love"]
    assert [t[2] for t in triples(await memory("search_facts", subject="ana", as_of="2026-03-01"))] == ["love"]


async def test_the_same_triple_true_twice_is_two_facts(memory: MemoryClient) -> None:
    """T5: Alex on Payments January to March, and again July to September; as of May there is none."""
    stay = {"subject": "Alex", "predicate": "works on", "object": "Payments"}
    first = await memory("assert_fact", **stay, valid_from="2025-01-01", valid_to="2025-03-31")
    second = await memory("assert_fact", **stay, valid_from="2025-07-01", valid_to="2025-09-30")
    assert (first["created"], second["created"]) == (True, True)
    for as_of, fact in (("2025-02-10", first), ("2025-03-31", first), ("2025-08-01T12:00:00Z", second)):
        found = await memory("search_facts", subject="alex", as_of=as_of)
        assert [f["fact_id"] for f in found["facts"]] == [fact["fact"]["fact_id"]]
    assert (await memory("search_facts", subject="alex", as_of="2025-05-15"))["facts"] == []
    assert (await memory("search_facts", subject="alex", as_of="2025-04-01T00:00:00Z"))["facts"] == []
    again = await memory("assert_fact", **stay, valid_from="2025-01-01", valid_to="2025-03-31")
    assert (again["created"], again["fact"]["observation_count"]) == (False, 2)


async def test_reasserting_a_closed_fact_opens_a_new_interval(memory: MemoryClient) -> None:
    memory.at = "2026-01-01T00:00:00Z"
    first = (await memory("assert_fact", subject="db", predicate="is", object="up"))["fact"]
    memory.at = "2026-02-01T00:00:00Z"
    await memory("invalidate_fact", fact_id=first["fact_id"], reason="outage")
    memory.at = "2026-03-01T00:00:00Z"
    again = await memory("assert_fact", subject="db", predicate="is", object="up")
    assert again["created"] is True
    assert again["fact"]["valid_from"] == "2026-03-01T00:00:00Z"
    assert (await memory("search_facts", subject="db", include_invalidated=True))["total"] == 2


async def test_what_was_known_at_a_moment_ignores_what_was_learned_later(memory: MemoryClient) -> None:
    """T10: the answer, its ordering and the fact as it is shown all use that moment."""
    memory.at = "2026-01-01T00:00:00Z"
    fact = (await memory("assert_fact", subject="alex", predicate="works on", object="Payments"))["fact"]
    memory.at = "2026-05-01T00:00:00Z"
    await memory("invalidate_fact", fact_id=fact["fact_id"], at="2026-03-01", reason="moved")
    await memory("assert_fact", subject="alex", predicate="works on", object="Search", valid_from="2026-03-01")

    known_in_april = await memory("search_facts", subject="alex", known_at="2026-04-01")
    assert known_in_april["facts"] == [fact]
    assert (await memory("search_facts", subject="alex", as_of="2026-03-15", known_at="2026-04-01"))["facts"] == [fact]
    now = await memory("search_facts", subject="alex", as_of="2026-03-15")
    assert [t[2] for t in triples(now)] == ["Search"]
    before = await memory("search_facts", subject="alex", as_of="2026-02-01")
    assert [t[2] for t in triples(before)] == ["Payments"]


async def test_an_earlier_beginning_and_more_confidence_are_known_only_since_they_were_said(
    memory: MemoryClient,
) -> None:
    """T10: reinforcing does not rewrite what was known before."""
    memory.at = "2026-01-01T00:00:00Z"
    job = {"subject": "alex", "predicate": "works on", "object": "Payments"}
    await memory("assert_fact", **job, valid_from="2025-06-01", confidence=0.5)
    memory.at = "2026-02-01T00:00:00Z"
    again = await memory("assert_fact", **job, valid_from="2024-01-01", confidence=0.9)
    assert (again["created"], again["fact"]["valid_from"]) == (False, "2024-01-01T00:00:00Z")

    (before,) = (await memory("search_facts", subject="alex", known_at="2026-01-15"))["facts"]
    assert (before["valid_from"], before["confidence"]) == ("2025-06-01T00:00:00Z", 0.5)
    assert (await memory("search_facts", subject="alex", as_of="2024-06-01", known_at="2026-01-15"))["total"] == 0
    for known_at in ({}, {"known_at": "2026-02-15"}):
        (now,) = (await memory("search_facts", subject="alex", as_of="2024-06-01", **known_at))["facts"]
        assert now == again["fact"]


async def test_what_was_answered_at_each_moment_is_what_was_known_then(memory: MemoryClient) -> None:
    """T10: whatever was asserted, superseded and invalidated, in any order."""
    random = Random(1)

    async def change(subject: str) -> None:
        year = random.randint(2020, 2030)
        known = (await memory("search_facts", subject=subject, include_invalidated=True))["facts"]
        if known and random.random() < 0.3:
            await memory("invalidate_fact", fact_id=random.choice(known)["fact_id"], at=str(year), reason="so it is")
            return
        await memory(
            "assert_fact",
            subject=subject,
            predicate="is",
            object=random.choice("ab"),
            confidence=random.choice((0.3, 0.6, 0.9)),
            supersede=random.random() < 0.5,
            valid_from=str(year),
            **({"valid_to": str(year + random.randint(0, 4))} if random.random() < 0.4 else {}),
        )

    async def answers(subject: str, **known_at: str) -> list[list[dict[str, Any]]]:
        asked = [{"as_of": str(year)} for year in range(2019, 2036, 4)]
        found = [await memory("search_facts", subject=subject, **each, **known_at) for each in [{}, *asked]]
        everything = await memory("search_facts", subject=subject, include_invalidated=True, **known_at)
        return [
            [{key: value for key, value in fact.items() if key != "observation_count"} for fact in each["facts"]]
            for each in (*found, everything)
        ]

    moments = [f"2026-01-{day:02}T00:00:00Z" for day in range(1, 9)]
    for number in range(3):
        subject = f"subject {number}"
        answered: dict[str, list[list[dict[str, Any]]]] = {}
        for memory.at in moments:
            await change(subject)
            answered[memory.at] = await answers(subject)
        for moment in moments:
            assert await answers(subject, known_at=moment) == answered[moment]


async def test_a_superseded_fact_stays_open_until_it_ends(memory: MemoryClient) -> None:
    """Its end was set and lies in the future: until then it is contradicted, reinforced and closed like any other."""
    memory.at = "2026-01-01T00:00:00Z"
    home = {"subject": "ana", "predicate": "lives in"}
    porto = (await memory("assert_fact", **home, object="Porto", valid_from="2020-01-01"))["fact"]
    rome = await memory("assert_fact", **home, object="Rome", valid_from="2035-01-01", supersede=True)
    assert [fact["valid_to"] for fact in rome["conflicts"]] == ["2035-01-01T00:00:00Z"]

    again = await memory("assert_fact", **home, object="Porto")
    assert (again["created"], again["fact"]["fact_id"], again["conflicts"]) == (False, porto["fact_id"], [])
    assert again["fact"]["valid_to"] == "2035-01-01T00:00:00Z"
    paris = await memory("assert_fact", **home, object="Paris", valid_from="2025-01-01", valid_to="2029-12-31")
    assert [fact["fact_id"] for fact in paris["conflicts"]] == [porto["fact_id"]]
    closed = await memory("invalidate_fact", fact_id=porto["fact_id"], at="2025-01-01", reason="moved")
    assert (closed["changed"], closed["fact"]["valid_to"]) == (True, "2025-01-01T00:00:00Z")
    assert (closed["fact"]["retraction_reason"], (await memory("search_facts"))["total"]) == ("moved", 1)


async def test_a_fact_that_outlasts_the_open_one_is_another_interval(memory: MemoryClient) -> None:
    memory.at = "2026-01-01T00:00:00Z"
    lease = {"subject": "office", "predicate": "is rented", "valid_from": "2020-01-01"}
    first = await memory("assert_fact", **lease, valid_to="2030-12-31")
    longer = await memory("assert_fact", **lease, valid_to="2040-12-31")
    shorter = await memory("assert_fact", **lease, valid_to="2029-12-31")
    assert longer["created"] is True
    assert shorter["created"] is False
    assert shorter["fact"]["fact_id"] == first["fact"]["fact_id"]
    assert shorter["fact"]["valid_to"] == "2030-01-01T00:00:00Z"


async def test_the_reason_for_which_a_fact_was_closed_is_kept_also_without_a_replacement(memory: MemoryClient) -> None:
    memory.at = "2026-01-01T00:00:00Z"
    await memory("assert_fact", fact_id="f", subject="db", predicate="is", object="down")
    memory.at = "2026-01-02T00:00:00Z"
    closed = await memory("invalidate_fact", fact_id="f", reason="a false alarm")
    assert closed["fact"]["retraction_reason"] == "a false alarm"
    assert (await memory("get_memory", id="f"))["memory"]["retraction_reason"] == "a false alarm"
    (known_before,) = (await memory("search_facts", known_at="2026-01-01T12:00:00Z"))["facts"]
    assert {"retraction_reason", "retracted_at", "valid_to"}.isdisjoint(known_before)


async def test_a_fact_that_was_never_true_is_true_on_no_day(memory: MemoryClient) -> None:
    """T10: closed where it began, which lies within the day that is asked about."""
    fact = await memory("assert_fact", subject="db", predicate="is", object="down", valid_from="2026-03-01T10:00:00Z")
    await memory("invalidate_fact", fact_id=fact["fact"]["fact_id"], at="2026-03-01", reason="a false alarm")
    for as_of in ("2026-03-01", "2026-03", "2026-03-01T10:00:00Z"):
        assert (await memory("search_facts", subject="db", as_of=as_of))["total"] == 0
    assert (await memory("search_facts", subject="db", include_invalidated=True))["total"] == 1


async def test_times_with_offset_without_and_date_only_are_compared_as_instants(memory: MemoryClient) -> None:
    """T6"""
    await memory("assert_fact", subject="a", predicate="p", object="1", valid_from="2026-03-01T10:00:00Z")
    await memory("assert_fact", subject="a", predicate="p", object="2", valid_from="2026-03-01T15:30:00+05:30")
    await memory("assert_fact", subject="a", predicate="p", object="3", valid_from="2026-03-01T10:00:01")
    at_ten = await memory("search_facts", subject="a", as_of="2026-03-01T12:00:00+02:00")
    assert sorted(t[2] or "" for t in triples(at_ten)) == ["1", "2"]
    assert (await memory("search_facts", subject="a", as_of="2026-03-01"))["total"] == 3
    assert (await memory("search_facts", subject="a", as_of="2026-02-28"))["total"] == 0


async def test_invalidating_needs_an_existing_replacement_and_an_existing_fact(memory: MemoryClient) -> None:
    """D3: an id that does not exist, close to one that does."""
    await memory("assert_fact", fact_id="fact-1", subject="a", predicate="p", object="1")
    with pytest.raises(NotFoundError, match="replacement_fact_id: there is no other fact 'fact-2'"):
        await memory("invalidate_fact", fact_id="fact-1", replacement_fact_id="fact-2")
    assert await memory("invalidate_fact", fact_id="fact-") == {"changed": False}
    assert (await memory("search_facts"))["total"] == 1


async def test_invalidating_twice_changes_nothing_the_second_time(memory: MemoryClient) -> None:
    await memory("assert_fact", fact_id="f", subject="a", predicate="p", object="1")
    await memory("assert_fact", fact_id="g", subject="a", predicate="q", object="2")
    first = await memory("invalidate_fact", fact_id="f", replacement_fact_id="g", reason="better")
    second = await memory("invalidate_fact", fact_id="f", reason="another")
    assert (first["changed"], second["changed"]) == (True, False)
    assert second["fact"] == first["fact"]
    reasons = [
        p["properties"]["reason"] for p in (await memory("get_memory", id="f"))["provenance"] if "properties" in p
    ]
    assert reasons == ["better"]


async def test_private_facts_are_not_there_for_other_agents(memory: MemoryClient) -> None:
    """S2, S3: neither found, nor fetched, nor closed, nor named as a conflict, nor reinforced."""
    secret = {"subject": "user", "predicate": "salary", "object": "100"}
    await memory("assert_fact", fact_id="mine", visibility="private", **secret)
    other = memory.as_agent("other")
    assert (await other("search_facts", subject="user", include_invalidated=True))["total"] == 0
    assert await other("get_memory", id="mine") == {"found": False, "provenance": [], "truncated": False}
    assert await other("invalidate_fact", fact_id="mine") == {"changed": False}
    assert (await other("assert_fact", subject="user", predicate="salary", object="90"))["conflicts"] == []
    assert (await other("assert_fact", **secret))["created"] is True
    assert (await memory("search_facts", object="100"))["total"] == 2


async def test_a_fact_that_ends_before_it_begins_is_refused(memory: MemoryClient) -> None:
    with pytest.raises(InvalidArgumentsError, match=r"valid_to: .* is not after valid_from"):
        await memory("assert_fact", subject="a", predicate="p", valid_from="2026-02-01", valid_to="2026-01-01")


async def test_a_fact_carries_the_date_of_its_evidence(memory: MemoryClient) -> None:
    """T7: a message dated last year, stored today."""
    said = {"sender": "ana", "content": "I moved to Porto", "message_id": "m1", "timestamp": "2025-05-02T09:00:00Z"}
    await memory("record_messages", session_id="s", messages=[said])
    observed = await memory(
        "add_observation", message_id="m1", content="Ana moved to Porto", subject="Ana", observation_id="o1"
    )
    assert observed == {"observation_id": "o1", "created": True}
    fact = await memory(
        "assert_fact", subject="Ana", predicate="lives in", object="Porto", supporting_observation_ids=["o1", "o2"]
    )
    assert fact["fact"]["valid_from"] == "2025-05-02T09:00:00Z"
    assert [link["id"] for link in fact["skipped_links"]] == ["o2"]
    evidence = [
        p for p in (await memory("get_memory", id=fact["fact"]["fact_id"]))["provenance"] if p["relation"] == "EVIDENCE"
    ]
    assert [(e["id"], e["text"], e["sender"], e["session_id"]) for e in evidence] == [
        ("m1", "I moved to Porto", "ana", "s")
    ]


async def test_words_of_a_query_must_all_occur(memory: MemoryClient) -> None:
    await memory("assert_fact", subject="server", predicate="answers with", object="error 404")
    await memory("assert_fact", subject="server", predicate="runs on", object="port 8080")
    assert (await memory("search_facts", query="SERVER 404"))["total"] == 1
    assert (await memory("search_facts", query="404 8080"))["total"] == 0


async def test_every_read_stays_under_the_token_budget_with_whole_items(memory: MemoryClient) -> None:
    """S1: 800 observations and facts on one entity."""
    said = [{"sender": "ana", "content": f"Reading {n}", "message_id": f"m{n}"} for n in range(800)]
    await memory("record_messages", session_id="s", messages=said)
    for number in range(800):
        await memory("add_observation", message_id=f"m{number}", content="x " * 50 + str(number), subject="sensor")
    for number in range(120):
        await memory("assert_fact", subject="sensor", predicate=f"reads {number}", object="v" * 600)
    page = await memory("search_facts", subject="sensor", limit=200)
    assert page["truncated"] is True
    assert page["total"] == 120
    assert all(fact["object"] == "v" * 600 for fact in page["facts"])
    rest = await memory("search_facts", subject="sensor", limit=200, cursor=page["next_cursor"])
    assert len(page["facts"]) + len(rest["facts"]) == 120
    entity = next(
        p["id"]
        for p in (await memory("get_memory", id=page["facts"][0]["fact_id"]))["provenance"]
        if p["kind"] == "Entity"
    )
    found = await memory("get_memory", id=entity)
    assert len(str(found)) < 60_000


async def test_what_is_said_to_be_true_now_is_true_now_though_it_was_known_for_later(memory: MemoryClient) -> None:
    memory.at = "2026-01-01T00:00:00Z"
    await memory("assert_fact", subject="door", predicate="is", object="open", valid_from="2030-01-01")
    again = await memory("assert_fact", subject="door", predicate="is", object="open")
    assert (again["created"], again["fact"]["valid_from"]) == (False, "2026-01-01T00:00:00Z")
    assert (await memory("search_facts", subject="door"))["total"] == 1


async def test_a_fact_that_ends_does_not_close_one_that_goes_on_after_it(memory: MemoryClient) -> None:
    await memory("assert_fact", subject="ana", predicate="lives in", object="home", valid_from="2020")
    stay = await memory(
        "assert_fact",
        subject="ana",
        predicate="lives in",
        object="hotel",
        valid_from="2024-01-01",
        valid_to="2024-06-30",
        supersede=True,
    )
    assert [("retracted_at" in fact, fact["object"]) for fact in stay["conflicts"]] == [(False, "home")]
    assert triples(await memory("search_facts", subject="ana")) == [("ana", "lives in", "home")]
