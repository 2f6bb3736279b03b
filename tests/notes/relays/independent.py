"""PyPI `nostr-relay`: an independent implementation, in a process of its own over SQLite."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

CONFIGURATION = """
DEBUG: false
storage:
  sqlalchemy.url: sqlite+aiosqlite:///{folder}/events.sqlite3
  validators:
    - nostr_relay.validators.is_not_too_large
    - nostr_relay.validators.is_signed
    - nostr_relay.validators.is_recent
max_event_size: 65536
gunicorn:
  bind: 127.0.0.1:{port}
authentication:
  enabled: false
"""


class IndependentRelay:
    """Keeps port and events over a restart."""

    def __init__(self, folder: Path, port: int) -> None:
        self.url = f"ws://127.0.0.1:{port}"
        self._configuration = folder / "relay.yaml"
        self._configuration.write_text(CONFIGURATION.format(folder=folder, port=port), encoding="utf-8")
        self._process: asyncio.subprocess.Process | None = None
        self._drain: asyncio.Task[None] | None = None

    async def start(self) -> None:
        serve = "from nostr_relay.cli import main; main()"
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-c", serve, "-c", str(self._configuration), "serve", "--use-uvicorn"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert self._process.stdout is not None
        log = b""
        while b"running on" not in (line := await self._process.stdout.readline()):
            assert line, log.decode()
            log += line
        self._drain = asyncio.create_task(_drain(self._process.stdout))

    async def stop(self) -> None:
        if self._process is None or self._drain is None:
            return
        self._process.terminate()
        await self._process.wait()
        await self._drain
        self._process = None

    async def forget(self) -> None:
        raise AssertionError("not needed of this relay")


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.readline():
        pass
