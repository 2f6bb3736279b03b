"""`python -m uniko_mcp`: the same as the command `uniko-mcp`."""

from uniko_mcp.cli import main

main(prog_name="uniko-mcp")
