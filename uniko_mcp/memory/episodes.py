"""Episodes: what happened and how it ended, each following the agent's one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from uniko_mcp.memory.entities import Mention, link_entities
from uniko_mcp.memory.links import OptionalLinks
from uniko_mcp.memory.participants import ensure_agent
from uniko_mcp.memory.resend import is_resend, request_hash
from uniko_mcp.memory.sessions import ensure_session
from uniko_mcp.models import json_text
from uniko_mcp.models.domain import SkippedLink
from uniko_mcp.models.time import HOURS, MILLISECONDS
from uniko_mcp.store import Draft

MAX_GAP: Final = 1 * HOURS
"""An episode follows the one before when at most this much time lies between them."""

DEFAULT_IMPORTANCE: Final = 0.5

_TEXT_KEYS: Final = ("topic", "question", "description", "summary", "input")


@dataclass(frozen=True, slots=True)
class NewEpisode:
    """What an episode is recorded with; `importance` is in [0, 1]."""

    episode_id: str
    action_type: str
    outcome: str | None = None
    state: dict[str, Any] | None = None
    delta: dict[str, Any] | None = None
    importance: float | None = None
    involved_action_ids: tuple[str, ...] = ()
    task_id: str | None = None
    session_id: str | None = None
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedEpisode:
    """Which episode it follows, after how many milliseconds, and the links that were not made."""

    followed_episode_id: str | None
    gap_ms: int | None
    skipped: list[SkippedLink]


def record_episode(draft: Draft, new: NewEpisode, *, agent_id: str, now: int) -> RecordedEpisode:
    """Record the episode with its links.

    Raises:
        IdConflictError: The id belongs to an episode with other content.
    """
    links = OptionalLinks(draft, ("Episode", new.episode_id))
    if is_resend(draft.node("Episode", new.episode_id), "episode", new.episode_id, new):
        followed = _followed_by(draft, new.episode_id)
        return RecordedEpisode(*followed, links.skipped)
    agent = ensure_agent(draft, agent_id, now=now)
    previous = _previous_episode(draft, agent_id, now)
    draft.put(
        "Episode",
        new.episode_id,
        action_type=new.action_type,
        outcome=new.outcome,
        state=json_text.dump(new.state),
        delta=json_text.dump(new.delta),
        importance=DEFAULT_IMPORTANCE if new.importance is None else new.importance,
        text=episode_text(new.state),
        timestamp=now,
        request_hash=request_hash(new),
    )
    draft.link("RECORDED_BY", ("Episode", new.episode_id), agent)
    draft.set("Participant", agent_id, last_episode_id=new.episode_id, last_episode_at=now)
    if new.session_id:
        session = ensure_session(draft, new.session_id, started_at=now)
        draft.link("IN_SESSION", ("Episode", new.episode_id), session)
    links.link("FOR_TASK", "task_id", "Task", [new.task_id])
    links.link("INVOLVES", "involved_action_ids", "Action", new.involved_action_ids)
    link_entities(draft, [Mention("MENTIONS", ("Episode", new.episode_id), name) for name in new.entities])
    if previous is None:
        return RecordedEpisode(None, None, links.skipped)
    previous_id, gap_ms = previous
    draft.link("FOLLOWED_BY", ("Episode", previous_id), ("Episode", new.episode_id), gap_ms=gap_ms)
    return RecordedEpisode(previous_id, gap_ms, links.skipped)


def episode_text(state: dict[str, Any] | None) -> str | None:
    """What the episode is about: the first of the telling values of its state that is a non-empty string."""
    values = ((state or {}).get(key) for key in _TEXT_KEYS)
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _previous_episode(draft: Draft, agent_id: str, now: int) -> tuple[str, int] | None:
    """The agent's last episode and the milliseconds since, when it is near enough to be followed."""
    agent = draft.node("Participant", agent_id)
    if agent is None or agent["last_episode_id"] is None or now - agent["last_episode_at"] > MAX_GAP:
        return None
    return agent["last_episode_id"], max(0, now - agent["last_episode_at"]) // MILLISECONDS


def _followed_by(draft: Draft, episode_id: str) -> tuple[str | None, int | None]:
    row = draft.row(
        "MATCH (before:Episode)-[f:FOLLOWED_BY]->(:Episode {episode_id: $id})"
        " RETURN before.episode_id AS id, f.gap_ms AS gap_ms",
        id=episode_id,
    )
    return (row["id"], row["gap_ms"]) if row else (None, None)
