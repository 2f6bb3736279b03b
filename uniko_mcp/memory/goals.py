"""Goals: what an agent wants to reach, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uniko_mcp.memory.links import OptionalLinks
from uniko_mcp.memory.pages import Listing, Page, fetch_page
from uniko_mcp.memory.participants import ensure_agent
from uniko_mcp.memory.phases import Phase, goal_phase, goal_phase_filter
from uniko_mcp.memory.resend import is_resend, request_hash
from uniko_mcp.models import json_text
from uniko_mcp.models.domain import Goal, SkippedLink
from uniko_mcp.store import Draft, View


@dataclass(frozen=True, slots=True)
class NewGoal:
    """What a goal is created with."""

    goal_id: str
    title: str
    description: str | None = None
    status: str | None = None
    metrics: dict[str, Any] | None = None
    guardrails: dict[str, Any] | None = None
    deadline: int | None = None
    parent_goal_id: str | None = None


@dataclass(frozen=True, slots=True)
class GoalChanges:
    """What is to change of a goal; None leaves as it is."""

    goal_id: str
    status: str | None = None
    result: dict[str, Any] | None = None
    title: str | None = None
    description: str | None = None
    deadline: int | None = None
    metrics: dict[str, Any] | None = None
    guardrails: dict[str, Any] | None = None


def create_goal(draft: Draft, new: NewGoal, *, agent_id: str, now: int) -> tuple[Goal, bool, list[SkippedLink]]:
    """The goal, whether it is new, and the links that could not be made.

    Raises:
        IdConflictError: The id belongs to a goal with other content.
    """
    if is_resend(draft.node("Goal", new.goal_id), "goal", new.goal_id, new):
        return get_goals(draft, [new.goal_id])[0], False, []
    status = new.status or "active"
    completed_at = now if goal_phase(status, None) == "completed" else None
    draft.put(
        "Goal",
        new.goal_id,
        title=new.title,
        description=new.description,
        status=status,
        metrics=json_text.dump(new.metrics),
        guardrails=json_text.dump(new.guardrails),
        deadline=new.deadline,
        completed_at=completed_at,
        created_at=now,
        updated_at=now,
        request_hash=request_hash(new),
    )
    draft.link("OWNED_BY", ("Goal", new.goal_id), ensure_agent(draft, agent_id, now=now))
    links = OptionalLinks(draft, ("Goal", new.goal_id))
    links.link("PARENT_GOAL", "parent_goal_id", "Goal", [new.parent_goal_id])
    node = draft.node("Goal", new.goal_id)
    assert node is not None
    parent = None if links.skipped else new.parent_goal_id
    return _goal(node, owner=agent_id, parent=parent), True, links.skipped


def update_goal(draft: Draft, changes: GoalChanges, *, now: int) -> tuple[Goal | None, bool]:
    """The goal as it then is, and whether anything changed; None for an unknown id.

    Completing merges `result` into the metrics (shallow) and stamps `completed_at`; any other phase clears it.
    """
    goal_id = changes.goal_id
    node = draft.node("Goal", goal_id)
    if node is None:
        return None, False
    wanted = {column: value for column, value in _changed_columns(node, changes, now).items() if node[column] != value}
    if wanted:
        wanted["updated_at"] = now
        draft.set("Goal", goal_id, **wanted)
    before = get_goals(draft, [goal_id])[0]
    return _goal({**node, **wanted}, owner=before.owner, parent=before.parent_goal_id), bool(wanted)


def list_goals(
    view: View, agent_id: str, phase: Phase | None, *, limit: int, cursor: str | None, max_tokens: int
) -> Page[Goal]:
    """The agent's goals of a phase, or all of them, newest first."""
    condition, parameters = goal_phase_filter(phase, "n") if phase else ("", {})
    listing = Listing(
        kind="Goal",
        match="MATCH (n:Goal)-[:OWNED_BY]->(:Participant {participant_id: $agent_id})",
        condition=condition,
        parameters={"agent_id": agent_id, **parameters},
        time="created_at",
    )
    return fetch_page(
        view,
        listing,
        lambda nodes: get_goals(view, [node["goal_id"] for node in nodes]),
        limit=limit,
        cursor=cursor,
        max_tokens=max_tokens,
    )


def get_goals(view: View, goal_ids: list[str]) -> list[Goal]:
    """The goals of these ids that exist, in this order."""
    rows = view.rows_for(
        "MATCH (n:Goal) WHERE n.goal_id AMONG $ids"
        " OPTIONAL MATCH (n)-[:OWNED_BY]->(owner:Participant)"
        " OPTIONAL MATCH (n)-[:PARENT_GOAL]->(parent:Goal)"
        " RETURN n, owner.participant_id AS owner, parent.goal_id AS parent",
        goal_ids,
    )
    goals = {row["n"]["goal_id"]: _goal(row["n"], owner=row["owner"], parent=row["parent"]) for row in rows}
    return [goals[id] for id in goal_ids if id in goals]


def _changed_columns(node: dict[str, Any], changes: GoalChanges, now: int) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "title": changes.title,
        "description": changes.description,
        "deadline": changes.deadline,
        "guardrails": json_text.dump(changes.guardrails),
        "status": changes.status,
    }
    columns = {column: value for column, value in columns.items() if value is not None}
    if changes.metrics is not None or changes.result is not None:
        base = changes.metrics if changes.metrics is not None else json_text.load(node["metrics"]) or {}
        columns["metrics"] = json_text.dump({**base, **(changes.result or {})})
    if changes.status is not None:
        completed = goal_phase(changes.status, None) == "completed"
        columns["completed_at"] = (node["completed_at"] or now) if completed else None
    return columns


def _goal(node: dict[str, Any], *, owner: str | None, parent: str | None) -> Goal:
    return Goal(
        goal_id=node["goal_id"],
        title=node["title"],
        description=node["description"],
        status=node["status"],
        phase=goal_phase(node["status"], node["completed_at"]),
        metrics=json_text.load(node["metrics"]),
        guardrails=json_text.load(node["guardrails"]),
        deadline=node["deadline"],
        created_at=node["created_at"],
        updated_at=node["updated_at"],
        completed_at=node["completed_at"],
        parent_goal_id=parent,
        owner=owner,
    )
