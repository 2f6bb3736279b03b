"""The memories under test, each behind the same three calls: this server over MCP, a peer in a process of its own."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Protocol

from stdio_server import StdioServer, embedding, serving

from evidence.conversations import Message
from evidence.scores import Item
from uniko_mcp.models.time import format_instant

_MOST_TOKENS: Final = 100_000
"""What one answer may hold: the scores cut by number and by characters, so nothing else should."""


class Memory(Protocol):
    """A memory that is empty at first. Each call returns when the memory says that it is done."""

    async def record(self, unit: Sequence[Message]) -> float:
        """Keep messages of one session, all at once; the seconds until that was acknowledged."""
        ...

    async def settle(self) -> float:
        """Wait until everything is embedded; the seconds that took."""
        ...

    async def recall(self, question: str) -> tuple[list[Item], float]:
        """The evidence for a question, best first, and the seconds until it was there."""
        ...


class ServerMemory:
    """This product: the real server over stdio, called as a client calls it."""

    def __init__(self, server: StdioServer, kinds: Sequence[str], limit: int) -> None:
        self._server = server
        self._kinds = list(kinds)
        self._limit = limit

    async def record(self, unit: Sequence[Message]) -> float:
        messages = [
            {
                "message_id": message.id,
                "sender": message.sender,
                "role": message.role,
                "content": message.content,
                "timestamp": format_instant(message.timestamp),
            }
            for message in unit
        ]
        began = time.perf_counter()
        await self._server.call("record_messages", session_id=unit[0].session, messages=messages)
        return time.perf_counter() - began

    async def settle(self) -> float:
        began = time.perf_counter()
        await self._server.embedded()
        return time.perf_counter() - began

    async def recall(self, question: str) -> tuple[list[Item], float]:
        began = time.perf_counter()
        found = await self._server.call(
            "recall", query=question, limit=self._limit, token_budget=_MOST_TOKENS, kinds=self._kinds
        )
        seconds = time.perf_counter() - began
        return [Item(item["text"], _messages(item["sources"])) for item in found["items"]], seconds


@asynccontextmanager
async def server_memory(model: Path | None, kinds: Sequence[str], limit: int) -> AsyncGenerator[Memory]:
    """An empty memory behind a server of its own, with its model loaded."""
    settings = embedding(model) | {"OUTPUT__MAX_TOKENS": str(2 * _MOST_TOKENS)}
    with tempfile.TemporaryDirectory() as folder:
        async with serving(Path(folder) / "data", **settings) as server:
            await server.model_loaded()
            yield ServerMemory(server, kinds, limit)


class PeerMemory:
    """The Python package uniko, in an interpreter that has it. It embeds before it acknowledges.

    Seconds are taken in its process, around its own calls.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    async def record(self, unit: Sequence[Message]) -> float:
        return self._ask("record", [asdict(message) for message in unit])["seconds"]

    async def settle(self) -> float:
        return 0.0

    async def recall(self, question: str) -> tuple[list[Item], float]:
        answer = self._ask("recall", question)
        return [Item(text, tuple(messages)) for text, messages in answer["items"]], answer["seconds"]

    def _ask(self, request: str, argument: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([request, argument]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the peer's process ended; run it by hand to see why")
        return json.loads(line)


@asynccontextmanager
async def peer_memory(python: Path) -> AsyncGenerator[Memory]:
    """An empty memory of the peer, with its model loaded."""
    with tempfile.TemporaryDirectory() as folder, _peer_process(python, Path(folder) / "data") as process:
        assert process.stdin is not None
        with closing(process.stdin):
            yield PeerMemory(process)


def _peer_process(python: Path, data_dir: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, Path(__file__).with_name("peer_uniko.py"), data_dir],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # it prints how long each step of a recall took
        encoding="utf-8",
    )


def peer_version(python: Path) -> str:
    """The version of the peer that this interpreter has; ends the benchmark when it has none."""
    code = "import importlib.metadata as m, uniko; print(m.version('uniko'))"
    told = subprocess.run([python, "-c", code], capture_output=True, encoding="utf-8", check=False)
    if told.returncode:
        raise SystemExit(f"{python} has no uniko: {told.stderr.strip().splitlines()[-1]}")
    return told.stdout.strip()


def _messages(sources: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(source["message_id"] for source in sources if source.get("message_id"))
