"""Artifacts: documents and outputs, their content kept once however many share it."""

from __future__ import annotations

from uniko_mcp.models.names import digest
from uniko_mcp.store import Draft


def content_hash(text: str) -> str:
    """The key under which a content is kept."""
    return digest(text)


def put_artifact(
    draft: Draft,
    artifact_id: str,
    *,
    text: str,
    kind: str,
    title: str | None,
    now: int,
    mime: str = "text/plain",
) -> tuple[str, str]:
    """Create the artifact with its content, as an end of an edge. Equal contents share one node, found by hash."""
    key = content_hash(text)
    draft.put("Artifact", artifact_id, kind=kind, title=title, mime=mime, created_at=now, content_hash=key)
    if not draft.existing("ArtifactContent", [key]):
        draft.put("ArtifactContent", key, text=text, size=len(text.encode("utf-8")))
    draft.link("HAS_CONTENT", ("Artifact", artifact_id), ("ArtifactContent", key))
    return ("Artifact", artifact_id)
