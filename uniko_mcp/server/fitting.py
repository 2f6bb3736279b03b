"""The last guard on a result's size: what would not fit is left out whole, and the result says so in its place."""

from __future__ import annotations

from typing import Any, Final, TypeAlias, cast

from uniko_mcp.models.tokens import estimate_json_tokens, estimate_tokens

Json: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]

_WORTH_LEAVING_OUT: Final = 50
"""Tokens; below it the note in its place would be no shorter than the text."""


def fit(content: Json, max_tokens: int) -> Json:
    """`content` in at most `max_tokens`, when leaving out long texts can do it.

    Lists have been cut to whole items before, with a total and a cursor. What is left is the single long text: the
    longest are replaced, one after the other, by a note of how long they are. A text is never cut in half.
    """
    excess = estimate_json_tokens(content) - max_tokens
    if excess <= 0:
        return content
    texts = sorted(_texts(content, ()), key=lambda found: found[1], reverse=True)
    for path, tokens in texts:
        if excess <= 0 or tokens < _WORTH_LEAVING_OUT:
            break
        content = _replaced(content, path, max_tokens)
        excess -= tokens - _WORTH_LEAVING_OUT
    return content


def _texts(value: Any, path: Path) -> list[tuple[Path, int]]:
    if isinstance(value, str):
        return [(path, estimate_tokens(value))]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return [found for name, inner in fields.items() for found in _texts(inner, (*path, name))]
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [found for index, inner in enumerate(items) for found in _texts(inner, (*path, index))]
    return []


def _replaced(value: Any, path: Path, max_tokens: int) -> Any:
    if not path:
        return (
            f"[left out: a text of {len(value):,} characters, more than a result of {max_tokens:,} tokens can hold;"
            " output.max_tokens raises the limit]"
        )
    step, *rest = path
    copy = value.copy()
    copy[step] = _replaced(value[step], tuple(rest), max_tokens)
    return copy
