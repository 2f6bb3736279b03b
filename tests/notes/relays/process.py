"""A relay in a process of its own, so that stopping it is certain and leaves nothing behind but its files."""

from __future__ import annotations

import asyncio
import shutil
import sys
from abc import ABC, abstractmethod
from pathlib import Path


class RelayProcess(ABC):
    """Keeps port and events over a restart. Subclasses say what to run and when it is ready."""

    ready: bytes

    def __init__(self, folder: Path, port: int) -> None:
        self.url = f"ws://127.0.0.1:{port}"
        self._folder = folder
        self._port = port
        self._process: asyncio.subprocess.Process | None = None
        self._drain: asyncio.Task[None] | None = None

    @abstractmethod
    def arguments(self) -> list[str]:
        """What the Python interpreter is started with."""

    async def start(self) -> None:
        self._folder.mkdir(exist_ok=True)
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, *self.arguments(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        assert self._process.stdout is not None
        log = b""
        while self.ready not in (line := await self._process.stdout.readline()):
            assert line, log.decode()
            log += line
        self._drain = asyncio.create_task(_drain(self._process.stdout))

    async def stop(self) -> None:
        if self._process is None or self._drain is None:
            return
        self._process.kill()
        await self._process.wait()
        await self._drain
        self._process = None

    async def forget(self) -> None:
        """Lose every event, as a relay may."""
        await self.stop()
        shutil.rmtree(self._folder)
        await self.start()


async def _drain(stream: asyncio.StreamReader) -> None:
    while await stream.readline():
        pass
