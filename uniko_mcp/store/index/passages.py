"""Which text of a document is embedded."""

from __future__ import annotations

from typing import Final

from uniko_mcp.store.index.documents import IndexDocument
from uniko_mcp.store.index.shape import split_code

PASSAGE_CHARACTERS: Final = 700
"""What a small embedding model reads well (about 170 of MiniLM's 256 tokens). Longer texts have chunks of their own."""
_LEAD_CHARACTERS: Final = 100
"""A topic or heading may be as long as any text."""


def passage_of(document: IndexDocument) -> str:
    """The head of the document's prose and who said it, which alone raises recall@10 of short turns from .29 to .46."""
    prose, _ = split_code(document.text)
    lead = document.sender or document.heading or document.topic
    head = prose[:PASSAGE_CHARACTERS].strip()
    return f"{lead[:_LEAD_CHARACTERS]}: {head}" if lead else head
