"""Conversation: messages as they were said, each after the one before, in a session, by someone, to someone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from uniko_mcp.errors import IdConflictError
from uniko_mcp.memory.links import OptionalLinks
from uniko_mcp.memory.participants import ensure_participant, kind_of_role
from uniko_mcp.memory.sessions import ensure_session
from uniko_mcp.models.domain import SkippedLink
from uniko_mcp.models.names import digest
from uniko_mcp.models.time import MILLISECONDS
from uniko_mcp.store import Draft


@dataclass(frozen=True, slots=True)
class NewMessage:
    """One message; `timestamp` is when it was said."""

    message_id: str
    sender: str
    content: str
    timestamp: int
    role: str | None = None
    addressed_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """Messages that belong together: recorded all or none."""

    session_id: str
    messages: Sequence[NewMessage]
    topic: str | None = None
    goal_id: str | None = None
    task_id: str | None = None


def record_messages(draft: Draft, unit: Unit, *, now: int) -> tuple[list[NewMessage], list[SkippedLink]]:
    """Record what of the unit is new, in order; the new messages, and the links that were not made.

    Raises:
        IdConflictError: A message_id belongs to another message. Nothing of the unit is recorded.
    """
    new = _new_messages(draft, unit)
    started_at = min((message.timestamp for message in unit.messages), default=now)
    session = ensure_session(draft, unit.session_id, started_at=started_at, topic=unit.topic)
    for ordinal, message in enumerate(new, start=_message_count(draft, unit.session_id)):
        _put_message(draft, session, message, ordinal=ordinal, now=now)
    _chain(draft, unit.session_id, new)
    links = OptionalLinks(draft, session)
    links.link("FOR_GOAL", "goal_id", "Goal", [unit.goal_id])
    links.link("FOR_TASK", "task_id", "Task", [unit.task_id])
    return new, links.skipped


def _content_hash(session_id: str, message: NewMessage) -> str:
    return digest(session_id, message.sender, message.content)


def _new_messages(draft: Draft, unit: Unit) -> list[NewMessage]:
    """The messages of the unit that are not recorded yet, each once."""
    known = draft.nodes("Message", (message.message_id for message in unit.messages))
    hashes: dict[str, str] = {id: node["content_hash"] for id, node in known.items()}
    new: list[NewMessage] = []
    for message in unit.messages:
        content_hash = _content_hash(unit.session_id, message)
        if message.message_id not in hashes:
            hashes[message.message_id] = content_hash
            new.append(message)
        elif hashes[message.message_id] != content_hash:
            raise IdConflictError(
                f"message_id: {message.message_id!r} was recorded with another content, sender or session",
                next_step="Nothing was recorded. Use another id, or leave it out to have one made",
            )
    return new


def _put_message(draft: Draft, session: tuple[str, str], message: NewMessage, *, ordinal: int, now: int) -> None:
    node = ("Message", message.message_id)
    draft.put(
        *node,
        content=message.content,
        content_type="text/plain",
        role=message.role,
        timestamp=message.timestamp,
        ordinal=ordinal,
        content_hash=_content_hash(session[1], message),
    )
    sender = ensure_participant(draft, message.sender, kind_of_role(message.role), now=now)
    draft.link("SENT_BY", node, sender)
    draft.link("IN_SESSION", node, session)
    draft.link("PARTICIPATED_IN", sender, session)
    for recipient in dict.fromkeys(message.addressed_to):
        draft.link("ADDRESSED_TO", node, ensure_participant(draft, recipient, "human", now=now))


def _message_count(draft: Draft, session_id: str) -> int:
    session = draft.node("Session", session_id)
    return (session["message_count"] or 0) if session else 0


def _chain(draft: Draft, session_id: str, new: list[NewMessage]) -> None:
    """Link each new message to the one before it in the session, in the order of recording."""
    if not new:
        return
    session = draft.node("Session", session_id)
    assert session is not None
    before: tuple[str | None, int] = session["last_message_id"], session["last_message_at"]
    for message in new:
        if before[0] is not None:
            gap_ms = (message.timestamp - before[1]) // MILLISECONDS
            draft.link("NEXT", ("Message", before[0]), ("Message", message.message_id), gap_ms=gap_ms)
        before = message.message_id, message.timestamp
    draft.set(
        "Session",
        session_id,
        last_message_id=before[0],
        last_message_at=before[1],
        message_count=(session["message_count"] or 0) + len(new),
    )
