"""Who takes part: people, agents and services, each made on first use."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from uniko_mcp.store import Draft

ParticipantKind: TypeAlias = Literal["human", "agent", "service"]

_KIND_OF_ROLE: Final[dict[str, ParticipantKind]] = {
    "user": "human",
    "human": "human",
    "assistant": "agent",
    "agent": "agent",
    "system": "service",
    "tool": "service",
    "function": "service",
}


def ensure_participant(draft: Draft, participant_id: str, kind: ParticipantKind, *, now: int) -> tuple[str, str]:
    """The participant as an end of an edge; it is created when nobody mentioned it before."""
    if not draft.existing("Participant", [participant_id]):
        draft.put("Participant", participant_id, kind=kind, name=participant_id, created_at=now)
    return ("Participant", participant_id)


def ensure_agent(draft: Draft, agent_id: str, *, now: int) -> tuple[str, str]:
    """The calling agent as an end of an edge."""
    return ensure_participant(draft, agent_id, "agent", now=now)


def kind_of_role(role: str | None) -> ParticipantKind:
    """Who stands behind a message's role; without one, a person."""
    return _KIND_OF_ROLE.get((role or "user").lower(), "human")
