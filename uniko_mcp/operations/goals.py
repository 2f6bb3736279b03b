"""Operations on goals."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from uniko_mcp.memory import goals
from uniko_mcp.models.domain import Goal, SkippedLink
from uniko_mcp.models.fields import TIME_FORMAT, GivenInstant, Identifier, JsonObject, Required, Text
from uniko_mcp.operations.call import Call
from uniko_mcp.operations.catalogue import CHANGES, Params, Result, reads, writes
from uniko_mcp.operations.listing import Cursor, Limit, ListResult
from uniko_mcp.store import Draft, View

Status = Annotated[
    Text | None,
    Field(
        description="Free-form: done or achieved complete it; abandoned, cancelled or failed abandon it; planned or"
        " pending plan it; anything else is active."
    ),
]


class CreateGoal(Params):
    title: Required = Field(description="What is to be reached, in a line.")
    goal_id: Identifier | None = Field(default=None, description="Your own id; made when left out.")
    description: Text | None = None
    status: Status = None
    metrics: JsonObject | None = Field(default=None, description="How success is measured, as an object.")
    guardrails: JsonObject | None = Field(default=None, description="What must not happen on the way, as an object.")
    deadline: GivenInstant | None = Field(default=None, description=f"{TIME_FORMAT}.")
    parent_goal_id: Identifier | None = Field(default=None, description="The goal that this one is a part of.")


class CreatedGoal(Result):
    goal: Goal
    created: bool = Field(description="False when the same request was recorded before.")
    skipped_links: list[SkippedLink] = Field(description="Links that were not made because the other end is unknown.")


@writes("Create a goal", "goals", own_id="goal_id")
def create_goal(draft: Draft, call: Call, params: CreateGoal) -> CreatedGoal:
    """Record a goal that spans more than the current reply, so that later sessions can take it up again.

    Use it when the user names an aim, project or deadline. Returns the goal with its id and phase.
    Sending the same goal_id with the same content again changes nothing.
    """
    new = goals.NewGoal(**params.values())
    goal, created, skipped = goals.create_goal(draft, new, agent_id=call.agent_id, now=call.now)
    return CreatedGoal(goal=goal, created=created, skipped_links=skipped)


class UpdateGoal(Params):
    goal_id: Identifier
    status: Status = None
    result: JsonObject | None = Field(default=None, description="What came of it; merged into metrics.")
    title: Required | None = None
    description: Text | None = None
    deadline: GivenInstant | None = Field(default=None, description=f"{TIME_FORMAT}.")
    metrics: JsonObject | None = Field(default=None, description="Replaces the metrics.")
    guardrails: JsonObject | None = Field(default=None, description="Replaces the guardrails.")


class UpdatedGoal(Result):
    changed: bool = Field(description="False when the id is unknown or everything was so already.")
    goal: Goal | None = None


@writes("Update a goal", "goals", CHANGES)
def update_goal(draft: Draft, call: Call, params: UpdateGoal) -> UpdatedGoal:
    """Start, complete, abandon or edit a goal.

    Set status to active, done or abandoned; give result when it is done. Returns the goal as it then is;
    an unknown goal_id answers changed: false.
    """
    goal, changed = goals.update_goal(draft, goals.GoalChanges(**params.values()), now=call.now)
    return UpdatedGoal(changed=changed, goal=goal)


class ListGoals(Params):
    phase: Literal["active", "planned", "completed", "abandoned"] | None = Field(
        default=None, description="Only goals of this phase; all when left out."
    )
    limit: Limit = 50
    cursor: Cursor = None


class GoalList(ListResult):
    goals: list[Goal]


@reads("List goals", "goals")
def list_goals(view: View, call: Call, params: ListGoals) -> GoalList:
    """List your goals, newest first, all or those of one phase.

    Use it at the start of a session to see what is open. Returns goals with their phases, the total, and a cursor
    when there are more.
    """
    page = goals.list_goals(
        view,
        call.agent_id,
        params.phase,
        limit=params.limit,
        cursor=params.cursor,
        max_tokens=call.settings.output.max_tokens,
    )
    return GoalList(
        goals=page.items,
        total=page.total,
        truncated=page.truncated,
        next_cursor=page.next_cursor,
        scope=f"{params.phase or 'all'} goals of agent {call.agent_id}",
    )
