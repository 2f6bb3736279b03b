"""Notes in a temporary data directory, a key to forge events with, and real relays on loopback."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.notes.forge import Forge
from tests.notes.relays.hostile import HostileRelay
from tests.notes.relays.independent import IndependentRelay
from tests.notes.relays.local import AuthenticatingRelay, LocalRelay
from uniko_mcp.notes import Notes, NotesSettings, Patience

OpenNotes: TypeAlias = Callable[..., Awaitable[Notes]]

PATIENCE = Patience(connect=5.0, answer=5.0, acknowledge=5.0, first_retry=0.01, longest_retry=0.05)


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    """The key that `open_notes` uses, for making events as another machine, or an attacker, would."""
    return Forge(tmp_path)


@pytest.fixture
async def open_notes(anyio_backend: Any, tmp_path: Path) -> AsyncIterator[OpenNotes]:
    """Opens notes with these relays; each is closed at the end. `machine` names the data directory."""
    opened: list[Notes] = []

    async def open_one(*relays: str, machine: str = "data", **settings: Any) -> Notes:
        settings = {"patience": PATIENCE, **settings}
        notes = await Notes.open(tmp_path / machine, NotesSettings(relays=relays, **settings))
        await notes.start_delivery()
        opened.append(notes)
        return notes

    yield open_one
    for notes in opened:
        await notes.close()


@pytest.fixture
def free_port() -> Callable[[], int]:
    """A port on loopback that nobody listens at."""

    def find() -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    return find


@pytest.fixture
async def local_relay(anyio_backend: Any, tmp_path: Path, free_port: Callable[[], int]) -> AsyncIterator[LocalRelay]:
    """The relay of nostr_sdk, running."""
    async with _running(LocalRelay(tmp_path / "local relay", free_port())) as relay:
        yield relay


@pytest.fixture
async def authenticating_relay(
    anyio_backend: Any, tmp_path: Path, free_port: Callable[[], int]
) -> AsyncIterator[AuthenticatingRelay]:
    """The relay of nostr_sdk that serves nobody who has not authenticated (NIP-42)."""
    async with _running(AuthenticatingRelay(tmp_path / "authenticating relay", free_port())) as relay:
        yield relay


@pytest.fixture
async def independent_relay(
    anyio_backend: Any, tmp_path: Path, free_port: Callable[[], int]
) -> AsyncIterator[IndependentRelay]:
    """PyPI nostr-relay, running."""
    async with _running(IndependentRelay(tmp_path / "independent relay", free_port())) as relay:
        yield relay


@pytest.fixture
async def hostile_relay(anyio_backend: Any, free_port: Callable[[], int]) -> AsyncIterator[HostileRelay]:
    """A relay that does as it is told, running."""
    async with _running(HostileRelay(free_port())) as relay:
        yield relay


@pytest.fixture(params=["local_relay", "independent_relay"])
def relay(request: pytest.FixtureRequest) -> LocalRelay | IndependentRelay:
    """Each honest relay in turn."""
    return request.getfixturevalue(request.param)


@asynccontextmanager
async def _running(relay: Any) -> AsyncIterator[Any]:
    await relay.start()
    try:
        yield relay
    finally:
        await relay.stop()
