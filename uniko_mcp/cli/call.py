"""The command `call`: one operation from a script or a hook, without MCP."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, cast

import click

from uniko_mcp.cli.options import with_settings
from uniko_mcp.cli.run import result_json, run_operation
from uniko_mcp.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from uniko_mcp.config import Settings


@click.command(short_help="Run one operation, for scripts and hooks.")
@click.argument("operation")
@click.argument("arguments", metavar="[JSON|-]", default="{}")
@click.option("--json/--text", "as_json", default=True, help="Print JSON (the default), or the text a model is shown.")
@with_settings
def call(settings: Settings, operation: str, arguments: str, as_json: bool) -> None:
    """Run OPERATION, which is the name of a tool, and print its result.

    The arguments are a JSON object; - reads it from stdin.

    \b
      uniko-mcp call create_goal '{"title": "Ship the beta"}'
      uniko-mcp call list_goals | jq .goals
      uniko-mcp call --text list_goals '{"phase": "active"}'
    """
    result = run_operation(settings, operation, _parse(_read_stdin() if arguments == "-" else arguments))
    if as_json:
        click.echo(result_json(result))
        return
    from uniko_mcp.server.rendering import render

    click.echo(render(result.as_json()))


def _read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidArgumentsError(f"stdin is not UTF-8 at byte {error.start}") from error


def _parse(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentsError(
            f"the arguments are not JSON: {error}", next_step='Give an object, such as {"title": "Ship the beta"}'
        ) from error
    if not isinstance(arguments, dict):
        raise InvalidArgumentsError(
            "the arguments are not a JSON object", next_step='Give an object, such as {"title": "Ship the beta"}'
        )
    return cast(dict[str, Any], arguments)
