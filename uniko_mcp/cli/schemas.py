"""The command `schemas`: the published description of the tools and of the configuration, as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click


def mcp_tools() -> dict[str, Any]:
    """All tools as `tools/list` of MCP shows them."""
    from uniko_mcp.operations import CATALOGUE
    from uniko_mcp.server.descriptions import describe

    tools = [describe(operation) for operation in CATALOGUE.values()]
    return {"tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]}


def openai_tools() -> list[dict[str, Any]]:
    """All tools in the function-calling form of the OpenAI API, which most agent frameworks read."""
    from uniko_mcp.operations import CATALOGUE
    from uniko_mcp.operations.json_schema import params_schema

    return [
        {
            "type": "function",
            "function": {
                "name": operation.name,
                "description": operation.description,
                "parameters": params_schema(operation),
            },
        }
        for operation in CATALOGUE.values()
    ]


def config_schema() -> dict[str, Any]:
    """The JSON schema of the configuration file."""
    from uniko_mcp.config import Settings

    schema = Settings.model_json_schema()
    schema["properties"]["$schema"] = {"type": "string"}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "uniko-mcp configuration"}


FILES: Final[dict[str, Callable[[], Any]]] = {
    "mcp-tools.json": mcp_tools,
    "openai-tools.json": openai_tools,
    "config.schema.json": config_schema,
}


@click.command(short_help="Write the JSON schemas of tools and configuration.")
@click.option(
    "--output",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("schemas"),
    show_default=True,
    help="The folder to write to.",
)
@click.option("--check", is_flag=True, help="Write nothing; fail when a file is missing or out of date.")
def schemas(folder: Path, check: bool) -> None:
    """Write the JSON schemas: tools for MCP, tools for the OpenAI API, and the configuration file."""
    stale = [name for name, text in _rendered().items() if _read(folder / name) != text]
    if check:
        if stale:
            raise click.ClickException(f"out of date in {folder}: {', '.join(stale)}. Run uniko-mcp schemas")
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in _rendered().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
        click.echo(f"{folder / name}{'' if name in stale else ' (unchanged)'}")


def _rendered() -> dict[str, str]:
    return {name: json.dumps(make(), ensure_ascii=False, indent=2) + "\n" for name, make in FILES.items()}


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
