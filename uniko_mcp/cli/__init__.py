"""The command line. Commands import what they work with when they run, so that help and version answer at once."""

from uniko_mcp.cli.program import main

__all__ = ["main"]
