"""The journal: what is written is read back, and damage costs nothing but the lines it touches."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.random_changes import change_sets
from uniko_mcp.models.changes import Change, ChangeSet, PutNode
from uniko_mcp.store.journal import JOURNAL_NAME, QUARANTINE_NAME, Entry, Journal, quarantined, scan


def entries(count: int) -> list[Entry]:
    return [
        Entry.of(n, 1_764_497_501_000_000 + n, ChangeSet((PutNode("Topic", f"t{n}", {"name": f'"té\n{n}'}),)))
        for n in range(1, count + 1)
    ]


def text(written: list[Entry]) -> bytes:
    return b"".join(entry.line + b"\n" for entry in written)


@given(changes=change_sets())
def test_an_entry_is_read_back_as_it_was_written(changes: list[Change]) -> None:
    entry = Entry.of(7, 8, ChangeSet(tuple(changes)))
    assert Entry.parse(entry.line) == entry
    assert entry.changes == ChangeSet(tuple(changes))


def test_a_line_is_json_and_its_checksum_covers_what_stands_before_it() -> None:
    line = entries(1)[0].line
    record = json.loads(line)
    assert list(record) == ["sequence", "recorded_at", "changes", "crc32"]
    covered = line[: line.index(b',"crc32"')]
    assert record["crc32"] == f"{zlib.crc32(covered):08x}"


def test_a_journal_cut_at_any_byte_keeps_every_whole_line() -> None:
    written = entries(4)
    content = text(written)
    ends = [len(text(written[:n])) for n in range(5)]
    for length in range(len(content) + 1):
        found = scan(content[:length])
        whole = sum(length >= end - 1 for end in ends[1:])  # the newline alone may be missing
        assert list(found.entries) == written[:whole]
        assert found.damaged == ()
        assert (found.torn > 0) == (length - ends[whole] > 0)


@settings(max_examples=300)
@given(data=st.data())
def test_a_flipped_byte_costs_at_most_the_lines_it_touches(data: st.DataObject) -> None:
    written = entries(5)
    content = bytearray(text(written))
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] ^= data.draw(st.integers(1, 255))
    found = scan(bytes(content))
    line = bytes(text(written)[:position]).count(b"\n")
    in_newline = text(written)[position : position + 1] == b"\n"
    assert set(written) - set(found.entries) <= ({written[line]} if not in_newline else set())
    assert set(found.entries) <= set(written)


def test_a_damaged_newline_loses_neither_of_its_lines() -> None:
    written = entries(3)
    content = text(written).replace(b"\n", b"\x0b", 1)
    assert list(scan(content).entries) == written
    assert scan(content).damaged == ()


def test_opening_drops_a_torn_end_and_goes_on_after_it(tmp_path: Path) -> None:
    written = entries(3)
    (tmp_path / JOURNAL_NAME).write_bytes(text(written[:2]) + written[2].line[:-9])
    journal, found = Journal.open(tmp_path)
    assert (list(found.entries), found.torn) == (written[:2], len(written[2].line) - 9)
    journal.append([written[2]])
    journal.close()
    assert (tmp_path / JOURNAL_NAME).read_bytes() == text(written)


def test_opening_sets_damaged_lines_aside_and_keeps_those_after(tmp_path: Path) -> None:
    written = entries(3)
    damaged = written[1].line.replace(b"Topic", b"Tropic")
    (tmp_path / JOURNAL_NAME).write_bytes(text([written[0]]) + damaged + b"\n" + text([written[2]]))
    journal, found = Journal.open(tmp_path)
    journal.close()
    assert found.missing == [2]
    assert (tmp_path / JOURNAL_NAME).read_bytes() == text([written[0], written[2]])
    assert (tmp_path / QUARANTINE_NAME).read_bytes() == damaged + b"\n"
    assert quarantined(tmp_path) == 1
    journal, found = Journal.open(tmp_path)
    journal.close()
    assert found.damaged == ()


def test_dropping_keeps_the_later_entries_and_the_count(tmp_path: Path) -> None:
    written = entries(5)
    journal, _ = Journal.open(tmp_path)
    journal.append(written[:4])
    journal.drop_through(3)
    journal.append(written[4:])
    assert (journal.entries, journal.last, journal.bytes) == (2, 5, len(text(written[3:])))
    journal.drop_through(5)
    assert (journal.entries, journal.last, journal.bytes) == (0, 5, 0)
    journal.close()
    assert (tmp_path / JOURNAL_NAME).read_bytes() == b""


@pytest.mark.skipif(os.name == "nt", reason="file modes are POSIX")
def test_the_journal_is_private(tmp_path: Path) -> None:
    journal, _ = Journal.open(tmp_path)
    journal.close()
    assert (tmp_path / JOURNAL_NAME).stat().st_mode & 0o777 == 0o600
