"""`status`, and a memory that another process holds."""

from __future__ import annotations

import json
import os
from pathlib import Path

import anyio
import pytest

import uniko_mcp
from tests.cli.conftest import PROGRAM, Run, environment

pytestmark = pytest.mark.anyio


def test_status_is_a_table_for_people_and_json_for_scripts(run: Run, data_dir: Path) -> None:
    run("call", "create_goal", '{"title": "a"}')
    lines = dict(line.split(maxsplit=1) for line in run("status").stdout.splitlines())
    assert lines["version"] == uniko_mcp.__version__
    assert "Goal 1" in lines["counts"]
    status = json.loads(run("status", "--json").stdout)
    assert status["counts"]["Goal"] == 1
    assert status["data_dir"] == str(data_dir)


@pytest.mark.parametrize("command", [["status"], ["call", "list_goals"]])
async def test_a_command_says_who_holds_the_memory(command: list[str], run: Run, data_dir: Path) -> None:
    async with uniko_mcp.open(data_dir):
        result = run(*command)
    assert result.returncode == 75
    assert f"store_locked: {data_dir} is in use by process {os.getpid()} since" in result.stderr


async def test_a_second_server_says_who_holds_the_memory_and_ends(data_dir: Path) -> None:
    """W2."""
    async with (
        uniko_mcp.open(data_dir),
        await anyio.open_process(PROGRAM, env=environment(UNIKO_DATA_DIR=str(data_dir))) as server,
    ):
        assert server.stdout is not None
        assert server.stderr is not None
        printed = b"".join([piece async for piece in server.stdout])
        said = b"".join([piece async for piece in server.stderr]).decode("utf-8")
        code = await server.wait()
    assert code == 75
    assert f"is in use by process {os.getpid()} since" in said
    assert printed == b""


def test_a_data_folder_that_is_a_file_is_explained(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        result = run("status", "--data-dir", str(folder))
        assert result.returncode == 74
        assert str(folder) in result.stderr
        assert result.stderr.count("\n") == 1
