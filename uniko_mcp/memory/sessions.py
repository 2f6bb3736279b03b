"""Sessions: conversations, each made when something is first recorded in it."""

from __future__ import annotations

from uniko_mcp.store import Draft


def ensure_session(draft: Draft, session_id: str, *, started_at: int, topic: str | None = None) -> tuple[str, str]:
    """The session as an end of an edge; it is created when nothing was recorded in it before.

    A topic is set on a session that has none, and replaced when another is given.
    """
    node = draft.node("Session", session_id)
    if node is None:
        draft.put("Session", session_id, topic=topic, started_at=started_at)
    elif topic is not None and node["topic"] != topic:
        draft.set("Session", session_id, topic=topic)
    return ("Session", session_id)
