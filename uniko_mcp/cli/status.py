"""The command `status`: how the memory is, for a person or a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import click

from uniko_mcp.cli.options import with_settings
from uniko_mcp.cli.run import result_json, run_operation

if TYPE_CHECKING:
    from uniko_mcp.config import Settings


@click.command(short_help="Show where the memory is, what it holds, and what needs attention.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_settings
def status(settings: Settings, as_json: bool) -> None:
    """Show where the memory is, how much it holds, and whether anything needs attention."""
    result = run_operation(settings, "memory_status", {})
    click.echo(result_json(result) if as_json else _table(result.as_json()))


def _table(fields: Mapping[str, Any]) -> str:
    width = max(map(len, fields)) + 2
    return "\n".join(f"{name.replace('_', ' '):<{width}}{_cell(value)}" for name, value in fields.items())


def _cell(value: Any) -> str:
    match value:
        case dict() | list() if not value:
            return "none"
        case dict():
            entries = cast(dict[str, Any], value)
            return ", ".join(f"{key} {_cell(inner)}" for key, inner in entries.items())
        case list():
            return "; ".join(_cell(item) for item in cast(list[Any], value))
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case _:
            return str(value)
