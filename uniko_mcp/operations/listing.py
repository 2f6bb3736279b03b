"""What all operations that list have in common: how much is asked for, and how a result says what it left out."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from uniko_mcp.operations.catalogue import Result

Limit: TypeAlias = Annotated[int, Field(ge=1, le=200, description="At most this many items.")]
Cursor: TypeAlias = Annotated[
    str | None, Field(description="next_cursor of the page before; leave out for the first page.")
]


class ListResult(Result):
    """The part of a list's result that says what was searched and what is missing."""

    total: int = Field(description="How many there are in all.")
    truncated: bool = Field(description="Whether more follow; then ask again with next_cursor.")
    next_cursor: str | None = None
    scope: str = Field(description="What was searched.")
