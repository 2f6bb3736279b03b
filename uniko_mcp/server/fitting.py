"""The last guard on a result's size: what would not fit is left out whole, and the result says so in its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias, cast

from pydantic import BaseModel

from uniko_mcp.models.tokens import estimate_json_tokens, estimate_tokens
from uniko_mcp.operations.catalogue import Result
from uniko_mcp.server.rendering import render

Json: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]

_WORTH_LEAVING_OUT: Final = 50
"""Tokens; below it the note in its place would be no shorter than what is left out."""
_LARGE_SHARE: Final = 0.1
"""Of a plain object or list, from which on a part of it is left out by itself."""


def fit(result: Result, max_tokens: int) -> Json:
    """The result in at most `max_tokens`, as JSON and as text, when leaving out long values can do it.

    Lists have been cut to whole items before, with a total and a cursor. What is left is the single long text, or the
    large object that a caller once gave: the largest are replaced, one after the other, by a note of how long they are.
    None is cut in half, and what stands in their place is of the same type.
    """
    content = result.as_json()
    if _size(content) <= max_tokens:
        return content
    values = list(_values(result, ()))
    parts = [part for path, value in values for part in _large_parts(value, path)]
    for path in (*_largest_first(parts), *_largest_first(values)):
        content = _replaced(content, path)
        if _size(content) <= max_tokens:
            break
    return content


def _size(content: Json) -> int:
    return max(estimate_json_tokens(content), estimate_tokens(render(content)))


def _largest_first(values: list[tuple[Path, Any]]) -> list[Path]:
    sizes = {path: estimate_json_tokens(value) for path, value in values}
    return sorted((path for path in sizes if sizes[path] >= _WORTH_LEAVING_OUT), key=lambda path: -sizes[path])


def _values(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The texts and plain objects of a result, which may be left out; its other fields are what its schema says."""
    match value:
        case BaseModel():
            for name, inner in value:
                yield from _values(inner, (*path, name))
        case list():
            for index, inner in enumerate(cast("list[Any]", value)):
                yield from _values(inner, (*path, index))
        case str() | dict():
            yield path, value
        case _:
            return


def _large_parts(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """In a plain object, what makes up much of it; or else the whole."""
    parts: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        parts = list(cast("Json", value).items())
    elif isinstance(value, list):
        parts = list(enumerate(cast("list[Any]", value)))
    least = _LARGE_SHARE * estimate_json_tokens(value)
    large = [(key, inner) for key, inner in parts if estimate_json_tokens(inner) >= least]
    if not large:
        yield path, value
    for key, inner in large:
        yield from _large_parts(inner, (*path, key))


def _replaced(value: Any, path: Path) -> Any:
    """The value, with a note in the place of what is at the path, of the same type."""
    if path:
        step, *rest = path
        copy = value.copy()
        copy[step] = _replaced(value[step], tuple(rest))
        return copy
    unit = (
        f"a text of {len(value):,} characters" if isinstance(value, str) else f"{estimate_json_tokens(value):,} tokens"
    )
    note = f"left out: {unit}, too large for this result; output.max_tokens raises the limit"
    return {"left out": note} if isinstance(value, dict) else [note] if isinstance(value, list) else f"[{note}]"
