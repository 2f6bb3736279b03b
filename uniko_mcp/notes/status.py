"""What is to be said about the notes beside their text: what is missing, unreadable, pending or not in use."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from uniko_mcp.notes.files import on_disk
from uniko_mcp.notes.models import NoteKind, NotesStatus, RelayStatus, Stamp, Version
from uniko_mcp.notes.settings import NotesSettings

if TYPE_CHECKING:
    from uniko_mcp.notes.account import Account, Accounts
    from uniko_mcp.notes.courier import Courier


async def notes_status(
    settings: NotesSettings, accounts: Accounts, courier: Courier | None, failure: str
) -> NotesStatus:
    """The whole state, as far as it is known without decrypting. `failure` is why the key cannot be used, else ""."""
    account = accounts.current
    relays = await courier.statuses() if courier else await _idle_relays(settings, account)
    warnings = [failure] if failure else []
    if account:
        warnings += account.identity.warnings
    for kind in (kind for kind in NoteKind if account is None or account.notebook.is_open(kind)):
        warnings += await warnings_on(kind, accounts, courier, settings)
    return NotesStatus(
        npub=account.npub if account else None,
        key_source=account.identity.source if account else None,
        relays=relays,
        pending_deliveries=sum(len(relay.pending) for relay in relays),
        versions={kind: await account.notebook.count(kind) if account else 0 for kind in NoteKind},
        warnings=tuple(dict.fromkeys(warnings)),
    )


async def warnings_on(
    kind: NoteKind, accounts: Accounts, courier: Courier | None, settings: NotesSettings
) -> list[str]:
    """What a reader of this memory should know, such as why it is blank although something was saved."""
    account = accounts.current
    if account is None:
        return await _of_others(kind, accounts, f"no {kind} memory, for there is no key yet")
    found: list[str] = []
    if stamp := await account.notebook.unreadable(kind):
        found.append(
            f"The version of {kind} of {_when(stamp.created_at)} cannot be read by {account.npub}; its file is kept"
        )
    if await account.notebook.current(kind):
        return found
    if settings.relays and not (courier and courier.answered):
        found.append(f"No relay has answered yet: {kind} of {account.npub} may exist there")
    return found + await _of_others(kind, accounts, f"no {kind} memory for {account.npub}")


def overtaken_warning(ours: Stamp, other: Version) -> str:
    """What a save says of a version of another writer that it met."""
    fate = "is newer than this save and stays current" if other.current else "was replaced unread"
    return (
        f"Another writer with the same key was faster: its version {other.event_id[:8]} of {_when(other.created_at)} "
        f"{fate}. Both are in the history; this save is {ours.event_id[:8]}"
    )


async def _of_others(kind: NoteKind, accounts: Accounts, absence: str) -> list[str]:
    others = await on_disk(accounts.others, kind)
    if not others:
        return []
    return [f"There is {absence}. Those of {', '.join(others)} are kept in {accounts.folder} and need that key"]


async def _idle_relays(settings: NotesSettings, account: Account | None) -> tuple[RelayStatus, ...]:
    return tuple(
        [RelayStatus(url, "idle", "", await account.pending_at(url) if account else ()) for url in settings.relays]
    )


def _when(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
