"""Idempotency: an id sent again with the same content is a no-op, with other content a conflict."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from uniko_mcp.errors import IdConflictError
from uniko_mcp.memory.visibility import is_visible
from uniko_mcp.models.names import digest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def request_hash(request: DataclassInstance) -> str:
    """What tells a request from another with the same id: a hash over all of its fields."""
    return digest(asdict(request))


def is_resend(existing: dict[str, Any] | None, kind: str, id: str, request: DataclassInstance) -> bool:
    """Whether the node is there already from the same request.

    Raises:
        IdConflictError: It is there from another request.
    """
    if existing is None:
        return False
    if existing["request_hash"] == request_hash(request):
        return True
    raise _conflict(kind, id)


def is_own_resend(
    existing: dict[str, Any] | None, kind: str, id: str, request: DataclassInstance, *, agent_id: str
) -> bool:
    """As `is_resend`, for what may be private: what an agent does not see, it has not sent.

    Raises:
        IdConflictError: It is there from another request, or is private to another agent.
    """
    if existing is not None and not is_visible(existing, agent_id):
        raise _conflict(kind, id)
    return is_resend(existing, kind, id, request)


def _conflict(kind: str, id: str) -> IdConflictError:
    return IdConflictError(
        f"{kind} {id!r} exists with other content",
        next_step="Nothing was changed. Use another id, or leave it out to have one made",
    )
