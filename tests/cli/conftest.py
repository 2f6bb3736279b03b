"""The program as a user starts it: a process of its own, without the settings of whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest

PROGRAM = [sys.executable, "-m", "uniko_mcp"]


def environment(**variables: str) -> dict[str, str]:
    """The environment of this process without our settings, and with `variables`."""
    return {name: value for name, value in os.environ.items() if not name.startswith("UNIKO_")} | variables


class Run(Protocol):
    """Runs the program on the memory of the test."""

    def __call__(
        self, *arguments: str, stdin: str = "", variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "my memory" / "Größe 1"


@pytest.fixture
def run(data_dir: Path) -> Run:
    def run_program(
        *arguments: str, stdin: str = "", variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *arguments],
            input=stdin,
            env=environment(UNIKO_DATA_DIR=str(data_dir), **(variables or {})),
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    return run_program
