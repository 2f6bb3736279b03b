"""Notes with a relay that lies, refuses, hangs or drops: nothing false comes in, nothing unseen is overwritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.notes.conftest import PATIENCE, OpenNotes
from tests.notes.forge import LIES, Forge
from tests.notes.relays.hostile import HostileRelay
from uniko_mcp.notes import NoteKind, Patience

pytestmark = pytest.mark.anyio
SHORT = NoteKind.SHORT_TERM

HASTY = Patience(connect=5.0, answer=0.2, acknowledge=0.2, first_retry=0.01, longest_retry=0.05)


def set_aside(folder: Path) -> list[dict[str, Any]]:
    paths = folder.glob("data/notes/*/*/set-aside/*.json")
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


@pytest.mark.parametrize("lie", LIES)
async def test_an_event_that_is_no_version_of_a_note_is_left_out(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge, lie: str
) -> None:
    """N4"""
    forge.give_key_to()
    hostile_relay.behaviour.events = [LIES[lie](forge), forge.event("honest", age=100)]
    notes = await open_notes(hostile_relay.url)
    await notes.sync()
    assert (await notes.read(SHORT)).content == "honest"
    assert len(await notes.history(SHORT)) == 1


async def test_an_event_that_cannot_be_decrypted_is_kept_and_the_next_save_does_not_destroy_it(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge, tmp_path: Path
) -> None:
    """N6"""
    forge.give_key_to()
    unreadable = forge.event("", cipher="not NIP-44", age=-30)
    hostile_relay.behaviour.events = [unreadable]
    notes = await open_notes(hostile_relay.url)
    await notes.sync()
    note = await notes.read(SHORT)
    assert note.content == ""
    assert "cannot be read" in note.warnings[0]
    assert hostile_relay.published == []

    report = await notes.save(SHORT, "a new start", wait_for_relays=True)
    assert report.created_at > unreadable["created_at"]
    assert report.relays[hostile_relay.url].state == "accepted"
    assert set_aside(tmp_path) == [unreadable]


async def test_an_unreadable_newer_event_does_not_hide_the_memory_that_is_here(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """N6"""
    forge.give_key_to()
    notes = await open_notes(hostile_relay.url)
    await notes.save(SHORT, "readable", wait_for_relays=True)
    hostile_relay.behaviour.events = [forge.event("", cipher="not NIP-44", age=-30)]
    await notes.sync()
    note = await notes.read(SHORT)
    assert note.content == "readable"
    assert "cannot be read" in note.warnings[0]


async def test_a_relay_that_never_says_what_it_has_is_never_written_to(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """No EOSE: it may hold what was not seen here."""
    forge.give_key_to()
    hostile_relay.behaviour.end_of_stored = False
    notes = await open_notes(hostile_relay.url, patience=HASTY)
    report = await notes.save(SHORT, "stays here", wait_for_relays=True)
    assert report.relays[hostile_relay.url].state == "pending"
    await hostile_relay.until_read(3)
    assert hostile_relay.published == []
    hostile_relay.behaviour.end_of_stored = True
    await hostile_relay.until_published()


async def test_a_relay_that_refuses_the_read_is_never_written_to_and_says_why(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to()
    hostile_relay.behaviour.closed_with = "blocked: not for you"
    notes = await open_notes(hostile_relay.url, patience=HASTY)
    await notes.save(SHORT, "stays here", wait_for_relays=True)
    await hostile_relay.until_read(2)
    assert hostile_relay.published == []


async def test_a_relay_that_accepts_no_authentication_is_never_written_to(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    """NIP-42"""
    forge.give_key_to()
    hostile_relay.behaviour.authenticate = True
    notes = await open_notes(hostile_relay.url, patience=HASTY)
    await notes.save(SHORT, "stays here", wait_for_relays=True)
    await hostile_relay.until_read(2)
    assert hostile_relay.published == []


async def test_why_a_relay_cannot_be_used_shows_in_the_status(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to()
    hostile_relay.behaviour.closed_with = "blocked: not for you"
    patient = Patience(first_retry=60.0)
    notes = await open_notes(hostile_relay.url, patience=patient)
    relay = (await notes.sync()).relays[0]
    assert (relay.state, relay.reason) == ("refused", "refused the read: blocked: not for you")


async def test_a_rejected_save_is_reported_with_the_reason_and_not_sent_again(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to()
    hostile_relay.behaviour.ok = (False, "blocked: pay first")
    notes = await open_notes(hostile_relay.url)
    report = await notes.save(SHORT, "for free", wait_for_relays=True)
    delivery = report.relays[hostile_relay.url]
    assert (delivery.state, delivery.reason) == ("rejected", "blocked: pay first")
    assert (await notes.status()).pending_deliveries == 0
    await notes.close()

    notes = await open_notes(hostile_relay.url)
    await notes.sync()
    assert len(hostile_relay.published) == 1
    assert (await notes.read(SHORT)).content == "for free"


async def test_a_save_that_hits_a_rate_limit_is_sent_again_until_it_is_taken(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to()
    hostile_relay.behaviour.ok = (False, "rate-limited: slow down")
    notes = await open_notes(hostile_relay.url)
    report = await notes.save(SHORT, "insistent", wait_for_relays=True)
    delivery = report.relays[hostile_relay.url]
    assert (delivery.state, delivery.reason) == ("pending", "rate-limited: slow down")
    hostile_relay.behaviour.ok = (True, "")
    await hostile_relay.until_published(len(hostile_relay.published) + 1)
    await notes.sync()
    assert (await notes.status()).pending_deliveries == 0
    assert {event["id"] for event in hostile_relay.published} == {report.event_id}


async def test_a_save_without_an_answer_is_unknown_and_the_same_event_is_sent_again(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to()
    hostile_relay.behaviour.ok = None
    notes = await open_notes(hostile_relay.url, patience=HASTY)
    report = await notes.save(SHORT, "did it arrive", wait_for_relays=True)
    assert report.relays[hostile_relay.url].state == "pending"
    await hostile_relay.until_published(2)
    assert {event["id"] for event in hostile_relay.published} == {report.event_id}


async def test_a_relay_that_drops_the_connection_is_tried_again(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to()
    hostile_relay.behaviour.drop_on_event = True
    notes = await open_notes(hostile_relay.url, patience=HASTY)
    await notes.save(SHORT, "persistent")
    await hostile_relay.until_published(2)
    hostile_relay.behaviour.drop_on_event = False
    await hostile_relay.until_published(len(hostile_relay.published) + 1)
    assert (await notes.sync()).pending_deliveries == 0


async def test_a_relay_that_keeps_sending_what_is_not_ours_is_left_alone(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to()
    stranger = forge.keys.generate()
    hostile_relay.behaviour.events = [forge.event(f"{number}", keys=stranger) for number in range(25)]
    notes = await open_notes(hostile_relay.url, patience=Patience(first_retry=60.0))
    relay = (await notes.sync()).relays[0]
    assert (relay.state, relay.reason) == ("unreachable", "sent 20 events that are not notes of this identity")
    assert PATIENCE.before_retry(1) < PATIENCE.before_retry(2)
