"""Where the key comes from, how it is kept, and how it leaves: encrypted or not at all."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import nostr_sdk
import pytest
from keyring.backend import KeyringBackend
from pydantic import SecretStr

from tests.notes.conftest import OpenNotes
from tests.notes.forge import Forge
from uniko_mcp.config import NostrSettings
from uniko_mcp.errors import ConfigError, IdentityError
from uniko_mcp.notes import NoteKind, NotesSettings

pytestmark = pytest.mark.anyio
SHORT = NoteKind.SHORT_TERM


class KeyringInMemory(KeyringBackend):
    """A backend of the keyring library that forgets everything at the end."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.passwords: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.passwords.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.passwords[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.passwords[service, username]


@pytest.fixture
def system_keyring() -> Iterator[KeyringInMemory]:
    before = keyring.get_keyring()
    backend = KeyringInMemory()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


async def test_the_first_save_makes_a_key_and_says_once_whose(
    open_notes: OpenNotes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    notes = await open_notes()
    assert (await notes.status()).npub is None
    await notes.save(SHORT, "one")
    await notes.save(SHORT, "two")
    await notes.close()
    await (await open_notes()).save(SHORT, "three")
    npub = (await (await open_notes()).status()).npub
    assert [record.getMessage().count(str(npub)) for record in caplog.records] == [1]
    key_file = tmp_path / "data" / "identity.key"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert key_file.read_text(encoding="utf-8").splitlines()[1].startswith("nsec1")


async def test_two_openings_that_make_a_key_at_once_agree_on_one(open_notes: OpenNotes) -> None:
    one, two = await open_notes(), await open_notes()
    await asyncio.gather(one.save(SHORT, "one"), two.save(NoteKind.LONG_TERM, "two"))
    assert (await one.status()).npub == (await two.status()).npub


@pytest.mark.parametrize("form", ["nsec", "NSEC", "hex", "HEX", "commented"])
async def test_a_key_file_may_hold_the_key_in_any_common_form(
    open_notes: OpenNotes, forge: Forge, tmp_path: Path, form: str
) -> None:
    forge.give_key_to()
    hexadecimal = forge.keys.secret_key().to_hex()
    text = {
        "nsec": forge.nsec,
        "NSEC": forge.nsec.upper(),
        "hex": hexadecimal,
        "HEX": hexadecimal.upper(),
        "commented": f"# mine\n\n  {forge.nsec}  \n",
    }[form]
    (tmp_path / "data" / "identity.key").write_text(text, encoding="utf-8")
    assert (await (await open_notes()).status()).npub == forge.npub


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
async def test_a_key_file_that_others_can_read_is_refused(open_notes: OpenNotes, forge: Forge, tmp_path: Path) -> None:
    forge.give_key_to()
    (tmp_path / "data" / "identity.key").chmod(0o640)
    notes = await open_notes()
    with pytest.raises(IdentityError, match=r"can be read by other users \(mode 0640\)") as refused:
        await notes.save(SHORT, "something")
    assert "chmod 600" in str(refused.value)


@pytest.mark.parametrize("text", ["", "nsec1damaged", "one\ntwo", "\x00\x01"])
async def test_a_damaged_key_file_is_never_replaced(
    open_notes: OpenNotes, forge: Forge, tmp_path: Path, text: str
) -> None:
    forge.give_key_to()
    key_file = tmp_path / "data" / "identity.key"
    key_file.write_text(text, encoding="utf-8")
    notes = await open_notes()
    with pytest.raises(IdentityError):
        await notes.save(SHORT, "something")
    assert key_file.read_text(encoding="utf-8") == text


async def test_the_configured_key_is_used_when_there_is_no_file_and_is_not_written_down(
    open_notes: OpenNotes, forge: Forge, tmp_path: Path
) -> None:
    notes = await open_notes(nsec=SecretStr(forge.nsec))
    await notes.save(SHORT, "something")
    status = await notes.status()
    assert (status.npub, status.key_source) == (forge.npub, "environment")
    assert not (tmp_path / "data" / "identity.key").exists()


async def test_the_key_file_comes_before_the_configured_key_and_the_status_says_so(
    open_notes: OpenNotes, forge: Forge
) -> None:
    forge.give_key_to()
    other = nostr_sdk.Keys.generate()
    status = await (await open_notes(nsec=SecretStr(other.secret_key().to_bech32()))).status()
    assert (status.npub, status.key_source) == (forge.npub, "file")
    assert other.public_key().to_bech32() in status.warnings[0]


async def test_the_keyring_comes_before_the_key_file(
    open_notes: OpenNotes, forge: Forge, system_keyring: KeyringInMemory
) -> None:
    forge.give_key_to()
    other = nostr_sdk.Keys.generate()
    system_keyring.set_password("uniko-mcp", "nostr", other.secret_key().to_bech32())
    status = await (await open_notes(keyring=True)).status()
    assert (status.npub, status.key_source) == (other.public_key().to_bech32(), "keyring")


async def test_an_empty_keyring_is_passed_over(
    open_notes: OpenNotes, forge: Forge, system_keyring: KeyringInMemory
) -> None:
    forge.give_key_to()
    assert (await (await open_notes(keyring=True)).status()).key_source == "file"


async def test_a_key_is_exported_only_encrypted_and_comes_back(open_notes: OpenNotes, forge: Forge) -> None:
    """NIP-49"""
    forge.give_key_to("one")
    one = await open_notes(machine="one")
    exported = await one.export_key("correct horse")
    assert exported.startswith("ncryptsec1")

    two = await open_notes(machine="two")
    with pytest.raises(IdentityError, match="does not open"):
        await two.import_key(exported, "wrong horse")
    with pytest.raises(IdentityError, match="encrypted"):
        await two.import_key(exported)
    assert await two.import_key(exported, "correct horse") == forge.npub
    await two.close()
    assert (await (await open_notes(machine="two")).status()).npub == forge.npub


async def test_importing_another_key_keeps_the_first_one_beside_its_versions(
    open_notes: OpenNotes, forge: Forge, tmp_path: Path
) -> None:
    notes = await open_notes()
    await notes.save(SHORT, "of the first key")
    first = (await notes.status()).npub
    assert await notes.import_key(forge.keys.secret_key().to_hex()) == forge.npub
    assert (await notes.read(SHORT)).content == ""
    assert notes.short_term_section() == ""
    kept = tmp_path / "data" / "notes" / str(first) / "identity.key"
    assert await notes.import_key(kept.read_text(encoding="utf-8").splitlines()[-1]) == first
    assert (await notes.read(SHORT)).content == "of the first key"


async def test_importing_repairs_a_damaged_key_file_and_keeps_it(
    open_notes: OpenNotes, forge: Forge, tmp_path: Path
) -> None:
    forge.give_key_to()
    forge.key_file().write_text("nsec1damaged", encoding="utf-8")
    notes = await open_notes()
    assert await notes.import_key(forge.nsec) == forge.npub
    await notes.save(SHORT, "works again")
    kept = tmp_path / "data" / "notes" / "unusable-key" / "identity.key"
    assert kept.read_text(encoding="utf-8") == "nsec1damaged"


async def test_what_is_not_a_key_is_not_imported_and_not_repeated(open_notes: OpenNotes, forge: Forge) -> None:
    forge.give_key_to()
    notes = await open_notes()
    with pytest.raises(IdentityError) as refused:
        await notes.import_key("nsec1almostasecret")
    assert "almostasecret" not in str(refused.value)
    assert (await notes.status()).npub == forge.npub


async def test_a_key_from_elsewhere_cannot_be_rotated(open_notes: OpenNotes, forge: Forge) -> None:
    with pytest.raises(IdentityError, match="environment"):
        await (await open_notes(nsec=SecretStr(forge.nsec))).rotate()


@pytest.mark.parametrize("url", ["relay.example", "http://relay.example", "wss://", "wss://a:b:c", "wss://a:0", ""])
def test_what_is_no_relay_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"nostr\.relays"):
        NotesSettings(relays=(url,))


def test_relays_are_named_once_however_they_are_written() -> None:
    settings = NotesSettings(relays=("wss://Relay.Example/", "wss://relay.example", "ws://127.0.0.1:7000/path/"))
    assert settings.relays == ("wss://relay.example", "ws://127.0.0.1:7000/path")


def test_the_settings_are_those_of_the_configuration(forge: Forge) -> None:
    configured = NostrSettings(
        relays=("wss://relay.example",), app_tag="mine", nsec=SecretStr(forge.nsec), keyring=True
    )
    settings = NotesSettings.of(configured)
    assert (settings.relays, settings.app_tag, settings.keyring) == (("wss://relay.example",), "mine", True)
    assert settings.nsec == configured.nsec
    assert forge.nsec not in repr(settings)


async def test_without_the_keyring_package_the_error_says_what_to_install(
    open_notes: OpenNotes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(IdentityError, match=r"keyring package is not installed"):
        await (await open_notes(keyring=True)).save(SHORT, "something")
