"""Results as text: compact, complete, readable by a person, and with everything that was recorded fenced as such."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from uniko_mcp.models.fence import fence
from uniko_mcp.models.outline import outline

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
        "superseded_by",
        "type",
        "version",
        "warnings",
    }
)
"""Fields of a result whose text, or list of texts, this product words itself: ids, times, states and sentences of ours.

What is not named here is fenced: no look at a text can tell whether it is an order, in any language.
"""

OWN_OBJECTS: Final = frozenset(
    {"counts", "embedder", "extractor", "index", "journal", "left_out", "llm_extraction", "skipped_links"}
)
"""Fields of a result whose objects hold nothing but our own words, names of their fields included."""


def render(content: Mapping[str, Any]) -> str:
    """The JSON of a result as an outline.

    What the product itself says (counts, states, ids) comes first. Everything else follows in a fence, so that a
    stored order reads as the quotation that it is.
    """
    quoted = recorded(content)
    own = {name: value for name, value in content.items() if name not in quoted}
    parts = [outline(own)] if own else []
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
    return fence(outline(quoted), _LABEL)
