"""Operation that finds memories by what they mean."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from uniko_mcp.models.domain import DomainModel
from uniko_mcp.models.fields import Identifier, Instant, Required, TimeSpan
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import Params, Result, serves

Kind: TypeAlias = Literal[
    "fact", "procedure", "topic", "summary", "episode", "observation", "message", "chunk", "artifact"
]


class Recall(Params):
    query: Required = Field(description="What you want to know, as a question or as words.")
    limit: int | None = Field(default=None, ge=1, le=200, description="At most this many items; 10 when left out.")
    token_budget: int | None = Field(default=None, ge=100, le=100_000, description="4000 when left out.")
    kinds: list[Kind] = Field(default=[], description="Only these kinds of memories.")
    session_ids: list[Identifier] = Field(default=[], description="Only from these conversations.")
    participants: list[Identifier] = Field(default=[], description="Only what these people or agents said.")
    since: TimeSpan | None = Field(default=None, description="Only from then on.")
    until: TimeSpan | None = Field(default=None, description="Only up to then; a date includes that day.")
    reference_time: Instant | None = Field(default=None, description="What 'last week' counts from; now if left out.")
    goal_id: Identifier | None = Field(default=None, description="Only from conversations for this goal.")
    include_superseded: bool = Field(default=False, description="Also what is no longer true.")
    explain: bool = Field(default=False, description="Also how each item came to its score.")


class Source(DomainModel):
    """Where an item comes from."""

    message_id: str | None = None
    session_id: str | None = None
    sender: str | None = None
    artifact_id: str | None = None


class RecalledItem(DomainModel):
    """A memory that bears on the query. `derived` says that it was concluded rather than said."""

    kind: str
    id: str
    text: str
    score: float
    timestamp: Instant
    derived: bool
    sources: list[Source]
    why: Annotated[dict[str, float] | None, Field(description="What each channel gave to the score.")] = None


class RecallResult(Result):
    items: list[RecalledItem] = Field(description="Best first.")
    coverage: float = Field(description="0 to 1: how much of the query the items cover.")
    phase: int = Field(description="1: facts and summaries were enough; 2: also what was said; 3: also documents.")
    tokens: int
    total_considered: int
    truncated: bool = Field(description="Whether more items were found than are returned.")
    scope: str
    notes: list[str] = Field(description="What limits the result, such as a model that is missing.")
