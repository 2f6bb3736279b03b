"""How long `memory_save` and `my_memory` take while three relays are served, of which one is dead.

    python -m benchmarks.notes [--rounds 100] [--characters 4000]

The relays: `LocalRelay` of nostr_sdk, PyPI nostr-relay over SQLite, and a dead one that refuses connections or takes
them and says nothing. The yardstick is the same without relays. Reach: at most 50 ms p50, since delivery is in the
background. Also printed: one save that waits for the relays, and opening until the short-term memory is decrypted.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

from tests.notes.relays.independent import IndependentRelay
from tests.notes.relays.local import LocalRelay
from uniko_mcp.notes import NoteKind, Notes, NotesSettings

LONG = NoteKind.LONG_TERM


async def main(rounds: int, characters: int) -> None:
    """Measure and print one row for each set of relays."""
    logging.basicConfig(level=logging.ERROR)
    print(f"{rounds} rounds of {characters:,} characters, times in ms")
    print(f"{'relays':<34}{'save p50':>10}{'p95':>8}{'read p50':>10}{'p95':>8}{'waited':>10}{'open':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with living_relays(folder) as living:
            refusing, silent = free_socket(), free_socket()
            silent.listen()
            refused = address_of(refusing)
            refusing.close()
            for label, relays in (
                ("none (yardstick)", ()),
                ("two living", living),
                ("two living, one refuses", (*living, refused)),
                ("two living, one is silent", (*living, address_of(silent))),
            ):
                await measure(folder / label, label, relays, rounds, "x" * characters)
            silent.close()


async def measure(folder: Path, label: str, relays: tuple[str, ...], rounds: int, text: str) -> None:
    """Print the row of one set of relays."""
    notes = await Notes.open(folder, NotesSettings(relays=relays))
    await notes.save(LONG, text)
    await notes.start_delivery()
    saves: list[float] = []
    reads: list[float] = []
    for number in range(rounds):
        saves.append(await timed(notes.save(LONG, f"{number} {text}")))
        reads.append(await timed(notes.read(LONG)))
    waited = await timed(notes.save(LONG, text, wait_for_relays=True))
    await notes.save(NoteKind.SHORT_TERM, text)
    await notes.close()
    opened = await timed(open_and_wait(folder, relays))
    row = [statistics.median(saves), p95(saves), statistics.median(reads), p95(reads), waited, opened]
    widths = (10, 8, 10, 8, 10, 8)
    print(f"{label:<34}" + "".join(f"{value:>{width}.2f}" for value, width in zip(row, widths, strict=True)))


async def open_and_wait(folder: Path, relays: tuple[str, ...]) -> None:
    """Open until the short-term memory is decrypted."""
    notes = await Notes.open(folder, NotesSettings(relays=relays))
    await notes.ready()
    await notes.close()


@asynccontextmanager
async def living_relays(folder: Path) -> AsyncIterator[tuple[str, str]]:
    """The addresses of the two relays that work."""
    local, independent = (
        LocalRelay(folder / "local", free_port()),
        IndependentRelay(folder / "independent", free_port()),
    )
    await local.start()
    await independent.start()
    try:
        yield local.url, independent.url
    finally:
        await independent.stop()
        await local.stop()


async def timed(work: Awaitable[object]) -> float:
    """Milliseconds that an awaitable takes."""
    started = time.perf_counter()
    await work
    return (time.perf_counter() - started) * 1_000


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def free_socket() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    return listener


def free_port() -> int:
    with free_socket() as probe:
        return probe.getsockname()[1]


def address_of(listener: socket.socket) -> str:
    return f"ws://127.0.0.1:{listener.getsockname()[1]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--characters", type=int, default=4_000)
    options = parser.parse_args()
    sys.exit(asyncio.run(main(options.rounds, options.characters)))
