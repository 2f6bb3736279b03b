"""The commands `identity …`: whose memory it is, and moving its key. Secrets pass through stdin, never arguments."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from uniko_mcp.cli.notes import change_notes, read_notes
from uniko_mcp.cli.options import with_settings
from uniko_mcp.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from uniko_mcp.config import Settings


@click.group(short_help="Show, import, export and rotate the key of the notes.")
def identity() -> None:
    """The Nostr key that signs and encrypts the notes. Whoever has it can read and write them."""


@identity.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_settings
def show(settings: Settings, as_json: bool) -> None:
    """Print the public key, and where the secret one comes from."""
    status = read_notes(settings, lambda notes: notes.status())
    for warning in status.warnings:
        click.echo(warning, err=True)
    if as_json:
        click.echo(json.dumps({"npub": status.npub, "key_source": status.key_source}, indent=2))
    elif status.npub is None:
        click.echo("There is no key yet. The first save makes one.")
    else:
        click.echo(f"{status.npub}  from the {status.key_source}")


@identity.command("import")
@with_settings
def import_key(settings: Settings) -> None:
    """Take a key into use: nsec, 64 hexadecimal digits, or ncryptsec.

    It is read from stdin; the password of an ncryptsec is the second line. A key that is in use is kept with the
    notes it opens.

    \b
      uniko-mcp identity import < key.txt
    """
    text = _secret("Key")
    encrypted = text.lower().startswith("ncryptsec1")
    password = _secret("Password") if encrypted else None
    npub = change_notes(settings, lambda notes: notes.import_key(text, password))
    click.echo(f"In use: {npub}. Servers that run take it at their next start.")


@identity.command()
@click.option("--encrypted", is_flag=True, help="With a password (NIP-49). There is no other way.")
@with_settings
def export(settings: Settings, encrypted: bool) -> None:
    """Print the key, encrypted with a password that is asked for or read from stdin."""
    if not encrypted:
        raise InvalidArgumentsError("A key is exported only encrypted", next_step="Add --encrypted")
    password = _secret("Password", confirm=True)
    click.echo(read_notes(settings, lambda notes: notes.export_key(password)))


@identity.command()
@with_settings
def rotate(settings: Settings) -> None:
    """Make a new key and save both memories under it.

    The old key is kept with the versions that it opens. What relays have under the old key stays there.
    """
    npub = change_notes(settings, lambda notes: notes.rotate())
    click.echo(f"In use: {npub}")


def _secret(name: str, *, confirm: bool = False) -> str:
    """A line from stdin, or from the terminal without showing it.

    Raises:
        InvalidArgumentsError: It is blank.
    """
    if sys.stdin.isatty():
        text = str(click.prompt(name, hide_input=True, confirmation_prompt=confirm))
    else:
        text = sys.stdin.readline()
    if not text.strip():
        raise InvalidArgumentsError(f"{name}: nothing on stdin", next_step="Give it as a line of its own")
    return text.rstrip("\r\n")
