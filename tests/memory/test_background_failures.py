"""The background reader when its model fails: what is tried again and when, what is given up, and that nobody waits."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest
from anyio import to_thread

from tests.llm_server import AGAINST_POLICY, HANG, MALFORMED, MODEL, Reply, failure, llm_server, message
from tests.memory.background_reading import (
    AT,
    KEY,
    NOTHING,
    PATIENCE,
    asked,
    claims,
    failed,
    observations,
    read_all,
    reading,
    record,
    said,
)
from uniko_mcp.memory.unread import count_unread
from uniko_mcp.store import Store

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("key_in_the_environment")]


@pytest.mark.parametrize(
    ("reply", "attempts"),
    [
        (failure(429), 3),
        (failure(500), 3),
        (failure(401), 1),
        (MALFORMED, 1),
        (message(None), 1),
        (message("I found no claims."), 1),
        (message('{"claims": [{"message": 1}]}'), 1),
    ],
)
async def test_a_failure_is_tried_again_until_it_passes(store: Store, reply: Reply, attempts: int) -> None:
    await record(store, said("m1", "Hm."))
    status, requests = await read_all(store, *[reply] * attempts, claims("Ana owns a boat."))
    assert list(await observations(store)) == ["Ana owns a boat."]
    assert len(requests) == attempts + 1
    assert (status.state, status.pending, status.warnings) == ("idle", 0, [])


async def test_while_the_model_fails_the_status_says_why_and_warns(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    await record(store, said("m1", "The secret is out."))
    with caplog.at_level(logging.DEBUG), llm_server(failure(401, f"bad key {KEY} for The secret is out.")) as server:
        async with reading(store, server) as reader:
            reader.wake()
            status = await failed(reader)
            assert not await reader.settled(0)
    assert status.state == "unavailable"
    assert (status.model, status.pending, status.skipped) == (MODEL, 1, 0)
    assert status.reason is not None
    assert "refused the key" in status.reason
    assert status.warnings == [f"New messages are read by rules alone at present: {status.reason}"]
    assert "refused the key" in caplog.text
    for hidden in (KEY, "secret"):
        assert hidden not in f"{caplog.text}{status}"


@pytest.mark.parametrize(
    "bad", [message("I will not answer."), message(None, finish_reason="content_filter"), AGAINST_POLICY, failure(413)]
)
async def test_a_message_that_never_leads_to_claims_is_left_out_and_keeps_nothing_else_from_being_read(
    store: Store, bad: Reply
) -> None:
    await record(store, said("m1", "Poison."), said("m2", "I own a boat."))
    status, requests = await read_all(store, bad, bad, claims("Ana owns a vessel."), bad)
    assert [[line["text"] for line in asked(request)] for request in requests] == [
        ["Poison.", "I own a boat."],
        ["Poison."],
        ["I own a boat."],
        ["Poison."],
        ["Poison."],
    ]
    assert list(await observations(store)) == ["Ana owns a vessel."]
    assert (status.state, status.pending, status.skipped) == ("idle", 0, 1)
    assert status.warnings == ["Messages on which the language model gave no claims, until the next start: 1"]


@pytest.mark.parametrize("status_code", [400, 422])
async def test_a_message_that_the_provider_refuses_though_it_takes_others_is_left_out(
    store: Store, status_code: int
) -> None:
    await record(store, said("old", "I own a boat."), session="old")
    await record(store, said("new", "Refused.", at=AT + 1), session="new")
    refused = failure(status_code)
    status, requests = await read_all(store, refused, claims("Ana owns a vessel."), refused)
    texts = [line["text"] for request in requests for line in asked(request)]
    assert texts == ["Refused.", "I own a boat.", "Refused.", "Refused.", "Refused."]
    assert (status.state, status.pending, status.skipped) == ("idle", 0, 1)


async def test_no_message_is_left_out_for_a_provider_that_takes_none(store: Store) -> None:
    await record(store, said("m1", "I own a boat."))
    status, requests = await read_all(store, *[failure(400)] * 5, claims("Ana owns a vessel."))
    assert len(requests) == 6
    assert (status.pending, status.skipped) == (0, 0)


@pytest.mark.parametrize(
    ("bad", "state", "warning"),
    [
        (AGAINST_POLICY, "reading", "The language model is asked again about some messages: "),
        (failure(400), "unavailable", "New messages are read by rules alone at present: "),
    ],
)
async def test_a_message_that_comes_in_does_not_wait_for_one_that_failed(
    store: Store, bad: Reply, state: str, warning: str
) -> None:
    announced = threading.Event()
    store.on_commit(lambda commit: announced.set())
    await record(store, said("m1", "Refused."), session="s1")
    await to_thread.run_sync(announced.wait)  # or the reader may hear of it once more while it rests
    with llm_server(bad, claims("Ana owns a vessel."), bad) as server:
        async with reading(store, server, retry_seconds=10**6) as reader:
            reader.wake()
            status = await failed(reader)
            assert (status.state, status.pending, status.skipped) == (state, 1, 0)
            assert status.warnings == [f"{warning}{status.reason}"]
            await record(store, said("m2", "I own a boat."), session="s2")
            async with asyncio.timeout(PATIENCE):
                while not await observations(store):
                    pass
    assert [line["text"] for line in asked(server.requests[1])] == ["I own a boat."]


@pytest.mark.parametrize(
    ("away", "attempts"), [(failure(401), 1), (failure(404), 1), (failure(429), 3), (failure(503), 3)]
)
async def test_after_the_model_was_away_the_latest_messages_are_read_first_and_as_many_at_once(
    store: Store, away: Reply, attempts: int
) -> None:
    await record(store, said("old", "Old."), session="old")
    await record(store, said("new1", "New 1.", at=AT + 1), said("new2", "New 2.", at=AT + 1), session="new")
    _, requests = await read_all(store, *[away] * (2 * attempts), NOTHING)
    texts = [[line["text"] for line in asked(request)] for request in requests]
    assert texts == [*[["New 1.", "New 2."]] * (2 * attempts + 1), ["Old."]]


async def test_what_failed_one_after_another_is_read_first_once_the_model_answers(store: Store) -> None:
    for place, id in enumerate(("old", "middle", "new")):
        await record(store, said(id, id, at=AT + place), session=id)
    attempts = 3
    _, requests = await read_all(store, *[failure(500)] * (2 * attempts), NOTHING)
    texts = [line["text"] for request in requests for line in asked(request)]
    assert texts == [*["new"] * attempts, *["middle"] * attempts, "old", "new", "middle"]


async def test_a_message_that_the_provider_refuses_waits_for_the_others(store: Store) -> None:
    await record(store, said("old", "I own a boat."), session="old")
    await record(store, said("new", "Refused.", at=AT + 1), session="new")
    refused = failure(400)
    status, requests = await read_all(store, refused, claims("Ana owns a vessel."), refused, NOTHING)
    texts = [line["text"] for request in requests for line in asked(request)]
    assert texts == ["Refused.", "I own a boat.", "Refused.", "Refused."]
    assert list(await observations(store)) == ["Ana owns a vessel."]
    assert (status.pending, status.skipped) == (0, 0)


async def test_after_a_failure_less_is_read_at_once(store: Store) -> None:
    await record(store, *(said(f"m{n}", f"Message {n}.") for n in range(8)))
    _, requests = await read_all(store, message("", finish_reason="length"), NOTHING)
    assert [len(asked(request)) for request in requests] == [8, 4, 4]
    assert asked(requests[0])[:4] == asked(requests[1])


async def test_a_model_that_hangs_keeps_neither_writes_nor_the_end_waiting(store: Store) -> None:
    with llm_server(HANG) as server:
        async with reading(store, server, seconds=10**6) as reader:
            reader.wake()
            await record(store, said("m1", "Hm."))
            await to_thread.run_sync(server.called.wait)
            await record(store, said("m2", "Hm again."))
            status = await reader.status()
            assert (status.state, status.pending) == ("reading", 2)
        assert len(server.requests) == 1
        assert not server.closing.is_set()
    assert await store.read(count_unread) == 2


async def test_a_request_that_takes_too_long_is_given_up_and_tried_again(store: Store) -> None:
    await record(store, said("m1", "Hm."))
    with llm_server(HANG, claims("Ana owns a boat.")) as server:
        async with reading(store, server, seconds=0.3) as reader:
            assert await reader.settled(PATIENCE)
    assert len(server.requests) >= 2
    assert list(await observations(store)) == ["Ana owns a boat."]
