"""Operations on facts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from uniko_mcp.memory import fact_search, facts
from uniko_mcp.memory.pages import fitting, item_tokens
from uniko_mcp.models.domain import Fact, SkippedLink
from uniko_mcp.models.fields import TIME_FORMAT, GivenInstant, Identifier, Required, Text, TimeSpan, UnitInterval
from uniko_mcp.operations.call import Call
from uniko_mcp.operations.catalogue import REMOVES, Params, Result, reads, writes
from uniko_mcp.operations.listing import Cursor, Limit, ListResult
from uniko_mcp.store import Draft, View


class AssertFact(Params):
    subject: Required = Field(description="Whom or what it is about, such as user.")
    predicate: Required = Field(description="The relation, such as prefers or works_at.")
    object: Text | None = Field(default=None, description="The value, such as dark mode.")
    fact_id: Identifier | None = Field(default=None, description="Your own id; made when left out.")
    confidence: UnitInterval | None = Field(default=None, description="0 to 1; 1 when left out.")
    valid_from: TimeSpan | None = Field(
        default=None, description=f"{TIME_FORMAT}. Now, or the date of its evidence, when left out."
    )
    valid_to: TimeSpan | None = Field(default=None, description="When it ends; a date includes that day.")
    supporting_observation_ids: list[Identifier] = Field(default=[], description="From add_observation.")
    supersede: bool = Field(
        default=False, description="Close the facts that it contradicts; a private fact closes no shared ones."
    )
    visibility: Literal["shared", "private"] | None = Field(
        default=None, description="private: only for you. shared when left out."
    )


class AssertedFact(Result):
    fact: Fact
    created: bool = Field(description="False when it reinforced a fact that was known.")
    conflicts: list[Fact] = Field(
        description="Same subject and predicate, other object, same time. Superseded ones are closed, others not."
    )
    more_conflicts: int | None = Field(default=None, description="How many more there are, recorded before these.")
    skipped_links: list[SkippedLink] = Field(description="Links not made because the other end is unknown.")


@writes("Assert a fact", "record", own_id="fact_id")
def assert_fact(draft: Draft, call: Call, params: AssertFact) -> AssertedFact:
    """State what is true, as subject, predicate and object, with the time in which it holds.

    Use it for what should be known in every later session. Saying it again reinforces it; contradicting facts come back
    as conflicts, and supersede closes them. Returns the fact.
    """
    new = facts.NewFact(**params.values())
    asserted = facts.assert_fact(draft, new, agent_id=call.agent_id, now=call.now)
    shown = fitting(map(item_tokens, asserted.conflicts), call.settings.output.max_tokens // 2)
    return AssertedFact(
        fact=asserted.fact,
        created=asserted.created,
        conflicts=asserted.conflicts[:shown],
        more_conflicts=len(asserted.conflicts) - shown or None,
        skipped_links=asserted.skipped,
    )


class InvalidateFact(Params):
    fact_id: Identifier
    replacement_fact_id: Identifier | None = Field(default=None, description="The fact that is true instead.")
    reason: Text | None = None
    at: GivenInstant | None = Field(
        default=None, description=f"Since when it is no longer true; now when left out. {TIME_FORMAT}."
    )


class InvalidatedFact(Result):
    changed: bool = Field(description="False when the id is unknown or the fact had ended by then already.")
    fact: Fact | None = None


@writes("Invalidate a fact", "record", REMOVES)
def invalidate_fact(draft: Draft, call: Call, params: InvalidateFact) -> InvalidatedFact:
    """Close a fact that is no longer true, or never was. It stays as history and is not deleted.

    Use it when something ended or was wrong; name the fact that replaces it if there is one. Returns the closed fact.
    """
    fact, changed = facts.invalidate_fact(
        draft,
        params.fact_id,
        replacement_fact_id=params.replacement_fact_id,
        reason=params.reason,
        at=params.at,
        agent_id=call.agent_id,
        now=call.now,
    )
    return InvalidatedFact(changed=changed, fact=fact)


class SearchFacts(Params):
    query: Text | None = Field(default=None, description="Words that must all occur in the fact.")
    subject: Text | None = Field(default=None, description="Exactly this subject; letter case does not matter.")
    predicate: Text | None = Field(default=None, description="Exactly this predicate.")
    object: Text | None = Field(default=None, description="Exactly this object.")
    as_of: TimeSpan | None = Field(default=None, description="What was true then; a date asks about any moment of it.")
    known_at: TimeSpan | None = Field(default=None, description="What was believed then.")
    include_invalidated: bool = Field(default=False, description="Also what is not true now.")
    limit: Limit = 50
    cursor: Cursor = None


class FactList(ListResult):
    facts: list[Fact]


@reads("Search facts", "record")
def search_facts(view: View, call: Call, params: SearchFacts) -> FactList:
    """Look facts up by subject, predicate, object or words: those true now, or as of a moment, or as known at one.

    Use it when you need what is known for certain; use recall for what was said. Returns facts, last recorded first.
    """
    values = params.values()
    limit, cursor = values.pop("limit"), values.pop("cursor")
    question = fact_search.FactQuestion(**values)
    page = fact_search.search_facts(
        view,
        question,
        viewer=call.agent_id,
        now=call.now,
        limit=limit,
        cursor=cursor,
        max_tokens=call.settings.output.max_tokens,
    )
    return FactList(
        facts=page.items,
        total=page.total,
        truncated=page.truncated,
        next_cursor=page.next_cursor,
        scope=question.scope,
    )
