"""How large a text is for a language model, without a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from uniko_mcp.models.outline import outline

_BYTES_PER_TOKEN: Final = 3
"""Prose has about 4 bytes a token, JSON with ids 2.5 to 3.5, CJK 3: with 3, budgets err on the safe side."""


def estimate_tokens(text: str) -> int:
    """About how many tokens `text` has, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def estimate_json_tokens(value: Any) -> int:
    """About how many tokens a JSON value has when it is written compactly."""
    return estimate_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def estimate_result_tokens(fields: Mapping[str, Any]) -> int:
    """About how many tokens a result has in the larger of its forms: each line break and each field of an object costs
    more in an outline, each quotation mark in JSON."""
    return max(estimate_json_tokens(fields), estimate_tokens(outline(fields)))
