"""The MCP server: the protocol and nothing else. What a call means is decided in `operations` and `memory`."""
