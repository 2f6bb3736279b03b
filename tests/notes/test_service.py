"""Notes without relays: saving, reading, clearing, history, restarts and damage."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
from pathlib import Path

import anyio
import pytest

from tests.notes.conftest import OpenNotes
from tests.notes.forge import Forge
from uniko_mcp.errors import IdentityError, InvalidArgumentsError, LimitExceededError, NotFoundError, StoreError
from uniko_mcp.notes import NoteKind, Notes, NotesSettings

pytestmark = pytest.mark.anyio
SHORT, LONG = NoteKind.SHORT_TERM, NoteKind.LONG_TERM


def version_files(data: Path, kind: NoteKind = SHORT) -> list[Path]:
    return sorted(data.glob(f"notes/npub1*/{kind.identifier}/*.json"))


async def test_what_is_saved_is_read_after_a_restart(open_notes: OpenNotes) -> None:
    notes = await open_notes()
    saved = await notes.save(SHORT, "# Now\n- ship on **Friday**\n")
    await notes.save(LONG, "The user is called Ada.")
    await notes.close()

    notes = await open_notes()
    short, long = await notes.read(SHORT), await notes.read(LONG)
    assert (short.content, short.event_id, short.created_at) == (
        "# Now\n- ship on **Friday**\n",
        saved.event_id,
        saved.created_at,
    )
    assert (long.content, long.chars) == ("The user is called Ada.", 23)


async def test_a_memory_never_saved_is_empty_without_an_error(open_notes: OpenNotes) -> None:
    note = await (await open_notes()).read(LONG)
    assert (note.content, note.event_id, note.chars, note.warnings) == ("", None, 0, ())


async def test_the_event_on_disk_is_the_one_a_didactyl_agent_looks_for(
    open_notes: OpenNotes, forge: Forge, tmp_path: Path
) -> None:
    forge.give_key_to()
    await (await open_notes()).save(LONG, "an agent's notes")
    event = json.loads(version_files(tmp_path / "data", LONG)[0].read_text(encoding="utf-8"))
    assert (event["kind"], event["pubkey"]) == (30_078, forge.keys.public_key().to_hex())
    assert event["tags"] == [["d", "long_term_memory"], ["app", "didactyl"]]
    assert forge.text_of(event) == "an agent's notes"


async def test_ten_saves_within_a_second_keep_their_order(open_notes: OpenNotes) -> None:
    """N1: created_at never repeats, so that the last save wins wherever the events meet."""
    notes = await open_notes()
    reports = [await notes.save(SHORT, f"version {number}") for number in range(10)]
    times = [report.created_at for report in reports]
    assert times == sorted(set(times))
    assert (await notes.read(SHORT)).content == "version 9"
    assert [version.event_id for version in await notes.history(SHORT)] == [r.event_id for r in reversed(reports)]


async def test_saves_sent_at_once_are_all_kept_in_one_order(open_notes: OpenNotes) -> None:
    """N1: of saves in flight at the same time one is last, here and after a restart."""
    notes = await open_notes()
    reports = await asyncio.gather(*(notes.save(SHORT, f"version {number}") for number in range(10)))
    last = max(reports, key=lambda report: report.created_at)
    kept = (await notes.read(SHORT)).event_id
    await notes.close()
    notes = await open_notes()
    assert kept == last.event_id == (await notes.read(SHORT)).event_id
    assert len(await notes.history(SHORT)) == 10


@pytest.mark.parametrize(
    ("kind", "content", "limit"),
    [
        (SHORT, "x" * 8_001, "8,000 characters"),
        (LONG, "x" * 32_001, "32,000 characters"),
        (LONG, "\N{GRINNING FACE}" * 32_000, "65,408 bytes"),
        (LONG, "\N{GRINNING FACE}" * 16_352 + "x", "65,408 bytes"),
    ],
)
async def test_a_text_over_a_limit_is_refused_and_told_how_much_to_cut(
    open_notes: OpenNotes, kind: NoteKind, content: str, limit: str
) -> None:
    """N2: the limits in characters and, without relays, 65,408 bytes."""
    notes = await open_notes()
    await notes.save(kind, "as it was")
    with pytest.raises(LimitExceededError, match=limit) as refused:
        await notes.save(kind, content)
    assert f"{len(content):,} characters" in str(refused.value)
    assert f"{len(content.encode()):,} bytes" in str(refused.value)
    assert "Cut at least" in str(refused.value)
    assert (await notes.read(kind)).content == "as it was"
    assert len(await notes.history(kind)) == 1


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (SHORT, "x" * 8_000),
        (LONG, "x" * 32_000),
        (LONG, "\N{GRINNING FACE}" * 16_352),
        (SHORT, "\N{GRINNING FACE}" * 8_000),
    ],
)
async def test_a_text_at_its_limit_is_kept(open_notes: OpenNotes, kind: NoteKind, content: str) -> None:
    """N2: 65,408 bytes are 16,352 emoji."""
    notes = await open_notes()
    report = await notes.save(kind, content)
    assert (report.chars, report.bytes) == (len(content), len(content.encode()))
    await notes.close()
    assert (await (await open_notes()).read(kind)).content == content


@pytest.mark.parametrize(
    "content", ["🦄👩‍👩‍👧", "東京に住む", "Привет", "é\u0301 ﷽ \u202e\u0000", "\r\n tabs\tand \\u0000"]
)
async def test_any_text_comes_back_unchanged(open_notes: OpenNotes, content: str) -> None:
    """W10"""
    notes = await open_notes()
    await notes.save(SHORT, content)
    await notes.close()
    assert (await (await open_notes()).read(SHORT)).content == content


async def test_a_lone_surrogate_is_refused_where_it_is(open_notes: OpenNotes) -> None:
    """W10"""
    with pytest.raises(InvalidArgumentsError, match="lone surrogate at character 5"):
        await (await open_notes()).save(SHORT, "note \ud83d")


async def test_notes_work_when_the_console_speaks_a_narrow_encoding(tmp_path: Path) -> None:
    """W10: PYTHONIOENCODING=cp1252, with a text that it does not have."""
    script = (
        "import asyncio, sys; from pathlib import Path; from uniko_mcp.notes import *\n"
        "async def main():\n"
        "    notes = await Notes.open(Path(sys.argv[1]), NotesSettings())\n"
        "    await notes.save(NoteKind.SHORT_TERM, '\\u6771\\u4eac')\n"
        "    await notes.close()\n"
        "asyncio.run(main())\n"
    )
    environment = {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C"}
    process = await anyio.run_process([sys.executable, "-c", script, str(tmp_path)], env=environment)
    assert process.stdout == b""
    assert (await (await Notes.open(tmp_path, NotesSettings())).read(SHORT)).content == "東京"


@pytest.mark.parametrize("blank", ["", " ", "\n\t "])
async def test_saving_blank_text_clears_and_keeps_the_history(open_notes: OpenNotes, blank: str) -> None:
    notes = await open_notes()
    await notes.save(SHORT, "something")
    report = await notes.save(SHORT, blank)
    assert (report.chars, report.bytes) == (0, 0)
    await notes.close()
    notes = await open_notes()
    note = await notes.read(SHORT)
    assert (note.content, note.event_id) == ("", report.event_id)
    assert notes.short_term_section() == ""
    assert len(await notes.history(SHORT)) == 2


async def test_the_fifty_newest_versions_are_kept(open_notes: OpenNotes, tmp_path: Path) -> None:
    notes = await open_notes()
    reports = [await notes.save(SHORT, f"version {number}") for number in range(53)]
    history = await notes.history(SHORT)
    assert [version.event_id for version in history] == [report.event_id for report in reversed(reports[3:])]
    assert [version.current for version in history] == [True] + [False] * 49
    assert len(version_files(tmp_path / "data")) == 50


async def test_an_earlier_version_is_shown_compared_and_restored(open_notes: OpenNotes) -> None:
    notes = await open_notes()
    first = await notes.save(LONG, "Ada\nlikes tea")
    second = await notes.save(LONG, "Ada\nlikes coffee")
    assert (await notes.version(first.event_id[:8])).content == "Ada\nlikes tea"
    assert (await notes.diff(first.event_id, second.event_id)).splitlines()[-2:] == ["-likes tea", "+likes coffee"]
    restored = await notes.restore(first.event_id)
    assert restored.event_id not in {first.event_id, second.event_id}
    assert (await notes.read(LONG)).content == "Ada\nlikes tea"
    assert len(await notes.history(LONG)) == 3


@pytest.mark.parametrize("event_id", ["", "abc", "0" * 64])
async def test_a_version_that_does_not_exist_is_not_found(open_notes: OpenNotes, event_id: str) -> None:
    notes = await open_notes()
    await notes.save(LONG, "something")
    with pytest.raises(NotFoundError):
        await notes.restore(event_id)


async def test_listeners_hear_of_saves_until_they_leave(open_notes: OpenNotes) -> None:
    notes = await open_notes()
    heard: list[NoteKind] = []
    leave = notes.on_save(heard.append)
    await notes.save(SHORT, "one")
    await notes.save(LONG, "two")
    leave()
    await notes.save(SHORT, "three")
    assert heard == [SHORT, LONG]


async def test_a_save_whose_caller_gives_up_is_whole(open_notes: OpenNotes) -> None:
    """All or nothing: here all, since it had begun."""
    notes = await open_notes()
    await notes.save(SHORT, "before")
    saving = asyncio.create_task(notes.save(SHORT, "after"))
    heard = asyncio.Event()
    notes.on_save(lambda _: heard.set())
    await asyncio.sleep(0)
    saving.cancel()
    await heard.wait()
    assert (await notes.read(SHORT)).content == "after"
    await notes.close()
    assert (await (await open_notes()).read(SHORT)).content == "after"


async def test_a_save_that_the_disk_refuses_leaves_everything_as_it_was(open_notes: OpenNotes, tmp_path: Path) -> None:
    notes = await open_notes()
    before = await notes.save(SHORT, "before")
    folder = version_files(tmp_path / "data")[0].parent
    aside = folder.rename(folder.with_name("moved"))
    folder.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be used"):
        await notes.save(SHORT, "after")
    assert (await notes.read(SHORT)).event_id == before.event_id
    folder.unlink()
    aside.rename(folder)
    await notes.close()
    assert (await (await open_notes()).read(SHORT)).content == "before"


@pytest.mark.parametrize("part", ["content", "sig", "id", "pubkey", "created_at", "tags"])
async def test_a_damaged_version_is_set_aside_and_the_one_before_it_is_shown(
    open_notes: OpenNotes, tmp_path: Path, part: str
) -> None:
    """W7: a byte is flipped in the newest version; its file is kept, and a later save does not destroy it."""
    notes = await open_notes()
    await notes.save(SHORT, "older")
    await notes.save(SHORT, "newer")
    await notes.close()
    newest = version_files(tmp_path / "data")[-1]
    damaged = bytearray(newest.read_bytes())
    damaged[damaged.index(f'"{part}":'.encode()) + len(part) + 10] ^= 1
    newest.write_bytes(damaged)

    notes = await open_notes()
    note = await notes.read(SHORT)
    assert note.content == "older"
    assert "cannot be read" in " ".join(note.warnings)
    saved = await notes.save(SHORT, "newest")
    assert saved.created_at > int(newest.name[:12])
    assert (newest.parent / "set-aside" / newest.name).read_bytes() == damaged
    assert (await notes.read(SHORT)).warnings == ()


async def test_content_that_cannot_be_decrypted_is_kept_and_the_memory_starts_blank(
    open_notes: OpenNotes, forge: Forge, tmp_path: Path
) -> None:
    """N6"""
    forge.give_key_to()
    event = forge.event("for someone else", reader=forge.keys.generate().public_key())
    folder = tmp_path / "data" / "notes" / forge.npub / SHORT.identifier
    folder.mkdir(parents=True)
    name = f"{event['created_at']:012d}-{event['id']}.json"
    (folder / name).write_text(json.dumps(event), encoding="utf-8")

    notes = await open_notes()
    await notes.ready()
    assert notes.short_term_section() == ""
    note = await notes.read(SHORT)
    assert (note.content, note.event_id) == ("", None)
    assert forge.npub in " ".join(note.warnings)
    saved = await notes.save(SHORT, "a new start")
    assert saved.created_at > event["created_at"]
    assert json.loads((folder / "set-aside" / name).read_text(encoding="utf-8")) == event


async def test_under_another_key_the_memory_is_absent_and_the_old_one_is_kept(
    open_notes: OpenNotes, forge: Forge, tmp_path: Path
) -> None:
    """N5"""
    notes = await open_notes()
    await notes.save(SHORT, "of the first key")
    first = (await notes.status()).npub
    await notes.close()
    files = version_files(tmp_path / "data")
    kept_key = (tmp_path / "data" / "identity.key").read_bytes()
    forge.give_key_to()

    notes = await open_notes()
    note = await notes.read(SHORT)
    assert note.content == ""
    assert f"no short_term memory for {forge.npub}" in note.warnings[0]
    assert str(first) in note.warnings[0]
    assert note.warnings[0] in (await notes.status()).warnings
    await notes.save(SHORT, "of the second key")
    assert all(path.exists() for path in files)
    await notes.close()

    (tmp_path / "data" / "identity.key").write_bytes(kept_key)
    assert (await (await open_notes()).read(SHORT)).content == "of the first key"


async def test_a_key_that_cannot_be_used_does_not_stop_the_start(open_notes: OpenNotes, tmp_path: Path) -> None:
    notes = await open_notes()
    await notes.save(SHORT, "something")
    await notes.close()
    (tmp_path / "data" / "identity.key").write_text("not a key", encoding="utf-8")

    notes = await open_notes()
    await notes.ready()
    assert notes.short_term_section() == ""
    assert any("identity_failed" in warning for warning in (await notes.status()).warnings)
    with pytest.raises(IdentityError):
        await notes.save(SHORT, "never under another key by accident")


async def test_status_shows_the_npub_and_the_versions(open_notes: OpenNotes, forge: Forge) -> None:
    forge.give_key_to()
    notes = await open_notes()
    await notes.save(SHORT, "one")
    await notes.save(SHORT, "two")
    status = await notes.status()
    assert (status.npub, status.key_source) == (forge.npub, "file")
    assert status.versions == {SHORT: 2, LONG: 0}
    assert (status.relays, status.pending_deliveries, status.warnings) == ((), 0, ())


async def test_rotation_moves_both_memories_to_a_new_key_and_keeps_the_old_one(
    open_notes: OpenNotes, tmp_path: Path
) -> None:
    notes = await open_notes()
    await notes.save(SHORT, "short")
    await notes.save(LONG, "long")
    old = (await notes.status()).npub
    new = await notes.rotate()
    await notes.close()
    assert new != old

    notes = await open_notes()
    assert (await notes.status()).npub == new
    assert [(await notes.read(kind)).content for kind in NoteKind] == ["short", "long"]
    await notes.close()
    old_key = tmp_path / "data" / "notes" / str(old) / "identity.key"
    (tmp_path / "data" / "identity.key").write_bytes(old_key.read_bytes())
    assert (await (await open_notes()).read(LONG)).content == "long"


async def test_everything_written_is_closed_to_other_users(open_notes: OpenNotes, tmp_path: Path) -> None:
    await (await open_notes()).save(SHORT, "private")
    for path in (tmp_path / "data").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


async def test_without_a_memory_the_crypto_library_stays_unloaded(tmp_path: Path) -> None:
    """W8: nothing of it at start, with relays and key configured."""
    script = (
        "import asyncio, sys; from pathlib import Path; from uniko_mcp.notes import *\n"
        "async def main():\n"
        "    settings = NotesSettings(relays=('ws://127.0.0.1:9',), nsec=None)\n"
        "    notes = await Notes.open(Path(sys.argv[1]), settings)\n"
        "    await notes.ready()\n"
        "    await notes.start_delivery()\n"
        "    assert notes.short_term_section() == ''\n"
        "    assert 'nostr_sdk' not in sys.modules and 'asyncio' in sys.modules\n"
        "asyncio.run(main())\n"
    )
    await anyio.run_process([sys.executable, "-c", script, str(tmp_path)])
