"""The command `recall`: a question in, cited evidence out."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Final

import click

from uniko_mcp.cli.options import with_settings
from uniko_mcp.cli.run import result_json, run_operation

if TYPE_CHECKING:
    from uniko_mcp.config import Settings
    from uniko_mcp.operations.call import Services

_VECTOR_PATIENCE: Final = 5.0
"""Seconds that a recall from the shell waits for what was recorded just before to be found by meaning too."""


@click.command(short_help="Ask the memory, and see the evidence.")
@click.argument("query")
@click.option("--limit", type=int, help="Most items.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_settings
def recall(settings: Settings, query: str, limit: int | None, as_json: bool) -> None:
    """Find what the memory holds on QUERY, each piece with who said it, when, and in which conversation."""

    def embedded(services: Services) -> Awaitable[object]:
        return services.recollection.embedded(_VECTOR_PATIENCE)

    result = run_operation(settings, "recall", {"query": query, "limit": limit}, before=embedded)
    click.echo(result_json(result) if as_json else _evidence(result.as_json()))


def _evidence(result: dict[str, Any]) -> str:
    lines: list[str] = []
    for number, item in enumerate(result["items"], start=1):
        lines.append(f"{number}. {item['text']}")
        where = {source.get("session_id") or source.get("artifact_id") for source in item["sources"]} - {None}
        who = {source["sender"] for source in item["sources"] if source.get("sender")}
        ids = [source["message_id"] for source in item["sources"] if source.get("message_id")]
        ids += [f"{item['more_sources']} more"] if "more_sources" in item else []
        parts = [item["kind"], item["timestamp"], ", ".join(sorted(who)), ", ".join(sorted(where)), ", ".join(ids)]
        lines.append(f"   {' · '.join(part for part in parts if part)}")
    return "\n".join([*(lines or ["Nothing was found."]), *(f"({note})" for note in result["notes"])])
