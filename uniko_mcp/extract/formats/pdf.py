"""PDF to text, a section for each page."""

from __future__ import annotations

import io
import logging

from uniko_mcp.errors import DocumentError, MissingExtraError
from uniko_mcp.extract.formats.readable import Readable
from uniko_mcp.extract.sections import Section


def read_pdf(content: bytes) -> Readable:
    """The text layer of each page.

    Raises:
        MissingExtraError: pypdf is not installed.
        DocumentError: The file is no PDF, is damaged, or is locked with a password.
    """
    try:
        import pypdf
        from pypdf.errors import PyPdfError
    except ImportError as error:
        raise MissingExtraError(
            "reading PDF needs the package pypdf, which is not installed", next_step="Install uniko-mcp[pdf]"
        ) from error
    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of every oddity that it then reads correctly
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError("the PDF is locked with a password", next_step="Ingest an unlocked copy")
        pages = [page.extract_text().strip() for page in reader.pages]
        title = reader.metadata.title if reader.metadata else None
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise DocumentError(f"the PDF cannot be read ({type(error).__name__})") from error
    return _paged(pages, str(title).strip() if title else None)


def _paged(pages: list[str], title: str | None) -> Readable:
    sections: list[Section] = []
    start = 0
    for number, page in enumerate(pages, 1):
        if page:
            sections.append(Section(f"Page {number}", start, start + len(page)))
        start += len(page) + 2
    empty = sum(not page for page in pages)
    notes = (f"{empty} of {len(pages)} pages hold no text, only pictures",) if empty else ()
    return Readable("\n\n".join(pages), tuple(sections), title or None, notes)
