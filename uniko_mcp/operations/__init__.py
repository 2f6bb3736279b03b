"""Everything the memory can do, by name. MCP tools, the Python facade, the command line and schemas/ derive from it."""

from __future__ import annotations

from typing import Final

from uniko_mcp.operations import goals
from uniko_mcp.operations.catalogue import Catalogue

CATALOGUE: Final = Catalogue(
    [
        goals.create_goal,
        goals.update_goal,
        goals.list_goals,
    ]
)

__all__ = ["CATALOGUE"]
