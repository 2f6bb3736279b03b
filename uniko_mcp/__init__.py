"""uniko-mcp: a memory that any MCP client can plug in."""

__version__ = "0.1.0"
