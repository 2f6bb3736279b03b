"""No key and no note in anything that is logged, shown or raised."""

from __future__ import annotations

import io
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.notes.conftest import OpenNotes
from tests.notes.forge import Forge
from tests.notes.relays.hostile import HostileRelay
from uniko_mcp.errors import UnikoError
from uniko_mcp.notes import NoteKind, Notes, NotesSettings, RedactingFormatter, redact
from uniko_mcp.notes.account import Accounts
from uniko_mcp.notes.redaction import REDACTED
from uniko_mcp.notes.signer import local_signer

pytestmark = pytest.mark.anyio
SHORT = NoteKind.SHORT_TERM
NOTE = "the launch code is 7319-OMEGA"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """All that is logged at DEBUG, as the server writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(RedactingFormatter("%(name)s %(message)s"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


def secrets_of(forge: Forge) -> list[str]:
    hexadecimal = forge.keys.secret_key().to_hex()
    return [forge.nsec, forge.nsec.upper(), forge.nsec.title(), hexadecimal, hexadecimal.upper()]


def test_a_key_is_replaced_in_any_form_and_letter_case(forge: Forge) -> None:
    local_signer(forge.nsec)
    for secret in secrets_of(forge):
        assert redact(f"key={secret}, and more") == f"key={REDACTED}, and more"
    assert redact(f"nostr:{forge.nsec}?x") == f"nostr:{REDACTED}?x"
    assert redact("bunker://ab?relay=wss://r&secret=s3cr3t&x=1") == f"bunker://ab?relay=wss://r&secret={REDACTED}&x=1"
    assert redact("ncryptsec1qgg9947rlpvqu76pj5") == REDACTED


def test_public_keys_and_event_ids_stay(forge: Forge) -> None:
    local_signer(forge.nsec)
    event = forge.event("x")
    public = f"{forge.npub} {event['pubkey']} {event['id']}"
    assert redact(public) == public


def test_a_logged_exception_is_redacted_with_its_traceback(forge: Forge, log: io.StringIO) -> None:
    try:
        raise ValueError(forge.nsec)
    except ValueError:
        logging.getLogger("anything").exception("failed with %s", forge.nsec.upper())
    assert "Traceback" in log.getvalue()
    assert not any(secret in log.getvalue() for secret in secrets_of(forge))


async def test_nothing_secret_is_logged_while_notes_are_used(
    hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge, log: io.StringIO
) -> None:
    """W9 (notes): everything at DEBUG, with a relay that lies and a listener that fails."""
    forge.give_key_to()
    hostile_relay.behaviour.events = [forge.event(NOTE, kind=1), forge.event("", cipher="not NIP-44")]
    hostile_relay.behaviour.ok = (False, "blocked: no")
    notes = await open_notes(hostile_relay.url)

    def fail(kind: NoteKind) -> None:
        raise ValueError(kind)

    notes.on_save(fail)
    await notes.save(SHORT, NOTE, wait_for_relays=True)
    await notes.read(SHORT)
    await notes.export_key("password of the export")
    await notes.rotate()
    await notes.status()
    await notes.close()
    written = log.getvalue()
    assert "A listener to changes of short_term failed" in written
    for secret in [*secrets_of(forge), NOTE, "password of the export", "nsec1"]:
        assert secret not in written


async def test_nothing_of_the_notes_is_printed(
    open_notes: OpenNotes, forge: Forge, capfd: pytest.CaptureFixture[str]
) -> None:
    """W9 (notes): stdout belongs to the protocol."""
    forge.give_key_to()
    notes = await open_notes()
    await notes.save(SHORT, NOTE)
    await notes.read(SHORT)
    await notes.status()
    await notes.close()
    assert capfd.readouterr().out == ""


async def test_no_representation_shows_a_key_or_a_note(open_notes: OpenNotes, forge: Forge, tmp_path: Path) -> None:
    notes = await open_notes(nsec=SecretStr(forge.nsec))
    report = await notes.save(SHORT, NOTE)
    note, status = await notes.read(SHORT), await notes.status()
    settings = NotesSettings(nsec=SecretStr(forge.nsec), bunker=SecretStr("bunker://x?secret=s3cr3t"))
    account = await Accounts(tmp_path / "data", NotesSettings(nsec=SecretStr(forge.nsec))).open()
    assert account is not None
    text = await account.notebook.current(SHORT)
    event = await account.notebook.event(SHORT)
    assert text is not None
    assert text.content == NOTE
    shown = [notes, report, note, status, settings, account, account.identity, account.notebook, text, event]
    for secret in [*secrets_of(forge), NOTE, "s3cr3t"]:
        assert not any(secret in form(value) for value in shown for form in (repr, str))
    assert not any(secret in repr(asdict(status)) for secret in secrets_of(forge))


MISTAKES: dict[str, Callable[[Notes, str], Awaitable[object]]] = {
    "too large": lambda notes, _: notes.save(SHORT, NOTE * 1_000),
    "surrogate": lambda notes, _: notes.save(SHORT, f"{NOTE} \ud800"),
    "not a key": lambda notes, damaged: notes.import_key(damaged),
    "damaged key file": lambda notes, _: notes.save(SHORT, NOTE),
    "unknown version": lambda notes, _: notes.restore("0" * 64),
}


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_no_error_and_no_traceback_shows_a_key_or_a_note(
    open_notes: OpenNotes, forge: Forge, mistake: str
) -> None:
    forge.give_key_to()
    damaged = forge.nsec[:-1] + ("q" if forge.nsec[-1] != "q" else "p")
    if mistake == "damaged key file":
        forge.key_file().write_text(f"{damaged}\n", encoding="utf-8")
    with pytest.raises(UnikoError) as raised:
        await MISTAKES[mistake](await open_notes(), damaged)
    told = "".join(traceback.format_exception(raised.value)) + repr(raised.value)
    for secret in [*secrets_of(forge), damaged, damaged.upper(), NOTE]:
        assert secret not in told
