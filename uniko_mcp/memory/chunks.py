"""Chunks: the pieces of a long text, each kept with what it is a piece of."""

from __future__ import annotations

from uniko_mcp.extract.chunks import Chunk
from uniko_mcp.store import Draft


def put_chunk(draft: Draft, parent: tuple[str, str], chunk_id: str, piece: Chunk) -> tuple[str, str]:
    """Keep a piece of an artifact or a message; the chunk as an end of an edge."""
    node = ("Chunk", chunk_id)
    draft.put(*node, text=piece.text, index=piece.index, start=piece.start, end=piece.end, heading=piece.heading)
    draft.link("HAS_CHUNK", parent, node)
    return node
