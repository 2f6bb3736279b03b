"""Short ways to make documents and vectors for the index."""

from __future__ import annotations

import numpy as np

from uniko_mcp.store.index.documents import IndexDocument

MODEL, DIMENSION = "test-model", 8


def message(id: str, text: str, *, at: int = 0, session: str = "s", **more: object) -> IndexDocument:
    return IndexDocument("Message", id, text, at, sender="Ana", session_id=session, **more)  # type: ignore[arg-type]


def vector(*numbers: float) -> np.ndarray:
    values = np.zeros(DIMENSION, dtype=np.float32)
    values[: len(numbers)] = numbers
    return values / np.linalg.norm(values)
