"""Tasks: the steps that can be done, perhaps for a goal, perhaps waiting for each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uniko_mcp.memory.links import OptionalLinks
from uniko_mcp.memory.pages import Listing, Page, fetch_page
from uniko_mcp.memory.participants import ensure_agent
from uniko_mcp.memory.phases import TaskPhase, task_phase, task_phase_filter
from uniko_mcp.memory.resend import is_resend, request_hash
from uniko_mcp.models.domain import SkippedLink, Task
from uniko_mcp.store import Draft, View


@dataclass(frozen=True, slots=True)
class NewTask:
    """What a task is created with; `priority` is in [0, 1]."""

    task_id: str
    title: str
    description: str | None = None
    status: str | None = None
    priority: float | None = None
    goal_id: str | None = None
    depends_on_task_id: str | None = None
    subtask_of_task_id: str | None = None


def create_task(draft: Draft, new: NewTask, *, agent_id: str, now: int) -> tuple[Task, bool, list[SkippedLink]]:
    """The task, whether it is new, and the links that could not be made.

    Raises:
        IdConflictError: The id belongs to a task with other content.
    """
    links = OptionalLinks(draft, ("Task", new.task_id))
    if is_resend(draft.node("Task", new.task_id), "task", new.task_id, new):
        return get_tasks(draft, [new.task_id])[0], False, links.skipped
    status = new.status or "todo"
    node = {
        "task_id": new.task_id,
        "title": new.title,
        "description": new.description,
        "status": status,
        "priority": new.priority,
        "completed_at": now if task_phase(status, None) == "completed" else None,
        "created_at": now,
        "updated_at": now,
        "request_hash": request_hash(new),
    }
    draft.put("Task", new.task_id, **{column: value for column, value in node.items() if column != "task_id"})
    draft.link("ASSIGNED_TO", ("Task", new.task_id), ensure_agent(draft, agent_id, now=now))
    links.link("FOR_GOAL", "goal_id", "Goal", [new.goal_id])
    links.link("DEPENDS_ON", "depends_on_task_id", "Task", [new.depends_on_task_id])
    links.link("SUBTASK_OF", "subtask_of_task_id", "Task", [new.subtask_of_task_id])
    unresolved = {skipped.parameter for skipped in links.skipped}
    task = _task(
        node,
        goal_id=new.goal_id if "goal_id" not in unresolved else None,
        assignee=agent_id,
        depends_on=[new.depends_on_task_id] if "depends_on_task_id" not in unresolved else [],
        subtask_of=new.subtask_of_task_id if "subtask_of_task_id" not in unresolved else None,
    )
    return task, True, links.skipped


def update_task(draft: Draft, task_id: str, status: str, *, now: int) -> tuple[Task | None, bool]:
    """The task as it then is, and whether its status changed; None for an unknown id.

    Completing stamps `completed_at`; any other phase clears it.
    """
    node = draft.node("Task", task_id)
    if node is None:
        return None, False
    completed = task_phase(status, None) == "completed"
    completed_at = (node["completed_at"] or now) if completed else None
    task = get_tasks(draft, [task_id])[0]
    if (node["status"], node["completed_at"]) == (status, completed_at):
        return task, False
    changes = {"status": status, "completed_at": completed_at, "updated_at": now}
    draft.set("Task", task_id, **changes)
    return task.model_copy(update={**changes, "phase": task_phase(status, completed_at)}), True


def list_tasks(
    view: View,
    agent_id: str,
    *,
    goal_id: str | None,
    phase: TaskPhase | None,
    limit: int,
    cursor: str | None,
    max_tokens: int,
) -> Page[Task]:
    """The tasks of a goal, or without one the agent's own; of a phase or all; newest first."""
    condition, parameters = task_phase_filter(phase, "n") if phase else ("", {})
    if goal_id is None:
        match = "MATCH (n:Task)-[:ASSIGNED_TO]->(:Participant {participant_id: $of})"
    else:
        match = "MATCH (n:Task)-[:FOR_GOAL]->(:Goal {goal_id: $of})"
    listing = Listing(
        kind="Task",
        match=match,
        condition=condition,
        parameters={"of": goal_id or agent_id, **parameters},
        time="created_at",
    )
    return fetch_page(
        view,
        listing,
        lambda nodes: get_tasks(view, [node["task_id"] for node in nodes]),
        limit=limit,
        cursor=cursor,
        max_tokens=max_tokens,
    )


def get_tasks(view: View, task_ids: list[str]) -> list[Task]:
    """The tasks of these ids that exist, in this order."""
    rows = view.rows_for(
        "MATCH (n:Task) WHERE n.task_id AMONG $ids"
        " OPTIONAL MATCH (n)-[:FOR_GOAL]->(goal:Goal)"
        " OPTIONAL MATCH (n)-[:ASSIGNED_TO]->(assignee:Participant)"
        " OPTIONAL MATCH (n)-[:SUBTASK_OF]->(parent:Task)"
        " OPTIONAL MATCH (n)-[:DEPENDS_ON]->(before:Task)"
        " RETURN n, goal.goal_id AS goal_id, assignee.participant_id AS assignee, parent.task_id AS parent,"
        " collect(before.task_id) AS before",
        task_ids,
    )
    tasks = {
        row["n"]["task_id"]: _task(
            row["n"],
            goal_id=row["goal_id"],
            assignee=row["assignee"],
            depends_on=row["before"] or [],  # collecting nothing gives NULL
            subtask_of=row["parent"],
        )
        for row in rows
    }
    return [tasks[id] for id in task_ids if id in tasks]


def _task(
    node: dict[str, Any],
    *,
    goal_id: str | None,
    assignee: str | None,
    depends_on: list[str | None],
    subtask_of: str | None,
) -> Task:
    return Task(
        task_id=node["task_id"],
        title=node["title"],
        description=node["description"],
        status=node["status"],
        phase=task_phase(node["status"], node["completed_at"]),
        priority=node["priority"],
        goal_id=goal_id,
        created_at=node["created_at"],
        updated_at=node["updated_at"],
        completed_at=node["completed_at"],
        depends_on=[id for id in depends_on if id is not None] or None,
        subtask_of=subtask_of,
        assignee=assignee,
    )
