"""Operation on documents."""

from __future__ import annotations

from typing import Final, Self

from anyio import from_thread, to_thread
from pydantic import Field, model_validator

from uniko_mcp.extract.documents import guess_mime
from uniko_mcp.memory import document_files, documents
from uniko_mcp.models.domain import SkippedLink
from uniko_mcp.models.fields import DocumentText, Identifier, Required, Text
from uniko_mcp.models.ids import new_id
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import CHANGES, Params, Result, serves

_PASTED: Final = "text/markdown"
"""What content is taken for when nothing says what it is: plain text is markdown without headings."""


class IngestDocument(Params):
    content: DocumentText | None = Field(default=None, description="The document's text; or give path.")
    path: Required | None = Field(default=None, description="A file under a folder that the configuration allows.")
    title: Text | None = Field(default=None, description="Its own heading when left out.")
    mime: Text | None = Field(default=None, description="Such as text/html; guessed from path or source if left out.")
    artifact_id: Identifier | None = Field(default=None, description="Your own id; made when left out.")
    source: Identifier | None = Field(
        default=None, description="What names it across revisions, such as a URL; the path when left out."
    )
    revision: Text | None = Field(
        default=None, description="A date, number or version, which tell what is newer; or any name, such as a commit."
    )
    session_id: Identifier | None = None
    message_id: Identifier | None = Field(default=None, description="The message it was attached to.")

    @model_validator(mode="after")
    def _content_or_path(self) -> Self:
        if (self.content is None) == (self.path is None):
            raise ValueError("give either content or path")
        return self


class IngestedDocument(Result):
    artifact_id: str
    created: bool = Field(description="False when it was there already.")
    title: str
    chunks: int = Field(description="In how many pieces it can be found.")
    superseded: list[str] = Field(description="The artifacts whose place it took.")
    superseded_by: str | None = Field(default=None, description="The newer revision, which stays the current one.")
    skipped_links: list[SkippedLink] = Field(description="Links not made because the other end is unknown.")
    notes: list[str] = Field(description="What was odd about it.")


@serves("Ingest a document", "conversation", CHANGES)
async def ingest_document(services: Services, call: Call, params: IngestDocument) -> IngestedDocument:
    """Keep a document so that recall finds its passages: text, markdown, HTML, JSON, CSV, source code or PDF.

    Use it for what is longer than a message and will be asked about. The same source again with another content
    supersedes what was there, unless that has a later date or version as its revision. Returns the artifact_id.
    """
    new, read = await _read(params, call)
    done = await services.store.write(
        lambda draft: documents.ingest(draft, new, read, agent_id=call.agent_id, now=call.now)
    )
    return IngestedDocument(
        artifact_id=done.artifact_id,
        created=done.created,
        title=read.document.title,
        chunks=len(read.chunks),
        superseded=done.superseded,
        superseded_by=done.superseded_by,
        skipped_links=done.skipped,
        notes=list(read.document.notes),
    )


async def _read(params: IngestDocument, call: Call) -> tuple[documents.NewDocument, documents.ReadDocument]:
    """Read the document beside the event loop, before the write; a cancelled call stops at the next chunk."""

    def progress(done: int, total: int) -> None:
        from_thread.check_cancelled()
        call.progress(done, total, "reading the document")

    def work() -> tuple[documents.NewDocument, documents.ReadDocument]:
        content, path = _content(params, call)
        mime = params.mime or guess_mime(path or params.source or params.title or "") or (None if path else _PASTED)
        read = documents.read(content, mime=mime, title=params.title, at=call.now, zone=call.zone, progress=progress)
        new = documents.NewDocument(
            artifact_id=params.artifact_id,
            made_id=new_id(),
            source=params.source or path,
            revision=params.revision,
            path=path,
            session_id=params.session_id,
            message_id=params.message_id,
        )
        return new, read

    return await to_thread.run_sync(work)


def _content(params: IngestDocument, call: Call) -> tuple[str | bytes, str | None]:
    """The content, and the absolute path of the file it comes from."""
    if params.content is not None:
        return params.content, None
    assert params.path is not None
    settings = call.settings
    path, content = document_files.read_file(params.path, settings.documents.folders, never=settings.data_dir)
    return content, str(path)
