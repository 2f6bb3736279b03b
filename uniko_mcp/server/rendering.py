"""Results as text: compact, complete, readable by a person, and with everything that was recorded fenced as such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from uniko_mcp.models.fence import fence

_LABEL: Final = "what the memory holds"

OWN_TEXTS: Final = frozenset(
    {
        "action_id",
        "agent_id",
        "artifact_id",
        "created_at",
        "data_dir",
        "engine",
        "episode_id",
        "event_id",
        "followed_episode_id",
        "kind",
        "message_ids",
        "method",
        "next_cursor",
        "notes",
        "observation_id",
        "overflow_artifact_id",
        "overtaken",
        "recorded_episode",
        "scope",
        "session_id",
        "summary_id",
        "superseded",
        "type",
        "version",
        "warnings",
    }
)
"""Fields of a result whose text, or list of texts, this product words itself: ids, times, states and sentences of ours.

What is not named here is fenced: no look at a text can tell whether it is an order, in any language.
"""

OWN_OBJECTS: Final = frozenset(
    {"counts", "embedder", "index", "journal", "left_out", "llm_extraction", "skipped_links"}
)
"""Fields of a result whose objects hold nothing but our own words, names of their fields included."""


def render(content: Mapping[str, Any]) -> str:
    """The JSON of a result as text in the manner of YAML.

    What the product itself says (counts, states, ids) comes first. Everything else follows in a fence, so that a
    stored order reads as the quotation that it is.
    """
    quoted = recorded(content)
    own = {name: value for name, value in content.items() if name not in quoted}
    parts = ["\n".join(_lines(own))] if own else []
    if quoted:
        parts.append(_fenced(quoted))
    return "\n".join(parts) or "done"


def recorded(content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a result that hold what others may have worded: memories, notes, answers of relays and models."""
    return {name: value for name, value in content.items() if not _is_own(name, value)}


def _is_own(name: str, value: Any) -> bool:
    match value:
        case str():
            return not value or name in OWN_TEXTS
        case list():
            return all(_is_own(name, item) for item in cast("list[Any]", value))
        case Mapping():
            return not value or name in OWN_OBJECTS
        case _:
            return True


def _fenced(quoted: Mapping[str, Any]) -> str:
    """A single text stands for itself, as a note does; everything else by name."""
    (name, value), *others = quoted.items()
    if isinstance(value, str) and not others:
        return fence(value, f"the {name} that the memory holds")
    return fence("\n".join(_lines(quoted)), _LABEL)


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
