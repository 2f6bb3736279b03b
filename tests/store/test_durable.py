"""Files that survive a crash, and the directory that is for nobody else."""

from __future__ import annotations

import logging
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from uniko_mcp.store.durable import create_file, replacing, write_file
from uniko_mcp.store.lock import DirectoryLock

POSIX = pytest.mark.skipif(os.name == "nt", reason="file modes are POSIX")


def test_a_file_whose_writer_fails_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_file(path, b"old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.writelines([b"new", "text"])  # type: ignore[list-item]
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_of_many_writers_at_once_none_spoils_the_file_of_another(tmp_path: Path) -> None:
    path, contents = tmp_path / "file", [bytes([letter]) * 100_000 for letter in range(8)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda content: write_file(path, content), contents))
    assert path.read_bytes() in contents


def test_of_many_creators_at_once_one_makes_the_file(tmp_path: Path) -> None:
    path, contents = tmp_path / "file", [bytes([letter]) for letter in range(8)]
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda content: create_file(path, content), contents))
    assert made.count(True) == 1
    assert path.read_bytes() == contents[made.index(True)]


@POSIX
def test_a_directory_that_others_may_enter_is_closed_to_them_at_open(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    DirectoryLock(tmp_path).release()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


@POSIX
def test_a_directory_that_is_shared_on_purpose_is_left_so_and_warned_about(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_path.chmod(0o1777)
    with caplog.at_level(logging.WARNING):
        DirectoryLock(tmp_path).release()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
    assert f"{tmp_path} is open to other users (mode 1777)" in caplog.text
