"""Observations: single claims, each tied to the message in which it was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from uniko_mcp.errors import NotFoundError
from uniko_mcp.memory.entities import Mention, link_entities
from uniko_mcp.memory.participants import ensure_agent
from uniko_mcp.memory.resend import is_own_resend, request_hash
from uniko_mcp.memory.visibility import DEFAULT, Visibility
from uniko_mcp.store import Draft

BY_RULES: Final = "rules"
BY_AGENT: Final = "agent"
"""How an observation came about; those that a language model made say its name."""


@dataclass(frozen=True, slots=True)
class NewObservation:
    """What an observation is recorded with; `confidence` is in [0, 1]."""

    observation_id: str
    message_id: str
    content: str
    subject: str
    predicate: str | None = None
    object: str | None = None
    confidence: float | None = None
    visibility: Visibility | None = None


def add_observation(draft: Draft, new: NewObservation, *, agent_id: str, now: int) -> bool:
    """Record the claim at the time of its message; whether it is new.

    Raises:
        NotFoundError: There is no such message; an observation without its evidence is not kept.
        IdConflictError: The id belongs to an observation with other content.
    """
    existing = draft.node("Observation", new.observation_id)
    if is_own_resend(existing, "observation", new.observation_id, new, agent_id=agent_id):
        return False
    message = draft.node("Message", new.message_id)
    if message is None:
        raise NotFoundError(
            f"message_id: there is no message {new.message_id!r}",
            next_step="Record it with record_messages first, and use the id it returns",
        )
    start = ("Observation", new.observation_id)
    draft.put(
        *start,
        content=new.content,
        subject=new.subject,
        predicate=new.predicate,
        object=new.object,
        confidence=1.0 if new.confidence is None else new.confidence,
        observed_at=message["timestamp"],
        visibility=new.visibility or DEFAULT,
        recorded_by=agent_id,
        recorded_at=now,
        method=BY_AGENT,
        request_hash=request_hash(new),
    )
    draft.link("OBSERVED_IN", start, ("Message", new.message_id))
    draft.link("RECORDED_BY", start, ensure_agent(draft, agent_id, now=now))
    link_entities(draft, [Mention("ABOUT", start, new.subject)])
    return True
