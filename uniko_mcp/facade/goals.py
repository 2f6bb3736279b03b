"""An agent's goals, and the tasks for them."""

from __future__ import annotations

from uniko_mcp.facade.caller import Caller, GoalPhase, JsonObject, TaskPhase, When
from uniko_mcp.models.domain import Goal, Task
from uniko_mcp.operations import goals, tasks

_PAGE = 200
"""The most that one call lists."""


class Goals:
    """An agent's goals, and the tasks for them."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def create(
        self,
        title: str,
        *,
        goal_id: str | None = None,
        description: str | None = None,
        status: str | None = None,
        metrics: JsonObject | None = None,
        guardrails: JsonObject | None = None,
        deadline: When | None = None,
        parent_goal_id: str | None = None,
    ) -> Goal:
        """Record a goal; active unless `status` says otherwise."""
        created = await self._caller.run(
            goals.create_goal,
            title=title,
            goal_id=goal_id,
            description=description,
            status=status,
            metrics=metrics,
            guardrails=guardrails,
            deadline=deadline,
            parent_goal_id=parent_goal_id,
        )
        return created.goal

    async def update(
        self,
        goal_id: str,
        *,
        status: str | None = None,
        result: JsonObject | None = None,
        title: str | None = None,
        description: str | None = None,
        deadline: When | None = None,
        metrics: JsonObject | None = None,
        guardrails: JsonObject | None = None,
    ) -> goals.UpdatedGoal:
        """Change a goal; what is not given stays."""
        return await self._caller.run(
            goals.update_goal,
            goal_id=goal_id,
            status=status,
            result=result,
            title=title,
            description=description,
            deadline=deadline,
            metrics=metrics,
            guardrails=guardrails,
        )

    async def start(self, goal_id: str) -> bool:
        """Make the goal active, also one that was completed; whether that changed anything."""
        return (await self.update(goal_id, status="active")).changed

    async def complete(self, goal_id: str, result: JsonObject | None = None) -> bool:
        """Complete the goal and merge `result` into its metrics; whether that changed anything."""
        return (await self.update(goal_id, status="completed", result=result)).changed

    async def abandon(self, goal_id: str) -> bool:
        """Give the goal up; whether that changed anything."""
        return (await self.update(goal_id, status="abandoned")).changed

    async def get(self, goal_id: str) -> Goal | None:
        """The goal; None when there is none of this id."""
        return (await self.context(goal_id)).goal

    async def all(self) -> list[Goal]:
        """All goals of the agent, newest first."""
        return await self._list(None)

    async def active(self) -> list[Goal]:
        """The goals that are being worked on, newest first."""
        return await self._list("active")

    async def planned(self) -> list[Goal]:
        """The goals that are planned, newest first."""
        return await self._list("planned")

    async def completed(self) -> list[Goal]:
        """The goals that were reached, newest first."""
        return await self._list("completed")

    async def abandoned(self) -> list[Goal]:
        """The goals that were given up, newest first."""
        return await self._list("abandoned")

    async def context(self, goal_id: str, *, token_budget: int | None = None) -> tasks.GoalContext:
        """What bears on the goal: its subgoals, tasks, sessions, messages, facts and entities.

        `found` is false without it."""
        return await self._caller.run(tasks.goal_context, goal_id=goal_id, token_budget=token_budget)

    async def create_task(
        self,
        title: str,
        *,
        task_id: str | None = None,
        description: str | None = None,
        status: str | None = None,
        priority: float | None = None,
        goal_id: str | None = None,
        depends_on_task_id: str | None = None,
        subtask_of_task_id: str | None = None,
    ) -> Task:
        """Record a task, for a goal or by itself; planned unless `status` says otherwise."""
        created = await self._caller.run(
            tasks.create_task,
            title=title,
            task_id=task_id,
            description=description,
            status=status,
            priority=priority,
            goal_id=goal_id,
            depends_on_task_id=depends_on_task_id,
            subtask_of_task_id=subtask_of_task_id,
        )
        return created.task

    async def update_task(self, task_id: str, status: str) -> tasks.UpdatedTask:
        """Set the status of a task."""
        return await self._caller.run(tasks.update_task, task_id=task_id, status=status)

    async def complete_task(self, task_id: str) -> bool:
        """Complete the task; whether that changed anything."""
        return (await self.update_task(task_id, "done")).changed

    async def tasks_of(self, goal_id: str, *, phase: TaskPhase | None = None) -> list[Task]:
        """All tasks of a goal, newest first."""
        found: list[Task] = []
        cursor: str | None = None
        while True:
            page = await self._caller.run(tasks.list_tasks, goal_id=goal_id, phase=phase, limit=_PAGE, cursor=cursor)
            found += page.tasks
            if (cursor := page.next_cursor) is None:
                return found

    async def _list(self, phase: GoalPhase | None) -> list[Goal]:
        found: list[Goal] = []
        cursor: str | None = None
        while True:
            page = await self._caller.run(goals.list_goals, phase=phase, limit=_PAGE, cursor=cursor)
            found += page.goals
            if (cursor := page.next_cursor) is None:
                return found
