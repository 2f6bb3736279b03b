"""Idempotency: an id sent again with the same content is a no-op, with other content a conflict."""

from __future__ import annotations

from typing import Any

from uniko_mcp.errors import IdConflictError


def is_resend(existing: dict[str, Any] | None, kind: str, id: str, request_hash: str) -> bool:
    """Whether the node is there already from the same request.

    Raises:
        IdConflictError: It is there from another request.
    """
    if existing is None:
        return False
    if existing["request_hash"] == request_hash:
        return True
    raise IdConflictError(
        f"{kind} {id!r} exists with other content",
        next_step="Nothing was changed. Use another id, or leave it out to have one made",
    )
