"""Operations on tasks, and the context of a goal."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from uniko_mcp.memory import goal_context as working_memory
from uniko_mcp.memory import goals, tasks
from uniko_mcp.memory.pages import ENVELOPE_TOKENS
from uniko_mcp.models.domain import EntityItem, Fact, Goal, MessageItem, SessionItem, SkippedLink, Task
from uniko_mcp.models.fields import Identifier, Required, Text, UnitInterval
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import CHANGES, Params, Result, reads, serves, writes
from uniko_mcp.operations.listing import Cursor, Limit, ListResult
from uniko_mcp.store import Draft, View

_STATUS = "Free-form: done completes it; blocked blocks it; todo, planned or pending plan it; anything else is active."


class CreateTask(Params):
    title: Required = Field(description="What is to be done, in a line.")
    task_id: Identifier | None = Field(default=None, description="Your own id; made when left out.")
    description: Text | None = None
    status: Annotated[Required | None, Field(description=_STATUS)] = None
    priority: UnitInterval | None = Field(default=None, description="0 to 1, 1 is most urgent.")
    goal_id: Identifier | None = Field(default=None, description="The goal it serves.")
    depends_on_task_id: Identifier | None = Field(default=None, description="The task that must be done before.")
    subtask_of_task_id: Identifier | None = Field(default=None, description="The task that it is a part of.")


class CreatedTask(Result):
    task: Task
    created: bool = Field(description="False when the same request was recorded before.")
    skipped_links: list[SkippedLink] = Field(description="Links not made because the other end is unknown.")


@writes("Create a task", "goals", own_id="task_id")
def create_task(draft: Draft, call: Call, params: CreateTask) -> CreatedTask:
    """Record a step that is to be done, for a goal or by itself.

    Use it to break a goal down, or to keep what must not be forgotten. Returns the task with its id and phase (planned
    until its status says otherwise).
    """
    new = tasks.NewTask(**params.values())
    task, created, skipped = tasks.create_task(draft, new, agent_id=call.agent_id, now=call.now)
    return CreatedTask(task=task, created=created, skipped_links=skipped)


class UpdateTask(Params):
    task_id: Identifier
    status: Required = Field(description=_STATUS)


class UpdatedTask(Result):
    changed: bool = Field(description="False when the id is unknown or the status was so already.")
    task: Task | None = None


@writes("Update a task", "goals", CHANGES)
def update_task(draft: Draft, call: Call, params: UpdateTask) -> UpdatedTask:
    """Set a task's status: active when you begin, blocked when you cannot go on, done when it is finished.

    Returns the task as it then is; an unknown task_id answers changed: false.
    """
    task, changed = tasks.update_task(draft, params.task_id, params.status, now=call.now)
    return UpdatedTask(changed=changed, task=task)


class ListTasks(Params):
    goal_id: Identifier | None = Field(default=None, description="The tasks of this goal; your own when left out.")
    phase: Literal["active", "planned", "blocked", "completed"] | None = Field(
        default=None, description="Only tasks of this phase; all when left out."
    )
    limit: Limit = 50
    cursor: Cursor = None


class TaskList(ListResult):
    tasks: list[Task]


@reads("List tasks", "goals")
def list_tasks(view: View, call: Call, params: ListTasks) -> TaskList:
    """List the tasks of a goal, or your own, newest first.

    Use it to see what is to be done next. Returns tasks with phase and priority, the total, and a cursor for more.
    """
    page = tasks.list_tasks(
        view,
        call.agent_id,
        goal_id=params.goal_id,
        phase=params.phase,
        limit=params.limit,
        cursor=params.cursor,
        max_tokens=call.settings.output.max_tokens,
    )
    of = f"goal {params.goal_id}" if params.goal_id else f"agent {call.agent_id}"
    return TaskList(
        tasks=page.items,
        total=page.total,
        truncated=page.truncated,
        next_cursor=page.next_cursor,
        scope=f"{params.phase or 'all'} tasks of {of}",
    )


class GoalContextParams(Params):
    goal_id: Identifier
    token_budget: int = Field(default=4_000, ge=200, le=100_000, description="About how many tokens to return at most.")


class GoalContext(Result):
    found: bool
    goal: Goal | None = None
    subgoals: list[Goal] = Field(default=[])
    tasks: list[Task] = Field(default=[])
    sessions: list[SessionItem] = Field(default=[])
    recent_messages: list[MessageItem] = Field(default=[], description="Newest first.")
    facts: list[Fact] = Field(default=[], description="True now, the most relevant first.")
    entities: list[EntityItem] = Field(default=[])
    truncated: bool = Field(default=False, description="Whether something did not fit into the budget.")
    left_out: dict[str, int] = Field(default={}, description="How many more there are of each, at least.")
    scope: str


@serves("Context of a goal", "goals")
async def goal_context(services: Services, call: Call, params: GoalContextParams) -> GoalContext:
    """Everything that bears on a goal: its subgoals, tasks, sessions, last messages, facts and entities.

    Use it before you go on with a goal. It is gathered live and fits into token_budget; an unknown goal_id answers
    found: false.
    """
    scope = f"goal {params.goal_id} and its subgoals"
    found = await services.store.read(lambda view: goals.get_goals(view, [params.goal_id]))
    if not found:
        return GoalContext(found=False, scope=scope)
    relevant = await services.recollection.relevant_facts(about(found[0]), viewer=call.agent_id, now=call.now)
    context = await services.store.read(
        lambda view: working_memory.goal_context(
            view,
            found[0],
            relevant,
            viewer=call.agent_id,
            now=call.now,
            token_budget=min(params.token_budget, call.settings.output.max_tokens - ENVELOPE_TOKENS),
        )
    )
    return GoalContext(
        found=True,
        goal=context.goal,
        subgoals=context.subgoals,
        tasks=context.tasks,
        sessions=context.sessions,
        recent_messages=context.recent_messages,
        facts=context.facts,
        entities=context.entities,
        truncated=bool(context.left_out),
        left_out=context.left_out,
        scope=scope,
    )


def about(goal: Goal) -> str:
    """What a goal is about, as a query."""
    return " ".join(part for part in (goal.title, goal.description) if part)
