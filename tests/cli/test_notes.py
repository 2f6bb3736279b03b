"""`notes` and `identity`: what a person sees and types. Secrets pass through stdin only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import click
import nostr_sdk
import pytest
from click.testing import CliRunner, Result

from uniko_mcp.cli.identity import identity
from uniko_mcp.cli.notes import notes
from uniko_mcp.errors import IdentityError, InvalidArgumentsError, NotFoundError, ReadOnlyError, StoreLockedError
from uniko_mcp.notes import NoteKind, Notes, NotesSettings
from uniko_mcp.store import Store

Invoke: TypeAlias = Callable[..., Result]
SHORT, LONG = NoteKind.SHORT_TERM, NoteKind.LONG_TERM


@pytest.fixture
def invoke(data_dir: Path) -> Invoke:
    """Runs a command of a group; an error is raised as it is."""

    def run(group: click.Group, *arguments: str, stdin: str = "") -> Result:
        command, *others = arguments
        options = [command, "--data-dir", str(data_dir), *others]
        return CliRunner().invoke(group, options, input=stdin, catch_exceptions=False)

    return run


def save(data_dir: Path, *texts: str, kind: NoteKind = SHORT) -> list[str]:
    """Save the texts in turn; their event ids."""

    async def run() -> list[str]:
        notes = await Notes.open(data_dir, NotesSettings())
        ids = [(await notes.save(kind, text)).event_id for text in texts]
        await notes.close()
        return ids

    return asyncio.run(run())


def npub_of(invoke: Invoke) -> Any:
    return json.loads(invoke(identity, "show", "--json").stdout)["npub"]


def test_a_memory_is_printed_as_it_is(invoke: Invoke, data_dir: Path) -> None:
    save(data_dir, "- 東京 on **Friday**")
    assert invoke(notes, "show").stdout == "- 東京 on **Friday**\n"
    assert invoke(notes, "show", "long_term").stdout == "\n"
    shown = json.loads(invoke(notes, "show", "short_term", "--json").stdout)
    assert (shown["type"], shown["content"]) == ("short_term", "- 東京 on **Friday**")


def test_versions_are_listed_shown_compared_and_restored(invoke: Invoke, data_dir: Path) -> None:
    first, second = save(data_dir, "Ada\nlikes tea", "Ada\nlikes coffee", kind=LONG)
    listed = invoke(notes, "history", "long_term").stdout.splitlines()
    assert [line.split()[0] for line in listed] == [second[:16], first[:16]]
    assert [line.endswith("current") for line in listed] == [True, False]
    assert [v["event_id"] for v in json.loads(invoke(notes, "history", "long_term", "--json").stdout)] == [
        second,
        first,
    ]
    assert invoke(notes, "show", "--version", first[:16]).stdout == "Ada\nlikes tea\n"
    assert invoke(notes, "diff", first[:16]).stdout.splitlines()[-2:] == ["-likes tea", "+likes coffee"]
    assert invoke(notes, "diff", first, first).stdout == "No difference.\n"
    assert invoke(notes, "restore", first[:16]).stdout.startswith("Restored long_term as ")
    assert invoke(notes, "show", "long_term").stdout == "Ada\nlikes tea\n"


def test_an_unknown_version_is_an_error(invoke: Invoke, data_dir: Path) -> None:
    save(data_dir, "something")
    with pytest.raises(NotFoundError):
        invoke(notes, "diff", "0000000000")


def test_reading_works_beside_a_server_and_restoring_waits_for_its_end(invoke: Invoke, data_dir: Path) -> None:
    (saved,) = save(data_dir, "something")

    async def beside_a_server() -> None:
        store = await Store.open(data_dir)
        try:
            shown = await asyncio.to_thread(invoke, notes, "show")
            assert shown.stdout == "something\n"
            with pytest.raises(StoreLockedError):
                await asyncio.to_thread(invoke, notes, "restore", saved)
        finally:
            await store.close()

    asyncio.run(beside_a_server())


def test_a_read_only_memory_is_not_changed(invoke: Invoke, data_dir: Path) -> None:
    (saved,) = save(data_dir, "something")
    with pytest.raises(ReadOnlyError):
        invoke(notes, "restore", "--read-only", saved)


def test_without_relays_sync_says_so(invoke: Invoke, data_dir: Path) -> None:
    save(data_dir, "something")
    assert "nostr.relays" in invoke(notes, "sync").stdout


def test_the_identity_is_shown_without_its_secret(invoke: Invoke, data_dir: Path) -> None:
    assert invoke(identity, "show").stdout == "There is no key yet. The first save makes one.\n"
    save(data_dir, "something")
    shown = invoke(identity, "show")
    assert shown.stdout.startswith("npub1")
    assert shown.stdout.endswith("  from the file\n")
    assert "nsec" not in shown.output


def test_a_key_is_imported_from_stdin(invoke: Invoke) -> None:
    keys = nostr_sdk.Keys.generate()
    npub = keys.public_key().to_bech32()
    assert npub in invoke(identity, "import", stdin=keys.secret_key().to_bech32() + "\n").stdout
    assert npub_of(invoke) == npub


def test_a_key_is_never_taken_as_an_argument(invoke: Invoke) -> None:
    given = invoke(identity, "import", nostr_sdk.Keys.generate().secret_key().to_bech32())
    assert given.exit_code == 2
    assert npub_of(invoke) is None


def test_a_key_travels_encrypted(invoke: Invoke, data_dir: Path) -> None:
    """NIP-49"""
    save(data_dir, "something")
    npub = npub_of(invoke)
    exported = invoke(identity, "export", "--encrypted", stdin="correct horse\n").stdout
    assert exported.startswith("ncryptsec1")
    invoke(identity, "rotate")
    assert npub_of(invoke) != npub
    with pytest.raises(IdentityError):
        invoke(identity, "import", stdin=f"{exported}wrong horse\n")
    invoke(identity, "import", stdin=f"{exported}correct horse\n")
    assert npub_of(invoke) == npub


@pytest.mark.parametrize("stdin", ["", "\n"])
def test_a_key_is_not_exported_in_the_open(invoke: Invoke, data_dir: Path, stdin: str) -> None:
    save(data_dir, "something")
    with pytest.raises(InvalidArgumentsError, match="only encrypted"):
        invoke(identity, "export")
    with pytest.raises(InvalidArgumentsError, match="nothing on stdin"):
        invoke(identity, "export", "--encrypted", stdin=stdin)


def test_rotation_keeps_the_memory(invoke: Invoke, data_dir: Path) -> None:
    save(data_dir, "moves along")
    before = npub_of(invoke)
    assert invoke(identity, "rotate").stdout == f"In use: {npub_of(invoke)}\n"
    assert npub_of(invoke) != before
    assert invoke(notes, "show").stdout == "moves along\n"
