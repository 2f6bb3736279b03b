"""The commands `record`, `recall` and `reindex`: a transcript goes in, cited evidence comes out."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from uniko_mcp.cli.options import with_settings
from uniko_mcp.cli.run import result_json, run_operation, run_with_services
from uniko_mcp.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from uniko_mcp.config import Settings
    from uniko_mcp.memory.recollection import RecollectionStatus
    from uniko_mcp.operations.call import Services

_UNIT: Final = 1_000
"""Messages that one call of record_messages takes."""

_VECTOR_PATIENCE: Final = 5.0
"""Seconds that a recall from the shell waits for what was recorded just before to be found by meaning too."""


@click.command(short_help="Keep a chat transcript.")
@click.argument("transcript", type=click.File("r", encoding="utf-8-sig"), metavar="FILE|-")
@click.option("--session", "session_id", help="The conversation's id; the file's name when left out.")
@click.option("--topic", help="What the conversation is about.")
@with_settings
def record(settings: Settings, transcript: Any, session_id: str | None, topic: str | None) -> None:
    """Keep a chat transcript: a speaker's name and a colon before each turn, a date before it if there is one.

    \b
      [2026-03-01 10:00] Ana: Is the export done?
      Ben: Nearly. It stops at invoice 4812.

    Recording the same transcript again changes nothing.
    """
    from uniko_mcp.extract.transcripts import read_transcript
    from uniko_mcp.models.names import digest

    session = session_id or Path(str(transcript.name)).stem.strip("<>-") or "transcript"
    turns = read_transcript(transcript.read())
    if not turns:
        raise InvalidArgumentsError(
            "the transcript names no speaker", next_step="Begin each turn with a name and a colon, such as Ana: Hello"
        )
    messages: list[dict[str, Any]] = []
    for position, turn in enumerate(turns):
        message = {"sender": turn.speaker, "content": turn.text}
        messages.append(
            {**message, "message_id": f"{session}-{position}-{digest(message)[:8]}", "timestamp": turn.time}
        )
    totals = {"created": 0, "entities": 0, "observations": 0}
    for start in range(0, len(messages), _UNIT):
        arguments = {"session_id": session, "topic": topic, "messages": messages[start : start + _UNIT]}
        result = run_operation(settings, "record_messages", arguments).model_dump()
        totals = {name: count + result[name] for name, count in totals.items()}
    click.echo(
        f"{totals['created']} of {len(messages)} messages are new in conversation {session}:"
        f" {totals['observations']} claims, {totals['entities']} things mentioned."
    )


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
    click.echo(result_json(result) if as_json else _evidence(result.model_dump(mode="json", exclude_none=True)))


def _evidence(result: dict[str, Any]) -> str:
    lines: list[str] = []
    for number, item in enumerate(result["items"], start=1):
        lines.append(f"{number}. {item['text']}")
        where = {source.get("session_id") or source.get("artifact_id") for source in item["sources"]} - {None}
        who = {source["sender"] for source in item["sources"] if source.get("sender")}
        ids = [source["message_id"] for source in item["sources"] if source.get("message_id")]
        parts = [item["kind"], item["timestamp"], ", ".join(sorted(who)), ", ".join(sorted(where)), ", ".join(ids)]
        lines.append(f"   {' · '.join(part for part in parts if part)}")
    return "\n".join([*(lines or ["Nothing was found."]), *(f"({note})" for note in result["notes"])])


@click.command(short_help="Build the search index anew.")
@with_settings
def reindex(settings: Settings) -> None:
    """Build the index that recall searches anew from the memory, and give everything its vector."""

    async def run(services: Services) -> RecollectionStatus:
        def progress(done: int) -> None:
            click.echo(f"\r{done:,} indexed", nl=False, err=True)

        documents = await services.recollection.reindex(progress)
        click.echo(f"\r{documents:,} indexed, now their vectors …", err=True)
        await services.recollection.embedded()
        return await services.recollection.status()

    status = run_with_services(settings, run)
    click.echo(f"{status.documents:,} memories are indexed, {status.vectors.embedded:,} of them with a vector.")
    if status.vectors.reason:
        click.echo(status.vectors.reason, err=True)
