"""What a free-form status means: the phase of a goal or a task."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

Phase: TypeAlias = Literal["active", "planned", "completed", "abandoned"]
TaskPhase: TypeAlias = Literal["active", "planned", "blocked", "completed"]

_GOAL_STATUSES: Final[dict[Phase, tuple[str, ...]]] = {
    "completed": ("done", "completed", "complete", "achieved"),
    "abandoned": ("abandoned", "cancelled", "canceled", "dropped", "failed"),
    "planned": ("planned", "pending", "proposed"),
}
_TASK_STATUSES: Final[dict[TaskPhase, tuple[str, ...]]] = {
    "completed": ("done", "completed"),
    "blocked": ("blocked",),
    "planned": ("todo", "planned", "pending"),
}
_GOAL_PHASES: Final[dict[str, Phase]] = {
    status: phase for phase, statuses in _GOAL_STATUSES.items() for status in statuses
}
_TASK_PHASES: Final[dict[str, TaskPhase]] = {
    status: phase for phase, statuses in _TASK_STATUSES.items() for status in statuses
}


def goal_phase(status: str, completed_at: int | None) -> Phase:
    """`completed_at` wins; then the status, whatever its letter case; any other status is active."""
    if completed_at is not None:
        return "completed"
    return _GOAL_PHASES.get(status.lower(), "active")


def task_phase(status: str, completed_at: int | None) -> TaskPhase:
    """As for goals, with the words of tasks."""
    if completed_at is not None:
        return "completed"
    return _TASK_PHASES.get(status.lower(), "active")


def goal_phase_filter(phase: Phase, node: str) -> tuple[str, dict[str, Any]]:
    """The Cypher condition, with its parameters, that holds for the goals of a phase."""
    return _phase_filter(phase, node, _GOAL_STATUSES.get(phase), list(_GOAL_PHASES))


def task_phase_filter(phase: TaskPhase, node: str) -> tuple[str, dict[str, Any]]:
    """The Cypher condition, with its parameters, that holds for the tasks of a phase."""
    return _phase_filter(phase, node, _TASK_STATUSES.get(phase), list(_TASK_PHASES))


def _phase_filter(
    phase: str, node: str, statuses: tuple[str, ...] | None, all_statuses: list[str]
) -> tuple[str, dict[str, Any]]:
    status = f"lower({node}.status)"
    if phase == "completed":
        return f"({node}.completed_at IS NOT NULL OR {status} IN $statuses)", {"statuses": list(statuses or ())}
    if statuses is None:
        return f"({node}.completed_at IS NULL AND NOT {status} IN $statuses)", {"statuses": all_statuses}
    return f"({node}.completed_at IS NULL AND {status} IN $statuses)", {"statuses": list(statuses)}
