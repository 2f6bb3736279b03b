"""A client that speaks lines: for what no well-behaved client would send, and for how the process begins and ends."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from .conftest import server_command

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "lines", "version": "1"},
}


class RawClient:
    """A server process, and its lines. Its stderr goes to a file."""

    def __init__(self, command: list[str], stderr: Path, **environment: str) -> None:
        self.stderr = stderr
        self._next_id = 0
        with open(stderr, "wb") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **environment},
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    @classmethod
    def of(cls, data_dir: Path, *options: str, **environment: str) -> RawClient:
        """A client of the command line that users configure."""
        data_dir.parent.mkdir(parents=True, exist_ok=True)
        return cls(server_command(data_dir, *options), data_dir.parent / "stderr.txt", **environment)

    def send(self, method: str, params: dict[str, Any]) -> int:
        """Send a request; returns its id."""
        self._next_id += 1
        self.send_line(
            json.dumps({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}).encode("ascii")
        )
        return self._next_id

    def send_line(self, line: bytes) -> None:
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next line, which must be a JSON-RPC message."""
        message = json.loads(self.stdout.readline().decode("utf-8"))
        assert message["jsonrpc"] == "2.0"
        return message

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request, past the notifications that come before it."""
        request_id = self.send(method, params)
        while (message := self.receive()).get("id") != request_id:
            assert "id" not in message
        return message

    def initialize(self) -> dict[str, Any]:
        result = self.request("initialize", INITIALIZE)
        self.send_line(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return result["result"]

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The result of a tool."""
        return self.request("tools/call", {"name": name, "arguments": arguments})["result"]

    def rest(self) -> list[dict[str, Any]]:
        """All lines until the server ends."""
        return [json.loads(line) for line in self.stdout.read().decode("utf-8").splitlines()]

    def wait(self) -> int:
        """The exit code. The limit only guards against a server that never ends."""
        return self.process.wait(timeout=30)

    def __enter__(self) -> RawClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        self.stdin.close()
        self.stdout.close()
