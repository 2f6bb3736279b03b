"""JSON objects as the text that the graph keeps: compact, with sorted keys, so that equal values are equal texts."""

from __future__ import annotations

import json
from typing import Any


def dump(value: Any) -> str | None:
    """The value as text; None stays None."""
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def load(text: str | None) -> Any:
    """The value that `dump` wrote."""
    return None if text is None else json.loads(text)
