"""Documents: read into chunks before the write, kept once for each content, a newer revision in place of the last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, Final

from uniko_mcp.errors import DocumentError, IdConflictError, LimitExceededError
from uniko_mcp.extract.chunks import Chunk, chunk
from uniko_mcp.extract.dates import find_dates
from uniko_mcp.extract.documents import Document, read_document
from uniko_mcp.extract.entities import EntityMention, find_entities
from uniko_mcp.extract.language import is_english
from uniko_mcp.memory.artifacts import content_hash, put_artifact
from uniko_mcp.memory.chunks import put_chunk
from uniko_mcp.memory.entities import Mention, link_entities
from uniko_mcp.memory.links import OptionalLinks
from uniko_mcp.memory.participants import ensure_agent
from uniko_mcp.memory.revisions import is_older
from uniko_mcp.memory.sessions import ensure_session
from uniko_mcp.models.domain import SkippedLink
from uniko_mcp.store import Draft

KIND: Final = "document"

MAX_CHARACTERS: Final = 2_000_000
"""About 700 pages. One document is one change set, and other writes wait for it."""


@dataclass(frozen=True, slots=True)
class NewDocument:
    """What a document is ingested with.

    `artifact_id` is the caller's own id, `made_id` the one to use when there is none and the document is new. `source`
    names the document across its revisions.
    """

    artifact_id: str | None
    made_id: str
    source: str | None = None
    revision: str | None = None
    path: str | None = None
    session_id: str | None = None
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document as text, in chunks, each with the entities that it names."""

    document: Document
    chunks: tuple[tuple[Chunk, tuple[EntityMention, ...]], ...]

    @property
    def content_hash(self) -> str:
        """What tells its content from another."""
        return content_hash(self.document.text)


@dataclass(frozen=True, slots=True)
class Ingested:
    """The artifact that holds the document, whether it is new, what it supersedes, and the links not made.

    `superseded_by` is the newer revision that was there before it.
    """

    artifact_id: str
    created: bool
    superseded: list[str]
    superseded_by: str | None
    skipped: list[SkippedLink]


def read(
    content: str | bytes,
    *,
    mime: str | None,
    title: str | None,
    at: int,
    zone: tzinfo,
    progress: Callable[[int, int], None],
) -> ReadDocument:
    """Read a document into chunks. Pure and offline; relative dates in it are resolved against `at`.

    `progress` is told (done, total) after each chunk, and may raise to stop.

    Raises:
        DocumentError: It is not what its type says, or holds no text.
        LimitExceededError: It holds more than `MAX_CHARACTERS`.
        MissingExtraError: Its type needs an optional package.
    """
    document = read_document(content, mime, title)
    if not document.text.strip():
        raise DocumentError(
            "the document holds no text", next_step="; ".join(document.notes) or "Send a document with text"
        )
    if len(document.text) > MAX_CHARACTERS:
        raise LimitExceededError(
            f"the document holds {len(document.text):,} characters, and one document may hold {MAX_CHARACTERS:,}",
            next_step="Split it, with a title for each part",
        )
    chunks = chunk(document.text, document.sections)
    found: list[tuple[Chunk, tuple[EntityMention, ...]]] = []
    for piece in chunks:
        found.append((piece, _entities(piece.text, at=at, zone=zone)))
        progress(len(found), len(chunks))
    return ReadDocument(document, tuple(found))


def _entities(text: str, *, at: int, zone: tzinfo) -> tuple[EntityMention, ...]:
    return find_entities(text, find_dates(text, at=at, zone=zone), english=is_english(text))


def ingest(draft: Draft, new: NewDocument, read: ReadDocument, *, agent_id: str, now: int) -> Ingested:
    """Keep a document, unless it is there already.

    The caller's own id is its identity. Without one the source is: the content it has now is a no-op, anything else a
    new revision. Without either, content and title are. A revision takes the place of the current one unless that is
    known to be newer.

    Raises:
        IdConflictError: The id, or this revision of the source, belongs to another content.
    """
    revisions = _revisions(draft, new.source)
    if known := _known(draft, new, read, revisions):
        return Ingested(known, False, [], None, [])
    artifact_id = new.artifact_id or new.made_id
    start = put_artifact(
        draft,
        artifact_id,
        text=read.document.text,
        kind=KIND,
        title=read.document.title,
        now=now,
        mime=read.document.mime,
    )
    draft.set(*start, source_id=new.source, revision=new.revision, path=new.path)
    draft.link("RECORDED_BY", start, ensure_agent(draft, agent_id, now=now))
    _put_chunks(draft, start, read)
    superseded, superseded_by = _supersede(draft, start, new.revision, revisions, now=now)
    if new.session_id:
        draft.link("IN_SESSION", start, ensure_session(draft, new.session_id, started_at=now))
    links = OptionalLinks(draft, start)
    links.link("ATTACHED_TO", "message_id", "Message", [new.message_id])
    return Ingested(artifact_id, True, superseded, superseded_by, links.skipped)


def _revisions(draft: Draft, source: str | None) -> list[dict[str, Any]]:
    """The artifacts of the source, the latest last."""
    if source is None:
        return []
    rows = draft.rows(
        "MATCH (a:Artifact) WHERE a.source_id = $source RETURN a ORDER BY a.created_at, a.artifact_id", source=source
    )
    return [row["a"] for row in rows]


def _known(draft: Draft, new: NewDocument, read: ReadDocument, revisions: list[dict[str, Any]]) -> str | None:
    """The artifact that holds this very document already."""
    if new.artifact_id and (existing := draft.node("Artifact", new.artifact_id)):
        return _unchanged(existing, read, f"artifact {new.artifact_id!r}")
    same = [
        _unchanged(artifact, read, f"revision {new.revision!r} of {new.source!r}")
        for artifact in revisions
        if new.revision is not None and artifact["revision"] == new.revision
    ]
    if new.artifact_id:
        return None
    if new.source is None:
        return _same_title(draft, read)
    if new.revision is None:
        same = [
            artifact["artifact_id"]
            for artifact in revisions
            if artifact["superseded_at"] is None and artifact["content_hash"] == read.content_hash
        ]
    return same[-1] if same else None


def _unchanged(artifact: dict[str, Any], read: ReadDocument, name: str) -> str:
    if artifact["content_hash"] == read.content_hash:
        return artifact["artifact_id"]
    raise IdConflictError(
        f"{name} exists with other content",
        next_step="Nothing was changed. Use another one, or leave it out",
    )


def _same_title(draft: Draft, read: ReadDocument) -> str | None:
    row = draft.row(
        "MATCH (a:Artifact) WHERE a.content_hash = $hash AND a.title = $title AND a.kind = $kind"
        " AND a.superseded_at IS NULL RETURN a.artifact_id AS id ORDER BY id LIMIT 1",
        hash=read.content_hash,
        title=read.document.title,
        kind=KIND,
    )
    return row["id"] if row else None


def _put_chunks(draft: Draft, artifact: tuple[str, str], read: ReadDocument) -> None:
    mentions: list[Mention] = []
    for piece, entities in read.chunks:
        node = put_chunk(draft, artifact, f"{artifact[1]}-{piece.index}", piece)
        mentions += [Mention("MENTIONS", node, entity.name, entity.entity_type) for entity in entities]
    link_entities(draft, mentions)


def _supersede(
    draft: Draft, artifact: tuple[str, str], revision: str | None, revisions: list[dict[str, Any]], *, now: int
) -> tuple[list[str], str | None]:
    """Put the artifact in the place of those of its source that are current and not newer; their ids, and the newer."""
    current = [each for each in revisions if each["superseded_at"] is None]
    newer = [each["artifact_id"] for each in current if is_older(revision, each["revision"])]
    older = [each["artifact_id"] for each in current if each["artifact_id"] not in newer]
    for id in older:
        draft.link("SUPERSEDES", artifact, ("Artifact", id))
        draft.set("Artifact", id, superseded_at=now)
    for id in newer:
        draft.link("SUPERSEDES", ("Artifact", id), artifact)
        draft.set(*artifact, superseded_at=now)
    return older, newer[-1] if newer else None
