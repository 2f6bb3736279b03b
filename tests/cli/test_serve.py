"""`serve` from a terminal: it says what it is and how to go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import PROGRAM, environment

CTRL_D = b"\x04"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_from_a_terminal_it_says_what_it_is_where_the_data_is_and_how_to_connect_and_leave(tmp_path: Path) -> None:
    keyboard, terminal = os.openpty()
    server = subprocess.Popen(
        [*PROGRAM, "--agent", "ana"],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(UNIKO_DATA_DIR=str(tmp_path / "memory")),
        encoding="utf-8",
    )
    os.close(terminal)
    os.write(keyboard, CTRL_D)
    printed, said = server.communicate(timeout=120)
    os.close(keyboard)
    assert server.returncode == 0
    assert printed == ""
    assert "a memory for MCP clients" in said
    assert f"The memory of agent 'ana' is in {tmp_path / 'memory'}" in said
    assert f'"--data-dir", "{tmp_path / "memory"}", "--agent", "ana"' in said
    assert "claude mcp add uniko --" in said
    assert "To leave: Ctrl-C or Ctrl-D" in said


def test_started_by_a_client_it_says_nothing(tmp_path: Path) -> None:
    result = subprocess.run(
        PROGRAM,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(UNIKO_DATA_DIR=str(tmp_path)),
        encoding="utf-8",
        timeout=120,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
