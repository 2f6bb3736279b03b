"""Notes whose key stays in a NIP-46 bunker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.notes.bunker import Bunker
from tests.notes.conftest import OpenNotes
from tests.notes.forge import Forge
from tests.notes.relays.local import LocalRelay
from uniko_mcp.errors import IdentityError
from uniko_mcp.notes import NoteKind, Patience

pytestmark = pytest.mark.anyio
SHORT = NoteKind.SHORT_TERM


@pytest.fixture
async def bunker(local_relay: LocalRelay, forge: Forge) -> AsyncIterator[Bunker]:
    bunker = Bunker(forge.keys, local_relay.url)
    await bunker.start()
    yield bunker
    await bunker.stop()


async def test_a_bunker_encrypts_signs_and_decrypts(
    bunker: Bunker, local_relay: LocalRelay, open_notes: OpenNotes, forge: Forge
) -> None:
    notes = await open_notes(local_relay.url, bunker=SecretStr(bunker.uri), machine="one")
    report = await notes.save(SHORT, "signed elsewhere", wait_for_relays=True)
    assert report.relays[local_relay.url].state == "accepted"
    status = await notes.status()
    assert (status.npub, status.key_source) == (forge.npub, "bunker")

    forge.give_key_to("two")
    two = await open_notes(local_relay.url, machine="two")
    assert (await two.read(SHORT)).content == "signed elsewhere"


async def test_the_bunker_comes_before_every_other_source_and_leaves_no_key_here(
    bunker: Bunker, open_notes: OpenNotes, forge: Forge, tmp_path: Path
) -> None:
    notes = await open_notes(bunker=SecretStr(bunker.uri), nsec=SecretStr(forge.nsec))
    await notes.save(SHORT, "something")
    assert (await notes.status()).key_source == "bunker"
    assert not (tmp_path / "data" / "identity.key").exists()
    with pytest.raises(IdentityError, match="bunker"):
        await notes.export_key("password")


async def test_a_bunker_is_asked_who_it_is_only_once(bunker: Bunker, open_notes: OpenNotes) -> None:
    notes = await open_notes(bunker=SecretStr(bunker.uri))
    await notes.save(SHORT, "kept")
    await notes.close()
    notes = await open_notes(bunker=SecretStr(bunker.uri))
    await notes.ready()
    assert "kept" in notes.short_term_section()
    assert bunker.asked.count("get_public_key") == 1


async def test_a_bunker_address_that_is_none_is_refused_without_repeating_it(open_notes: OpenNotes) -> None:
    notes = await open_notes(bunker=SecretStr("bunker://nothing?secret=s3cr3t"))
    with pytest.raises(IdentityError) as refused:
        await notes.save(SHORT, "something")
    assert "s3cr3t" not in str(refused.value)


async def test_a_bunker_that_does_not_answer_leaves_the_memory_as_it_was(bunker: Bunker, open_notes: OpenNotes) -> None:
    notes = await open_notes(bunker=SecretStr(bunker.uri), patience=Patience(bunker=1.0))
    before = await notes.save(SHORT, "before")
    await bunker.stop()
    with pytest.raises(IdentityError, match="did not"):
        await notes.save(SHORT, "after")
    assert (await notes.read(SHORT)).event_id == before.event_id


async def test_a_bunker_that_is_down_at_the_start_delays_neither_start_nor_status(
    bunker: Bunker, open_notes: OpenNotes
) -> None:
    notes = await open_notes(bunker=SecretStr(bunker.uri))
    await notes.save(SHORT, "kept")
    await notes.close()
    await bunker.stop()
    notes = await open_notes(bunker=SecretStr(bunker.uri), patience=Patience(bunker=1.0))
    assert (await notes.status()).versions[SHORT] == 1
    await notes.ready()
    assert notes.short_term_section() == ""
    assert "The bunker did not decrypt" in (await notes.status()).warnings[0]
    await bunker.start()
    told = asyncio.Event()
    notes.on_save(lambda _: told.set())
    await notes.read(NoteKind.LONG_TERM)
    await told.wait()
    assert "kept" in notes.short_term_section()
    assert (await notes.status()).warnings == ()
