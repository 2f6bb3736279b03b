"""Lists in pages: newest first, whole items only, with a total and a cursor that stays right while items are added."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel

from uniko_mcp.errors import InvalidArgumentsError
from uniko_mcp.models.graph_schema import NODES
from uniko_mcp.models.time import BEGINNING_OF_TIME, END_OF_TIME
from uniko_mcp.models.tokens import estimate_result_tokens
from uniko_mcp.store import View

Item = TypeVar("Item", bound=BaseModel)

ENVELOPE_TOKENS: Final = 500
"""What a result holds beside its items: total, scope, cursor."""


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page of a list; `next_cursor` is None on the last."""

    items: list[Item]
    total: int
    next_cursor: str | None

    @property
    def truncated(self) -> bool:
        """Whether more items follow."""
        return self.next_cursor is not None


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list selects: a kind, a Cypher pattern that binds `n`, a condition, and the time column of its order."""

    kind: str
    match: str
    condition: str
    parameters: Mapping[str, Any]
    time: str

    @property
    def key(self) -> str:
        """The column that holds the id."""
        return NODES[self.kind].key


def fetch_page(
    view: View,
    listing: Listing,
    build: Callable[[list[dict[str, Any]]], list[Item]],
    *,
    limit: int,
    cursor: str | None,
    max_tokens: int,
) -> Page[Item]:
    """The page after `cursor`: at most `limit` items, and no more than fit into `max_tokens`.

    `build` turns node rows into items, one for each, in order. A first item that alone is too large is kept.

    Raises:
        InvalidArgumentsError: The cursor was not made by this list.
    """
    where = listing.condition or "true"
    total = view.row(f"{listing.match} WHERE {where} RETURN count(n) AS total", **listing.parameters)
    parameters = dict(listing.parameters)
    if cursor is not None:
        parameters["after_time"], parameters["after_key"] = _decode(cursor)
        where += (
            f" AND (n.{listing.time} < $after_time"
            f" OR (n.{listing.time} = $after_time AND n.{listing.key} < $after_key))"
        )
    rows = view.rows(  # ids alone: sorting whole nodes would read every text there is
        f"{listing.match} WHERE {where} RETURN n.{listing.key} AS id, n.{listing.time} AS at"
        " ORDER BY at DESC, id DESC LIMIT $most",
        most=limit + 1,
        **parameters,
    )
    nodes = view.nodes(listing.kind, (row["id"] for row in rows[:limit]))
    items = build([nodes[row["id"]] for row in rows[:limit]])
    kept = fitting(map(item_tokens, items), max_tokens - ENVELOPE_TOKENS)
    more = kept < len(rows)
    next_cursor = _encode(rows[kept - 1]["at"], rows[kept - 1]["id"]) if more and kept else None
    return Page(items[:kept], total["total"] if total else 0, next_cursor)


def item_tokens(item: BaseModel) -> int:
    """About how many tokens an item takes in a result that lists it."""
    return estimate_result_tokens({"": [item.model_dump(mode="json", exclude_none=True)]})


def fitting(sizes: Iterable[int], max_tokens: int) -> int:
    """How many of the first items of these sizes fit into `max_tokens` together; at least one when there are any."""
    used = 0
    count = 0
    for count, size in enumerate(sizes, start=1):
        used += size
        if used > max_tokens and count > 1:
            return count - 1
    return count


def part_of(text: str, *, offset: int, max_tokens: int) -> tuple[str, int | None]:
    """What of a long text fits from a character on, and where the rest begins, if there is any."""
    part = text[offset:]
    while (size := estimate_result_tokens({"": {"": part}})) > max_tokens and len(part) > 1:
        part = part[: max(1, len(part) * max_tokens // size)]
    end = offset + len(part)
    return part, end if end < len(text) else None


def _encode(time: int, key: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([time, key]).encode("utf-8")).decode("ascii")


def _decode(cursor: str) -> tuple[int, str]:
    try:
        time, key = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii")))
    except (ValueError, TypeError):
        time, key = None, None
    if type(time) is not int or not BEGINNING_OF_TIME <= time <= END_OF_TIME or not isinstance(key, str):
        raise InvalidArgumentsError(
            "cursor: is not one that this list gave", next_step="Leave it out to start from the beginning"
        )
    return time, key
