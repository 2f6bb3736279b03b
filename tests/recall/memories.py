"""Short ways to write memories and to recall them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.memory.windows import read_windows
from uniko_mcp.models.time import DAYS, parse_instant
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.recall.recaller import Recaller
from uniko_mcp.recall.result import RecallBundle
from uniko_mcp.store.index.documents import IndexDocument, Source
from uniko_mcp.store.index.rank_index import RankIndex

TODAY: Final = parse_instant("2026-06-10T12:00:00Z")


class NoModel:
    """Semantic search switched off."""

    def embed_query(self, text: str) -> NDArray[np.float32] | None:
        return None

    def notes(self) -> Sequence[str]:
        return ()


def message(id: str, text: str, *, days_ago: float = 0, sender: str = "Ana", **more: Any) -> IndexDocument:
    values: dict[str, Any] = {"session_id": "s1", "role": "user", **more}
    return IndexDocument("Message", id, text, int(TODAY - days_ago * DAYS), sender=sender, **values)


def derived(kind: str, id: str, text: str, *, of: str = "", **more: Any) -> IndexDocument:
    sources = (Source(message_id=of),) if of else ()
    return IndexDocument(kind, id, text, **{"timestamp": TODAY, "sources": sources, **more})


def recall(index: RankIndex, query: str, **more: Any) -> RecallBundle:
    recaller = Recaller(index, more.pop("embedder", NoModel()), read_dates=partial(read_windows, zone=UTC))
    return recaller.recall(RecallQuery(query, **{"reference_time": TODAY, **more}))


def ids(bundle: RecallBundle) -> list[str]:
    return [item.id for item in bundle.items]
