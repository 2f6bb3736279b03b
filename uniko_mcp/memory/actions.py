"""Actions: what an agent did, with input and output, each after the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from uniko_mcp.memory.artifacts import put_artifact
from uniko_mcp.memory.links import OptionalLinks
from uniko_mcp.memory.participants import ensure_agent
from uniko_mcp.memory.resend import is_resend, request_hash
from uniko_mcp.memory.sessions import ensure_session
from uniko_mcp.models.domain import SkippedLink
from uniko_mcp.models.tokens import estimate_tokens
from uniko_mcp.store import Draft

_STUB_CHARS: Final = 240
"""How much of an output that went into an artifact the action still shows."""


@dataclass(frozen=True, slots=True)
class NewAction:
    """What an action is recorded with; `input` and `output` are text, or JSON as text."""

    action_id: str
    action_type: str
    input: str | None = None
    output: str | None = None
    status: str | None = None
    error: str | None = None
    duration_ms: int | None = None
    message_id: str | None = None
    session_id: str | None = None
    previous_action_id: str | None = None

    @property
    def overflow_artifact_id(self) -> str:
        """The artifact that holds an output too large for the action; follows from the action's id."""
        return f"{self.action_id}-output"


def record_action(
    draft: Draft, new: NewAction, *, agent_id: str, now: int, overflow_tokens: int
) -> tuple[str | None, list[SkippedLink]]:
    """The artifact that holds the output when it is larger than `overflow_tokens`, and the links not made.

    Raises:
        IdConflictError: The id belongs to an action with other content.
    """
    overflows = new.output is not None and estimate_tokens(new.output) > overflow_tokens
    overflow_id = new.overflow_artifact_id if overflows else None
    links = OptionalLinks(draft, ("Action", new.action_id))
    if is_resend(draft.node("Action", new.action_id), "action", new.action_id, new):
        return overflow_id, links.skipped
    previous_id = new.previous_action_id or _previous_action(draft, agent_id, new.session_id)
    draft.put(
        "Action",
        new.action_id,
        action_type=new.action_type,
        input=new.input,
        output=_stub(new.output, overflow_id) if new.output and overflow_id else new.output,
        status=new.status or ("failed" if new.error else "completed"),
        error=new.error,
        started_at=now - (new.duration_ms or 0) * 1_000,
        duration_ms=new.duration_ms,
        request_hash=request_hash(new),
    )
    draft.link("PERFORMED_BY", ("Action", new.action_id), ensure_agent(draft, agent_id, now=now))
    if overflow_id and new.output:
        title = f"Output of {new.action_type}"
        put_artifact(draft, overflow_id, text=new.output, kind="action_output", title=title, now=now)
        draft.link("PRODUCED", ("Action", new.action_id), ("Artifact", overflow_id))
    if new.session_id:
        session = ensure_session(draft, new.session_id, started_at=now)
        draft.link("IN_SESSION", ("Action", new.action_id), session)
    links.link("TRIGGERED_BY", "message_id", "Message", [new.message_id])
    links.link("NEXT_ACTION", "previous_action_id", "Action", [previous_id], reverse=True)
    return overflow_id, links.skipped


def _previous_action(draft: Draft, agent_id: str, session_id: str | None) -> str | None:
    """The last action of the agent in the session that no other follows."""
    if session_id is None:
        return None
    row = draft.row(
        "MATCH (a:Action)-[:IN_SESSION]->(:Session {session_id: $session_id}),"
        " (a)-[:PERFORMED_BY]->(:Participant {participant_id: $agent_id})"
        " RETURN a.action_id AS id ORDER BY a.started_at + coalesce(a.duration_ms, 0) * 1000 DESC, id DESC LIMIT 1",
        session_id=session_id,
        agent_id=agent_id,
    )
    return row["id"] if row else None


def _stub(output: str, artifact_id: str) -> str:
    return f"{output[:_STUB_CHARS]}… [{len(output)} characters, whole in artifact {artifact_id}]"
