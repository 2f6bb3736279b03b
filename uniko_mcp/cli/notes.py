"""The commands `notes …`: show an agent's two memories, their history, and bring an earlier version back."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from uniko_mcp.cli.options import with_settings

if TYPE_CHECKING:
    from uniko_mcp.config import Settings
    from uniko_mcp.notes import Note, Notes, Version

T = TypeVar("T")

_KIND: Final = click.Choice(["short_term", "long_term"])
_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def read_notes(settings: Settings, work: Callable[[Notes], Awaitable[T]]) -> T:
    """What `work` answers about the notes, beside a server that may be running."""
    import anyio

    from uniko_mcp.notes import Notes, NotesSettings

    async def run() -> T:
        notes = await Notes.open(settings.data_dir, NotesSettings.of(settings.nostr))
        try:
            return await work(notes)
        finally:
            await notes.close()

    return anyio.run(run)


def change_notes(settings: Settings, work: Callable[[Notes], Awaitable[T]]) -> T:
    """What `work` answers about the notes that it changes, with the data directory held.

    Raises:
        ReadOnlyError: The memory is read-only.
        StoreLockedError: A server is running on it.
    """
    import anyio

    from uniko_mcp.errors import ReadOnlyError
    from uniko_mcp.operations.call import open_services

    if settings.read_only:
        raise ReadOnlyError("This command writes, and the memory is read-only", next_step="Leave out --read-only")

    async def run() -> T:
        async with open_services(settings) as services:
            return await work(services.notes)

    return anyio.run(run)


@click.group(short_help="Show, compare and restore the agent's own notes.")
def notes() -> None:
    """The short- and long-term memory that the agent keeps for itself, with the last fifty versions of each."""


@notes.command()
@click.argument("kind", type=_KIND, default="short_term")
@click.option("--version", "event_id", metavar="ID", help="An earlier version; ID is the start of its event id.")
@_JSON
@with_settings
def show(settings: Settings, kind: str, event_id: str | None, as_json: bool) -> None:
    """Print a memory, the short-term one when KIND is left out."""
    from uniko_mcp.notes import NoteKind

    async def read(notes: Notes) -> Note:
        return await notes.version(event_id) if event_id else await notes.read(NoteKind(kind))

    note = read_notes(settings, read)
    _warn(note.warnings)
    click.echo(_json(_note(note)) if as_json else note.content)


@notes.command()
@click.argument("kind", type=_KIND, default="short_term")
@_JSON
@with_settings
def history(settings: Settings, kind: str, as_json: bool) -> None:
    """List the kept versions of a memory, newest first."""
    from uniko_mcp.notes import NoteKind

    versions = read_notes(settings, lambda notes: notes.history(NoteKind(kind)))
    if as_json:
        click.echo(_json([_version(version) for version in versions]))
        return
    for version in versions:
        mark = "  current" if version.current else ""
        click.echo(f"{version.event_id[:16]}  {_instant(version.created_at)}{mark}")


@notes.command()
@click.argument("older", metavar="ID")
@click.argument("newer", metavar="[ID]", required=False)
@with_settings
def diff(settings: Settings, older: str, newer: str | None) -> None:
    """Show what changed from one version to another, or to the current one."""

    async def compare(notes: Notes) -> str:
        return await notes.diff(older, newer or await _current(notes, older))

    click.echo(read_notes(settings, compare) or "No difference.")


@notes.command()
@click.argument("event_id", metavar="ID")
@with_settings
def restore(settings: Settings, event_id: str) -> None:
    """Make an earlier version the current one again. The one that is current stays in the history."""
    report = change_notes(settings, lambda notes: notes.restore(event_id))
    _warn(report.warnings)
    click.echo(f"Restored {report.kind} as {report.event_id[:16]}, {report.chars:,} characters.")


@notes.command()
@_JSON
@with_settings
def sync(settings: Settings, as_json: bool) -> None:
    """Fetch from every relay and deliver what is pending, now."""
    status = change_notes(settings, lambda notes: notes.sync())
    _warn(status.warnings)
    relays = [
        {"url": relay.url, "state": relay.state, "reason": relay.reason, "pending": list(relay.pending)}
        for relay in status.relays
    ]
    if as_json:
        click.echo(_json({"npub": status.npub, "relays": relays}))
        return
    for relay in relays:
        left = f"; pending: {', '.join(relay['pending'])}" if relay["pending"] else ""
        reason = f" ({relay['reason']})" if relay["reason"] else ""
        click.echo(f"{relay['url']}  {relay['state']}{reason}{left}")
    if not relays:
        click.echo("No relay is configured: nostr.relays")


async def _current(notes: Notes, event_id: str) -> str:
    """The id of the current version of the same memory."""
    kind = (await notes.version(event_id)).kind
    return (await notes.history(kind))[0].event_id


def _warn(warnings: tuple[str, ...]) -> None:
    for warning in warnings:
        click.echo(warning, err=True)


def _note(note: Note) -> dict[str, Any]:
    at = None if note.created_at is None else _instant(note.created_at)
    return {"type": note.kind.value, "content": note.content, "event_id": note.event_id, "created_at": at}


def _version(version: Version) -> dict[str, Any]:
    return {
        "type": version.kind.value,
        "event_id": version.event_id,
        "created_at": _instant(version.created_at),
        "current": version.current,
    }


def _instant(seconds: int) -> str:
    from uniko_mcp.models.time import SECONDS, format_instant

    return format_instant(seconds * SECONDS)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
