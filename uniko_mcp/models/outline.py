"""JSON values as an outline in the manner of YAML: compact, complete, readable by a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast


def outline(fields: Mapping[str, Any]) -> str:
    """The fields, each on lines of its own; what they hold is indented below."""
    return "\n".join(_lines(fields))


def _lines(fields: Mapping[str, Any]) -> Iterator[str]:
    for name, value in fields.items():
        yield from _entry(f"{name}:", value)


def _entry(head: str, value: Any) -> Iterator[str]:
    """`head` with its value: on the same line when the value is short, else indented below."""
    if isinstance(value, Mapping) and value:
        yield head
        yield from _indented(_lines(cast("Mapping[str, Any]", value)))
    elif isinstance(value, list) and value:
        yield head
        for item in cast("list[Any]", value):
            yield from _item(item)
    elif isinstance(value, str) and "\n" in value:
        yield f"{head} |"
        yield from _indented(value.split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _item(item: Any) -> Iterator[str]:
    """A list's item: its first line after a dash, the others below."""
    if isinstance(item, Mapping) and item:
        first, *others = _lines(cast("Mapping[str, Any]", item))
        yield f"- {first}"
        yield from _indented(others)
    else:
        yield from _entry("-", item)


def _indented(lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case [] | {}:
            return "none"
        case "":
            return '""'
        case _:
            return str(value)
