"""The Inspector's command line: its strict lint of the tool list, and the lists as it reads them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from uniko_mcp.operations import CATALOGUE

from .conftest import Node


@pytest.fixture
def inspector(node: Node) -> Node:
    version = node.run(Path("-p"), "process.versions.node").stdout
    if int(version.partition(".")[0]) < 22:
        pytest.skip(f"the Inspector needs Node 22 or later, this is {version.strip()}")
    return node


def inspect(inspector: Node, data_dir: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run it on the server. It has a `--config` of its own, so the server gets its settings from the environment."""
    server = [sys.executable, "-m", "uniko_mcp", "--data-dir", str(data_dir), "serve"]
    offline = ("-e", "UNIKO_EMBEDDING__MODEL=none")
    return inspector.run(inspector.binary("mcp-inspector"), "--cli", *server, *offline, *options)


def test_the_tool_list_passes_the_strict_lint(inspector: Node, data_dir: Path) -> None:
    done = inspect(inspector, data_dir, "--method", "tools/list", "--strict")
    assert done.returncode == 0, done.stderr
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == list(CATALOGUE)


@pytest.mark.parametrize(
    ("method", "key"),
    [
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ],
)
def test_the_other_lists_are_read(inspector: Node, data_dir: Path, method: str, key: str) -> None:
    done = inspect(inspector, data_dir, "--method", method)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[key]
