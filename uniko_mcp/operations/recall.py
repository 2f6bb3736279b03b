"""Operation that finds memories by what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from uniko_mcp.memory.goal_context import goal_sessions
from uniko_mcp.memory.pages import ENVELOPE_TOKENS, fitting, item_tokens
from uniko_mcp.models.domain import DomainModel
from uniko_mcp.models.fields import Identifier, Instant, Required, TimeSpan
from uniko_mcp.models.time import format_instant
from uniko_mcp.models.tokens import estimate_tokens
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import Params, Result, serves
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.recall.result import RecallItem

Kind: TypeAlias = Literal[
    "fact", "procedure", "topic", "summary", "episode", "observation", "message", "chunk", "artifact"
]

NODE_KINDS: Final[dict[Kind, str]] = {
    "fact": "Fact",
    "procedure": "Procedure",
    "topic": "Topic",
    "summary": "Summary",
    "episode": "Episode",
    "observation": "Observation",
    "message": "Message",
    "chunk": "Chunk",
    "artifact": "Artifact",
}

SOURCES_SHOWN: Final = 5
"""Of an item; a fact may rest on a thousand messages, and the first tell as much as all."""
_NAMES_SHOWN: Final = 10
"""Of conversations or people, where a result says what was searched."""


class Recall(Params):
    query: Required = Field(description="What you want to know, as a question or as words.")
    limit: int | None = Field(default=None, ge=1, le=200, description="At most this many items.")
    token_budget: int | None = Field(
        default=None, ge=100, le=100_000, description="About how many tokens of text at most; ids come on top."
    )
    kinds: list[Kind] = Field(default=[], description="Only these kinds of memories.")
    session_ids: list[Identifier] = Field(default=[], description="Only from these conversations.")
    participants: list[Identifier] = Field(default=[], description="Only what these people or agents said.")
    since: TimeSpan | None = Field(default=None, description="Only from then on.")
    until: TimeSpan | None = Field(default=None, description="Only up to then; a date includes that day.")
    reference_time: TimeSpan | None = Field(
        default=None, description="Ask as of then: 'last week' counts from it, and what came later is left out."
    )
    goal_id: Identifier | None = Field(default=None, description="Only from conversations for this goal.")
    include_superseded: bool = Field(default=False, description="Also what is not true then.")
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
    more_sources: int | None = Field(default=None, description="How many it has beside these; get_memory tells more.")
    why: Annotated[dict[str, float] | None, Field(description="What each channel gave to the score.")] = None


class RecallResult(Result):
    items: list[RecalledItem] = Field(description="Best first.")
    coverage: float = Field(description="0 to 1: how much of the query what was found covers.")
    phase: int = Field(description="1: facts and summaries were enough; 2: also what was said; 3: also documents.")
    tokens: int = Field(description="Of the texts.")
    total_considered: int
    truncated: bool = Field(description="Whether more items were found than are returned.")
    scope: str
    notes: list[str] = Field(description="What limits the result, such as a model that is missing.")


@serves("Recall", "recall")
async def recall(services: Services, call: Call, params: Recall) -> RecallResult:
    """Find what the memory holds on a question: facts, what was said, what happened, documents, each with its sources.

    Use it before you answer anything that depends on earlier conversations or on the user. Words, meaning, people and
    times such as "last week" all count. Returns whole items, best first, within token_budget.
    """
    most = call.settings.output.max_tokens
    found = await recall_items(services, call, params, most_text=most // 2)
    return first_items(found, fitting(map(item_tokens, found.items), most - ENVELOPE_TOKENS))


def first_items(found: RecallResult, count: int) -> RecallResult:
    """The result with so many of its items, the best."""
    if count == len(found.items):
        return found
    items = found.items[:count]
    tokens = sum(estimate_tokens(item.text) for item in items)
    return found.model_copy(update={"items": items, "tokens": tokens, "truncated": True})


async def recall_items(services: Services, call: Call, params: Recall, *, most_text: int) -> RecallResult:
    """What is found, with texts of at most so many tokens; ids and sources come on top, and have to be fitted."""
    settings = call.settings
    sessions = await _sessions(services, params)
    query = RecallQuery(
        query=params.query,
        viewer=call.agent_id,
        limit=params.limit or settings.recall.limit,
        token_budget=min(params.token_budget or settings.recall.token_budget, most_text),
        kinds=tuple(NODE_KINDS[kind] for kind in params.kinds),
        session_ids=sessions,
        participants=tuple(params.participants),
        since=params.since.start if params.since else None,
        until=params.until.end if params.until else None,
        reference_time=params.reference_time.start if params.reference_time else None,
        known_until=params.reference_time.end if params.reference_time else None,
        now=call.now,
        include_superseded=params.include_superseded,
        explain=params.explain,
    )
    bundle = await services.recollection.recall(query)
    return RecallResult(
        items=[_item(item) for item in bundle.items],
        coverage=round(bundle.coverage, 3),
        phase=bundle.phase,
        tokens=bundle.tokens,
        total_considered=bundle.total_considered,
        truncated=bundle.truncated,
        scope=_scope(params, sessions),
        notes=list(bundle.notes),
    )


async def _sessions(services: Services, params: Recall) -> tuple[str, ...] | None:
    """The conversations to search: those named, those held for the goal, or those that are both; None for all."""
    named = tuple(params.session_ids) if params.session_ids else None
    if params.goal_id is None:
        return named
    goal_id = params.goal_id
    of_goal = await services.store.read(lambda view: goal_sessions(view, goal_id))
    return tuple(id for id in of_goal if named is None or id in named)


def _item(item: RecallItem) -> RecalledItem:
    return RecalledItem(
        kind=item.kind.lower(),
        id=item.id,
        text=item.text,
        score=round(item.score, 4),
        timestamp=item.timestamp,
        derived=item.derived,
        sources=[
            Source(
                message_id=source.message_id,
                session_id=source.session_id,
                sender=source.sender,
                artifact_id=source.artifact_id,
            )
            for source in item.sources[:SOURCES_SHOWN]
        ],
        more_sources=max(0, len(item.sources) - SOURCES_SHOWN) or None,
        why={name: round(share, 4) for name, share in item.explanation.items()} if item.explanation else None,
    )


def _scope(params: Recall, sessions: tuple[str, ...] | None) -> str:
    """In words, what was searched."""
    parts = [", ".join(f"{kind}s" for kind in params.kinds) or "all kinds of memories"]
    if params.goal_id is not None:
        parts.append(f"{len(sessions or ())} conversations for goal {params.goal_id}")
    elif sessions is not None:
        parts.append(f"conversations {_named(sessions)}")
    if params.participants:
        parts.append(f"said by {_named(params.participants)}")
    if params.since is not None:
        parts.append(f"since {format_instant(params.since.start)}")
    if params.until is not None:
        parts.append(f"until {format_instant(params.until.end)}")
    if params.reference_time is not None:
        parts.append(f"as known until {format_instant(params.reference_time.end)}")
    if not params.include_superseded:
        parts.append("not what is no longer true")
    return ", ".join(parts)


def _named(names: Sequence[str]) -> str:
    """The first of the names, and how many more there are."""
    shown = ", ".join(names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
