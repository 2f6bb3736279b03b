"""A real server over stdio to measure: spawned on a data directory, called as a client calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
from mcp import Client, StdioServerParameters

_POLL_SECONDS: Final = 0.1


class StdioServer:
    """A connected server on a data directory."""

    def __init__(self, client: Client, data_dir: Path) -> None:
        self._client = client
        self._data_dir = data_dir

    async def list_tools(self) -> None:
        await self._client.list_tools()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured result of a tool; an error ends the benchmark."""
        result = await self._client.call_tool(tool, arguments)
        if result.is_error:
            raise SystemExit(f"{tool} failed: {result.content}")
        assert result.structured_content is not None
        return result.structured_content

    async def model_loaded(self) -> None:
        """Wait until the embedding model is there; a missing one ends the benchmark."""
        status = await self.call("memory_status")
        while status["embedder"]["state"] in ("loading", "fetching"):
            await anyio.sleep(_POLL_SECONDS)
            status = await self.call("memory_status")
        if status["embedder"]["state"] == "unavailable":
            raise SystemExit(status["embedder"]["reason"])

    async def indexed(self) -> dict[str, Any]:
        """Wait until every acknowledged write is found by its words; the state of the index."""
        while True:
            index = (await self.call("memory_status"))["index"]
            if not index["catching_up"]:
                return index
            await anyio.sleep(_POLL_SECONDS)

    async def embedded(self, patience: float = float("inf")) -> dict[str, Any]:
        """Wait until everything has its vector, at most `patience` seconds; the state of the index."""
        index = await self.indexed()
        with anyio.move_on_after(patience):
            while index["pending"] and (await self.call("memory_status"))["embedder"]["state"] == "ready":
                await anyio.sleep(_POLL_SECONDS)
                index = await self.indexed()
        return index

    def resident(self) -> float:
        """Resident set of the process that holds the memory, in MiB. `ps` has to be there, so not on Windows."""
        holder = json.loads((self._data_dir / "hub.lock").read_text(encoding="utf-8"))
        told = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(holder["pid"])], check=True, capture_output=True, encoding="utf-8"
        )
        return int(told.stdout) / 1024


@asynccontextmanager
async def serving(data_dir: Path, **settings: str) -> AsyncGenerator[StdioServer]:
    """A server on this data directory; `settings` as environment variables without their prefix."""
    variables = {f"UNIKO_{name}": value for name, value in settings.items()}
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "uniko_mcp", "--data-dir", str(data_dir)],
        env={**os.environ, **variables},
    )
    async with Client(parameters) as client:
        yield StdioServer(client, data_dir)


def embedding(model: Path | None) -> dict[str, str]:
    """The settings for the model in this folder, or for none."""
    return {"EMBEDDING__PATH": str(model)} if model else {"EMBEDDING__MODEL": "none"}
