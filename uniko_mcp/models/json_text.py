"""JSON as text: as the graph keeps it, where equal values are equal texts, and in one line for whoever reads lines."""

from __future__ import annotations

import json
import re
from typing import Any, Final

_LINE_ENDS: Final = re.compile("[\x85\u2028\u2029]")
"""Where Unicode ends a line, beside the control characters, which JSON escapes in any case."""


def dump(value: Any) -> str | None:
    """The value as text; None stays None."""
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def load(text: str | None) -> Any:
    """The value that `dump` wrote."""
    return None if text is None else json.loads(text)


def one_line(value: Any) -> str:
    """The value in one line, wherever a reader thinks that lines end; the order of keys is kept."""
    return _LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", json.dumps(value, ensure_ascii=False))
