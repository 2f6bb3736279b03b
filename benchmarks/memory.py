"""Resident memory of a real server over stdio: empty, and on memories of growing size, idle and after work.

    python benchmarks/memory.py [--sizes 1000 10000 100000] [--calls 50] [--model none] [--corpus FOLDER]

"Idle" is taken when the list of tools and a first answer are there, "read" after so many reads of each kind, "written"
after as many writes. The memory of the client does not count. `ps` has to be there, so not on Windows.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path
from typing import Final

import anyio
from corpus import PROJECT, corpus, message, subject, subjects
from stdio_server import StdioServer, serving

from uniko_mcp.models.ids import new_id

_HEAD: Final = f"{'MiB resident':<42}{'idle':>9}{'read':>9}{'written':>9}"


async def measure(data_dir: Path, label: str, messages: int, options: argparse.Namespace) -> None:
    """Print the resident memory of a server on this data directory."""
    calls: int = options.calls
    async with serving(data_dir, EMBEDDING__MODEL=options.model) as server:
        await server.list_tools()
        await server.call("memory_status")
        idle = server.resident()
        await _read(server, messages, calls)
        read = server.resident()
        await _write(server, messages, calls)
        written = server.resident()
    print(f"{label:<42}{idle:>9.0f}{read:>9.0f}{written:>9.0f}", flush=True)


async def _read(server: StdioServer, messages: int, calls: int) -> None:
    for number in range(calls):
        await server.call("goal_context", goal_id=PROJECT)
        await server.call("search_facts", subject=subject(number % subjects(messages)))
        await server.call("search_facts", query="value")
        await server.call("get_memory", id=f"message-{number * 97 % max(1, messages)}")


async def _write(server: StdioServer, messages: int, calls: int) -> None:
    rng = random.Random(1)
    session_id = new_id()
    for number in range(calls):
        said = [message(rng, number, subjects(messages)) | {"message_id": new_id()}]
        await server.call("record_messages", session_id=session_id, messages=said)
        await server.call("assert_fact", subject=session_id, predicate="counted", object=str(number))


async def _measure_all(folder: Path, options: argparse.Namespace) -> None:
    print(_HEAD)
    with tempfile.TemporaryDirectory() as empty:
        await measure(Path(empty), "empty", 0, options)
    for messages in options.sizes:
        await measure(await corpus(folder, messages), f"{messages:,} messages", messages, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="messages")
    parser.add_argument("--calls", type=int, default=50, help="reads of each kind, and writes")
    parser.add_argument("--model", default="none", help="an embedding model that is there; none measures without")
    parser.add_argument("--corpus", type=Path, help="where memories are kept and used again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        anyio.run(_measure_all, options.corpus or Path(temporary), options)


if __name__ == "__main__":
    main()
