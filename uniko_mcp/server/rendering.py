"""Results as text: compact, complete, readable by a person, and with everything that was recorded fenced as such."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from uniko_mcp.models.fence import fence
from uniko_mcp.operations.catalogue import Result

Json: TypeAlias = dict[str, Any]

_LABEL: Final = "what the memory holds"
_PLAIN: Final = re.compile(r"[\w.:@/+=-]{0,512}")
"""Ids, times, numbers and states: text without a space can hardly tell anybody to do anything."""

OWN_WORDS: Final = frozenset({"scope", "engine", "data_dir", "warnings", "notes"})
"""Fields of a result that this product words itself."""


def structured(result: Result) -> Json:
    """The result as JSON. Fields that are None are left out; a null inside the caller's own object stays."""
    return result.model_dump(mode="json", exclude_none=True)


def render(content: Mapping[str, Any]) -> str:
    """The JSON of a result as text in the manner of YAML.

    What the product itself says (counts, states, ids) comes first. Everything else follows in a fence, so that a
    stored order reads as the quotation that it is.
    """
    recorded = {name: value for name, value in content.items() if name not in OWN_WORDS and not _is_plain(value)}
    if recorded:
        recorded = {name: value for name, value in content.items() if name in recorded or _holds_objects(value)}
    own = {name: value for name, value in content.items() if name not in recorded}
    parts = ["\n".join(_lines(own))] if own else []
    if recorded:
        parts.append(_fenced(recorded))
    return "\n".join(parts) or "done"


def _fenced(recorded: Mapping[str, Any]) -> str:
    """A single text stands for itself, as a note does; everything else by name."""
    (name, value), *others = recorded.items()
    if isinstance(value, str) and not others:
        return fence(value, f"the {name} that the memory holds")
    return fence("\n".join(_lines(recorded)), _LABEL)


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return _PLAIN.fullmatch(value) is not None
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        return all(_is_plain(name) and _is_plain(inner) for name, inner in entries.items())
    if isinstance(value, list):
        return all(_is_plain(item) for item in cast("list[Any]", value))
    return True


def _holds_objects(value: Any) -> bool:
    """Whether it is a memory or a list of memories; one that happens to be plain stays with the others."""
    items = cast("list[Any]", value if isinstance(value, list) else [value])
    return any(isinstance(item, Mapping) and bool(cast("Mapping[str, Any]", item)) for item in items)


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
