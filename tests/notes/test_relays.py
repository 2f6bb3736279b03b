"""Notes with honest relays: delivery, restarts of either side, several machines, and what relays forget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.notes.conftest import OpenNotes
from tests.notes.forge import Forge
from tests.notes.relays.hostile import HostileRelay
from tests.notes.relays.independent import IndependentRelay
from tests.notes.relays.local import AuthenticatingRelay, LocalRelay
from uniko_mcp.errors import LimitExceededError
from uniko_mcp.notes import NoteKind, Notes

pytestmark = pytest.mark.anyio
SHORT, LONG = NoteKind.SHORT_TERM, NoteKind.LONG_TERM
HonestRelay = LocalRelay | IndependentRelay


async def changed(notes: Notes) -> None:
    """Wait until a memory changes."""
    happened = asyncio.Event()
    leave = notes.on_save(lambda _: happened.set())
    async with asyncio.timeout(10):
        await happened.wait()
    leave()


async def test_a_save_reaches_the_relay_and_another_machine(
    relay: HonestRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to("one")
    forge.give_key_to("two")
    one = await open_notes(relay.url, machine="one")
    report = await one.save(SHORT, "written on one", wait_for_relays=True)
    assert [delivery.state for delivery in report.relays.values()] == ["accepted"]

    two = await open_notes(relay.url, machine="two")
    note = await two.read(SHORT)
    assert (note.content, note.event_id) == ("written on one", report.event_id)


async def test_a_save_on_one_machine_shows_on_the_other_while_both_run(
    relay: HonestRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to("one")
    forge.give_key_to("two")
    one, two = await open_notes(relay.url, machine="one"), await open_notes(relay.url, machine="two")
    await two.sync()
    hearing = asyncio.create_task(changed(two))
    await asyncio.sleep(0)
    await one.save(SHORT, "news", wait_for_relays=True)
    await hearing
    assert two.short_term_section().count("news") == 1


async def test_the_memory_survives_a_restart_of_relay_and_server(
    relay: HonestRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to("one")
    forge.give_key_to("two")
    one = await open_notes(relay.url, machine="one")
    await one.save(LONG, "kept", wait_for_relays=True)
    await one.close()
    await relay.stop()
    await relay.start()
    assert (await (await open_notes(relay.url, machine="two")).read(LONG)).content == "kept"


async def test_ten_saves_within_a_second_leave_the_last_one_on_every_relay(
    local_relay: LocalRelay, independent_relay: IndependentRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """N1: the last one wins, everywhere."""
    for machine in ("one", "two", "three"):
        forge.give_key_to(machine)
    one = await open_notes(local_relay.url, independent_relay.url, machine="one")
    for number in range(10):
        await one.save(SHORT, f"version {number}")
    assert (await one.sync()).pending_deliveries == 0
    for machine, relay in (("two", local_relay), ("three", independent_relay)):
        assert (await (await open_notes(relay.url, machine=machine)).read(SHORT)).content == "version 9"


async def test_a_relay_that_is_down_at_the_start_gets_the_memory_later(
    relay: HonestRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """N3: the local copy serves at once, the outbox delivers over a restart, nothing is overwritten by blank."""
    forge.give_key_to("one")
    forge.give_key_to("two")
    await relay.stop()
    one = await open_notes(relay.url, machine="one")
    report = await one.save(SHORT, "while it was down", wait_for_relays=True)
    assert report.relays[relay.url].state == "pending"
    status = await one.status()
    assert (status.pending_deliveries, status.relays[0].state) == (1, "unreachable")
    await one.close()

    one = await open_notes(relay.url, machine="one")
    assert (await one.read(SHORT)).content == "while it was down"
    assert (await one.sync()).pending_deliveries == 1
    await relay.start()
    status = await one.sync()
    assert (status.pending_deliveries, status.relays[0].state) == (0, "connected")
    assert (await (await open_notes(relay.url, machine="two")).read(SHORT)).event_id == report.event_id


async def test_a_relay_that_comes_up_is_served_without_being_asked_for(
    local_relay: LocalRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """N3: the link tries again by itself."""
    forge.give_key_to("one")
    forge.give_key_to("two")
    two = await open_notes(local_relay.url, machine="two")
    await two.sync()
    await local_relay.stop()
    one = await open_notes(local_relay.url, machine="one")
    await one.save(SHORT, "by itself")
    hearing = asyncio.create_task(changed(two))
    await asyncio.sleep(0)
    await local_relay.start()
    await hearing
    assert (await two.read(SHORT)).content == "by itself"


async def test_a_relay_that_is_unreachable_is_not_taken_for_blank(
    local_relay: LocalRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """N3: a machine that could not read saves; what the relay had stays in the history, and the save says so."""
    forge.give_key_to("one")
    forge.give_key_to("two")
    one = await open_notes(local_relay.url, machine="one")
    first = await one.save(SHORT, "first", wait_for_relays=True)
    await one.close()
    await local_relay.stop()

    two = await open_notes(local_relay.url, machine="two")
    note = await two.read(SHORT)
    assert note.content == ""
    assert "No relay has answered yet" in note.warnings[0]
    await local_relay.start()
    report = await two.save(SHORT, "second", wait_for_relays=True)
    assert report.overtaken is not None
    assert report.overtaken.event_id == first.event_id
    assert "Another writer" in report.warnings[0]
    assert [version.event_id for version in await two.history(SHORT)] == [report.event_id, first.event_id]


async def test_a_newer_version_of_another_machine_that_was_not_read_is_reported(
    local_relay: LocalRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to("one")
    forge.give_key_to("two")
    one, two = await open_notes(local_relay.url, machine="one"), await open_notes(local_relay.url, machine="two")
    await two.save(SHORT, "of two", wait_for_relays=True)
    await one.sync()
    hearing = asyncio.create_task(changed(two))
    await asyncio.sleep(0)
    await one.read(SHORT)
    of_one = await one.save(SHORT, "of one", wait_for_relays=True)
    assert of_one.overtaken is None
    await hearing
    report = await two.save(SHORT, "of two again")
    assert report.overtaken is not None
    assert report.overtaken.event_id == of_one.event_id
    assert not report.overtaken.current
    assert (await two.version(of_one.event_id)).content == "of one"


async def test_a_version_that_was_read_is_replaced_without_a_word(
    local_relay: LocalRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to("one")
    forge.give_key_to("two")
    one = await open_notes(local_relay.url, machine="one")
    await one.save(LONG, "of one", wait_for_relays=True)
    two = await open_notes(local_relay.url, machine="two")
    await two.read(LONG)
    report = await two.save(LONG, "of two", wait_for_relays=True)
    assert (report.overtaken, report.warnings) == (None, ())


async def test_a_save_that_is_older_than_another_machines_says_that_it_is_not_current(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """The other machine's clock is ahead by less than counts as a lie."""
    forge.give_key_to()
    notes = await open_notes(hostile_relay.url)
    await notes.sync()
    mine = await notes.save(SHORT, "mine")
    theirs = forge.event("theirs", age=-60)
    hostile_relay.behaviour.events = [theirs]
    await notes.sync()
    assert (await notes.read(SHORT)).content == "theirs"
    kept = [version.event_id for version in await notes.history(SHORT)]
    assert kept == [theirs["id"], mine.event_id]


async def test_a_relay_that_lost_the_memory_gets_it_again(
    local_relay: LocalRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to("one")
    forge.give_key_to("two")
    one = await open_notes(local_relay.url, machine="one")
    await one.save(SHORT, "kept here", wait_for_relays=True)
    await one.close()
    await local_relay.forget()
    one = await open_notes(local_relay.url, machine="one")
    assert (await one.sync()).pending_deliveries == 0
    assert (await (await open_notes(local_relay.url, machine="two")).read(SHORT)).content == "kept here"


async def test_what_one_relay_brings_is_carried_to_the_others(
    local_relay: LocalRelay, hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to("one")
    forge.give_key_to("two")
    two = await open_notes(local_relay.url, hostile_relay.url, machine="two")
    await two.sync()
    one = await open_notes(local_relay.url, machine="one")
    report = await one.save(SHORT, "for all", wait_for_relays=True)
    await hostile_relay.until_published()
    assert hostile_relay.published[0]["id"] == report.event_id


async def test_a_relay_with_an_older_event_does_not_roll_the_memory_back(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """N4: and it is given the newer one."""
    forge.give_key_to()
    notes = await open_notes(hostile_relay.url)
    hostile_relay.behaviour.events = [forge.event("old", age=1_000)]
    report = await notes.save(SHORT, "new", wait_for_relays=True)
    await notes.close()
    notes = await open_notes(hostile_relay.url)
    await hostile_relay.until_published(2)
    assert (await notes.read(SHORT)).content == "new"
    assert [event["id"] for event in hostile_relay.published] == [report.event_id] * 2
    assert len(await notes.history(SHORT)) == 2


async def test_among_dead_outdated_and_lying_relays_the_newest_honest_version_wins(
    local_relay: LocalRelay,
    hostile_relay: HostileRelay,
    open_notes: OpenNotes,
    forge: Forge,
    free_port: Callable[[], int],
) -> None:
    """N4"""
    forge.give_key_to("one")
    forge.give_key_to("two")
    one = await open_notes(local_relay.url, machine="one")
    newest = await one.save(SHORT, "newest", wait_for_relays=True)
    forged = {**forge.event("forged"), "sig": "0" * 128}
    stranger = forge.event("of a stranger", keys=forge.keys.generate())
    future = forge.event("of the future", age=-100_000)
    other_kind = forge.event("of another kind", kind=30_023)
    hostile_relay.behaviour.events = [forge.event("old", age=500), forged, stranger, future, other_kind]

    dead = f"ws://127.0.0.1:{free_port()}"
    two = await open_notes(dead, hostile_relay.url, local_relay.url, machine="two")
    status = await two.sync()
    assert (await two.read(SHORT)).event_id == newest.event_id
    assert [relay.state for relay in status.relays] == ["unreachable", "connected", "connected"]
    assert hostile_relay.published[-1]["id"] == newest.event_id


async def test_a_relay_that_wants_authentication_gets_it(
    authenticating_relay: AuthenticatingRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """NIP-42, by reading and by writing."""
    forge.give_key_to("one")
    forge.give_key_to("two")
    one = await open_notes(authenticating_relay.url, machine="one")
    report = await one.save(SHORT, "for members", wait_for_relays=True)
    assert report.relays[authenticating_relay.url].state == "accepted"
    two = await open_notes(authenticating_relay.url, machine="two")
    await two.sync()
    assert (await two.read(SHORT)).content == "for members"


@pytest.mark.parametrize("content", ["x" * 32_000, "\N{GRINNING FACE}" * 10_240])
async def test_the_largest_text_is_taken_by_every_relay(
    relay: HonestRelay, open_notes: OpenNotes, content: str
) -> None:
    """N2: 40,960 bytes make an event that relays take."""
    notes = await open_notes(relay.url)
    report = await notes.save(LONG, content, wait_for_relays=True)
    assert [delivery.state for delivery in report.relays.values()] == ["accepted"]


async def test_one_byte_more_than_relays_take_is_refused_before_anything_is_sent(
    hostile_relay: HostileRelay, open_notes: OpenNotes
) -> None:
    """N2: 40,961 bytes."""
    notes = await open_notes(hostile_relay.url)
    with pytest.raises(LimitExceededError, match="40,960 bytes with relays configured"):
        await notes.save(LONG, "\N{GRINNING FACE}" * 10_240 + "x")
    assert (await notes.status()).npub is None
    assert hostile_relay.published == []


async def test_a_dead_relay_delays_neither_saving_nor_reading(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """The relay accepts connections and then says nothing at all; save and read end while it is still waited for."""
    forge.give_key_to()
    hostile_relay.behaviour.end_of_stored = False
    notes = await open_notes(hostile_relay.url)
    await hostile_relay.until_read()
    await notes.save(SHORT, "at once")
    assert (await notes.read(SHORT)).content == "at once"
    assert (await notes.status()).relays[0].state == "connecting"
    assert hostile_relay.published == []


async def test_the_key_changed_and_the_relay_has_nothing_of_it(
    local_relay: LocalRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """N5: the relay answered, so the memory is known to be absent, and the npub is named."""
    notes = await open_notes(local_relay.url)
    await notes.save(SHORT, "of the first key", wait_for_relays=True)
    await notes.close()
    forge.give_key_to()
    notes = await open_notes(local_relay.url)
    await notes.sync()
    note = await notes.read(SHORT)
    assert note.content == ""
    assert len(note.warnings) == 1
    assert f"no short_term memory for {forge.npub}" in note.warnings[0]


async def test_rotation_delivers_the_memory_under_the_new_key(relay: HonestRelay, open_notes: OpenNotes) -> None:
    notes = await open_notes(relay.url)
    await notes.save(SHORT, "moves along", wait_for_relays=True)
    await notes.rotate()
    assert (await notes.sync()).pending_deliveries == 0
    assert (await notes.read(SHORT)).content == "moves along"
