"""The rank index: what recall searches. Derived from the graph, kept apart from it, disposable."""

from uniko_mcp.store.index.columns import NOWHERE, UNKNOWN_TIME, Columns
from uniko_mcp.store.index.documents import EVERYONE, DocumentKey, IndexDocument, Source
from uniko_mcp.store.index.fulltext import Postings
from uniko_mcp.store.index.labels import Labels
from uniko_mcp.store.index.rank_index import IndexStatus, Pending, RankIndex
from uniko_mcp.store.index.writer import MESSAGE

__all__ = [
    "EVERYONE",
    "MESSAGE",
    "NOWHERE",
    "UNKNOWN_TIME",
    "Columns",
    "DocumentKey",
    "IndexDocument",
    "IndexStatus",
    "Labels",
    "Pending",
    "Postings",
    "RankIndex",
    "Source",
]
