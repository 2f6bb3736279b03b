"""How large the list of tools is for a model: in all, by tool, and by part. Reach: at most 8,000 tokens.

    python benchmarks/tool_list.py

Two counts. "Listed" is everything that `tools/list` answers. "Prompted" is what clients put before a model: name,
description and input schema; output schemas and annotations stay with the client. Tokens are estimated from bytes,
on the safe side (3 bytes a token), or counted by tiktoken (o200k_base) where it has that encoding at hand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from uniko_mcp.models.tokens import estimate_tokens
from uniko_mcp.operations import CATALOGUE
from uniko_mcp.server.descriptions import describe

PROMPTED = ("name", "description", "inputSchema")


def counter() -> tuple[str, Callable[[str], int]]:
    """How tokens are counted here, and the name of that."""
    try:
        import tiktoken

        encoding = tiktoken.get_encoding("o200k_base")
    except Exception:  # not installed, or its data would have to be downloaded
        return "estimated", estimate_tokens
    return "o200k_base", lambda text: len(encoding.encode(text))


def main() -> None:
    method, count = counter()

    def tokens(value: Any) -> int:
        return count(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    tools = [
        describe(operation).model_dump(mode="json", by_alias=True, exclude_none=True)
        for operation in CATALOGUE.values()
    ]
    parts: Counter[str] = Counter()
    print(f"{'tool':<22}{'listed':>8}{'prompted':>10}   tokens, {method}")
    for tool in tools:
        prompted = {part: value for part, value in tool.items() if part in PROMPTED}
        print(f"{tool['name']:<22}{tokens(tool):>8}{tokens(prompted):>10}")
        parts.update({part: tokens(value) for part, value in tool.items()})
    print("\n" + "\n".join(f"{part:<22}{size:>8}" for part, size in parts.most_common()))
    prompted = [{part: tool[part] for part in PROMPTED} for tool in tools]
    print(f"\n{len(tools)} tools{'':<14}{tokens(tools):>8}{tokens(prompted):>10}")


if __name__ == "__main__":
    main()
