"""The command `record`: a chat transcript goes into the memory."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import click

from uniko_mcp.cli.options import with_settings
from uniko_mcp.cli.run import run_with_services
from uniko_mcp.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from uniko_mcp.config import Settings
    from uniko_mcp.operations.call import Services

_UNIT: Final = 1_000
"""Messages that one call of record_messages takes."""


@click.command(short_help="Keep a chat transcript.")
@click.argument("transcript", type=click.File("r", encoding="utf-8-sig"), metavar="FILE|-")
@click.option("--session", "session_id", help="The conversation's id; the file's name when left out.")
@click.option("--topic", help="What the conversation is about.")
@with_settings
def record(settings: Settings, transcript: IO[str], session_id: str | None, topic: str | None) -> None:
    """Keep a chat transcript: a speaker's name and a colon before each turn, a date before it if there is one.

    \b
      [2026-03-01 10:00] Ana: Is the export done?
      Ben: Nearly. It stops at invoice 4812.

    These are read as well, with seconds or without:

    \b
      10/05/26, 09:15 - Ana: Hello       WhatsApp on Android
      [10/05/26, 09:15:00] Ana: Hello    WhatsApp on iOS
      10.05.26, 09:15 - Ana: Hello       the same in German
      5/10/26, 9:15 AM - Ana: Hello      the same with a clock of 12 hours
      [10:00] Ana: Hello                 on the day of the turn before
      Ana (09:15): Hello                 the same, as Slack and Teams have it

    Where every turn has such a date, a line without one belongs to the turn before it. In 10/05/26 the day comes
    first, but the month where the clock has AM and PM; a part over 12 anywhere in the file decides before that. A line
    that looks like a turn with a date but cannot be read is an error, and nothing is kept.

    Recording the same transcript again changes nothing; when it grew, what is new is added.
    """
    from uniko_mcp.extract.transcripts import read_transcript

    chat = read_transcript(transcript.read())
    session = session_id or Path(transcript.name).stem.strip("<>-") or "transcript"
    messages = [
        {"message_id": f"{session}-{turn.digest}", "sender": turn.speaker, "content": turn.text, "timestamp": turn.time}
        for turn in chat.turns
    ]
    if not messages:
        raise InvalidArgumentsError(
            "the transcript names no speaker", next_step="Begin each turn with a name and a colon, such as Ana: Hello"
        )

    notes: list[str] = []

    async def run(services: Services) -> Counter[str]:
        from uniko_mcp.operations.call import Call
        from uniko_mcp.operations.conversation import record_messages
        from uniko_mcp.operations.dispatch import dispatch

        totals: Counter[str] = Counter()
        for start in range(0, len(messages), _UNIT):
            unit: dict[str, Any] = {"session_id": session, "topic": topic, "messages": messages[start : start + _UNIT]}
            result = await dispatch(services, Call(settings.agent_id, settings), record_messages, unit)
            totals.update({name: getattr(result, name) for name in ("created", "entities", "observations")})
            notes.extend(result.as_json()["notes"])
        return totals

    totals = run_with_services(settings, run)
    click.echo(
        f"{totals['created']} of {len(messages)} messages are new in conversation {session}:"
        f" {totals['observations']} claims, {totals['entities']} things mentioned."
    )
    for note in notes:
        click.echo(note, err=True)
    if chat.unspoken:
        click.echo(f"{chat.unspoken} lines that nobody said were left out.", err=True)
    if chat.dayless:
        click.echo(
            f"The clock times of {chat.dayless} messages were left out, since nothing before them names the day."
            " Begin the first with its date, such as [2026-05-10 09:15] Ana: Hello",
            err=True,
        )
