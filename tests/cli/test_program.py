"""The program as a whole: help, options, errors and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import uniko_mcp
from tests.cli.conftest import Run, environment

COMMANDS = ["serve", "status", "call", "prompt", "notes", "identity", "schemas", "demo"]


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version").stdout == f"uniko-mcp {uniko_mcp.__version__}\n"


def test_help_shows_every_command_and_what_to_paste_into_a_client(run: Run) -> None:
    text = run("--help").stdout
    assert all(command in text for command in COMMANDS)
    assert "claude mcp add uniko -- " in text
    pasted = json.loads(next(line for line in text.splitlines() if "mcpServers" in line))
    server = pasted["mcpServers"]["uniko"]
    started = subprocess.run([server["command"], *server["args"], "--version"], capture_output=True, check=True)
    assert started.stdout.startswith(b"uniko-mcp ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, run: Run) -> None:
    result = run(command, "--help")
    assert result.returncode == 0
    assert result.stdout.startswith(f"Usage: uniko-mcp {command}")


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["schemas", "--check", "--output", "schemas"]])
def test_what_needs_no_memory_imports_neither_database_nor_protocol(arguments: list[str]) -> None:
    script = (
        "import sys; from uniko_mcp.cli import main\n"
        "try: main()\n"
        "finally: print([name for name in ('kuzu', 'mcp', 'numpy') if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=environment(),
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr.strip() == "[]"


def test_options_stand_before_or_after_the_command_and_the_later_one_wins(run: Run, tmp_path: Path) -> None:
    before, after = str(tmp_path / "before"), str(tmp_path / "after")
    for arguments, folder in (
        (["--data-dir", before, "status", "--json"], before),
        (["status", "--json", "--data-dir", after], after),
        (["--data-dir", before, "status", "--json", "--data-dir", after], after),
    ):
        assert json.loads(run(*arguments).stdout)["data_dir"] == folder


def test_a_relative_data_folder_with_missing_parents_spaces_and_umlauts_works(tmp_path: Path) -> None:
    """C2."""
    result = subprocess.run(
        [sys.executable, "-m", "uniko_mcp", "--data-dir", "new folder/Übung/memory", "status", "--json"],
        env=environment(PYTHONPATH=str(Path(uniko_mcp.__file__).parent.parent)),
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert json.loads(result.stdout)["data_dir"] == str(tmp_path.resolve() / "new folder" / "Übung" / "memory")


@pytest.mark.parametrize("command", [["serve"], [], ["status"], ["call", "list_goals"]])
def test_a_misspelt_variable_ends_every_command_with_the_nearest_name(command: list[str], run: Run) -> None:
    """C1."""
    result = run(*command, variables={"UNIKO_LOGLEVEL": "debug"})
    assert result.returncode == 78
    assert result.stdout == ""
    assert result.stderr == (
        "uniko-mcp: invalid_configuration: unknown environment variable UNIKO_LOGLEVEL. Did you mean UNIKO_LOG_LEVEL?\n"
    )


def test_a_misspelt_key_in_the_file_names_file_and_nearest_key(run: Run, tmp_path: Path) -> None:
    """C1."""
    file = tmp_path / "c.jsonc"
    file.write_text('{"agentid": "a"} // mine', encoding="utf-8")
    result = run("status", "--config", str(file))
    assert result.returncode == 78
    assert f"unknown setting agentid in {file}. Did you mean agent_id?" in result.stderr


def test_a_wrong_value_of_an_option_is_named_with_what_would_be_right(run: Run) -> None:
    result = run("status", "--log-level", "loud")
    assert result.returncode == 78
    assert "log_level 'loud' (option): must be 'debug', 'info', 'warning' or 'error'" in result.stderr


def test_a_misspelt_tool_or_family_names_the_nearest(run: Run) -> None:
    result = run("--tools", "goals,recrod_action", "call", "list_goals")
    assert result.returncode == 2
    assert "Did you mean record_action?" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [["--frobnicate"], ["no_such_command"], ["--nsec", "nsec1"], ["call"]],
)
def test_wrong_usage_ends_with_two(arguments: list[str], run: Run) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert "Usage: uniko-mcp" in result.stderr
