"""How MCP clients are told to start this server: the text to paste into each."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Final

_UVX_CACHE: Final = "archive-v0"
"""The folder in which uv keeps the environments that it makes for uvx."""


def client_guide(command: list[str]) -> str:
    """What to paste into the well-known clients so that they start `command`."""
    program, *arguments = command
    server = {"command": program, "args": arguments}
    return "\n".join(
        [
            "Connect a client:",
            "",
            "  Claude Desktop (claude_desktop_config.json), Cursor (~/.cursor/mcp.json)",
            f"    {json.dumps({'mcpServers': {'uniko': server}}, ensure_ascii=False)}",
            "  VS Code (.vscode/mcp.json)",
            f"    {json.dumps({'servers': {'uniko': {'type': 'stdio', **server}}}, ensure_ascii=False)}",
            "  Claude Code",
            f"    claude mcp add uniko -- {shlex.join(command)}",
        ]
    )


def this_program() -> list[str]:
    """The command that starts this very installation, from any folder."""
    if _UVX_CACHE in Path(sys.prefix).parts:
        return ["uvx", "uniko-mcp"]  # what uvx runs lies in its cache, and may be gone tomorrow
    started_as = Path(sys.argv[0])
    if started_as.stem == "uniko-mcp" and started_as.is_file():
        return [str(started_as.absolute())]
    return [sys.executable, "-m", "uniko_mcp"]
