"""The command `prompt`: what a client's session-start hook puts before the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uniko_mcp.cli.notes import read_notes
from uniko_mcp.cli.options import with_settings

if TYPE_CHECKING:
    from uniko_mcp.config import Settings
    from uniko_mcp.notes import Notes


@click.command(short_help="Print the short-term memory, for session-start hooks.")
@click.argument("name", type=click.Choice(["short_term_memory"]))
@with_settings
def prompt(settings: Settings, name: str) -> None:
    """Print the section that carries the short-term memory into a prompt; nothing when there is none.

    For clients that run a command when a session starts and put what it prints before the model. It works beside a
    running server.
    """

    async def section(notes: Notes) -> str:
        await notes.ready()
        return notes.short_term_section()

    if text := read_notes(settings, section):
        click.echo(text)
