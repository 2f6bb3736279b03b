"""The official conformance suite on the product's server class, over streamable HTTP."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import HERE, Node


@pytest.mark.parametrize(
    ("package", "selection"),
    [
        ("@modelcontextprotocol/conformance", ("--suite", "all")),
        ("conformance-2026-07-28", ("--requirements", "2026-07-28")),
    ],
    ids=["handshake", "2026-07-28"],
)
def test_the_conformance_suite_fails_nowhere_but_where_it_is_known_to(
    node: Node, data_dir: Path, tmp_path: Path, package: str, selection: tuple[str, str]
) -> None:
    """The suite itself checks both directions: a new failure, and a known one that passes by now."""
    server = subprocess.Popen(
        [sys.executable, str(HERE / "conformance_server.py"), str(data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert server.stdout is not None
    assert server.stdin is not None
    with server:
        port = server.stdout.readline().strip()
        done = node.run(
            node.folder / "node_modules" / package / "dist" / "index.js",
            *("server", "--url", f"http://127.0.0.1:{port}/mcp", *selection, "--output-dir", str(tmp_path)),
            *("--expected-failures", str(HERE / f"conformance_known_failures_{package.rpartition('/')[2]}.yml")),
        )
        server.stdin.close()
        assert done.returncode == 0, done.stdout
    assert server.returncode == 0
