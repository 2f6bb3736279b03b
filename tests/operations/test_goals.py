"""Goals and tasks: phases, idempotency, lists and context."""

from __future__ import annotations

import pytest

from tests.client import MemoryClient
from uniko_mcp.errors import IdConflictError, InvalidArgumentsError

pytestmark = pytest.mark.anyio


async def test_a_new_goal_is_active_and_owned_by_its_agent(memory: MemoryClient) -> None:
    created = await memory("create_goal", title="Migrate billing", metrics={"invoices": 0}, deadline="2026-12-31")
    goal = created["goal"]
    assert created["created"] is True
    assert (goal["phase"], goal["status"], goal["owner"]) == ("active", "active", "assistant")
    assert goal["deadline"] == "2026-12-31T00:00:00Z"
    assert (await memory("list_goals"))["goals"] == [goal]


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        ("Done", "completed"),
        ("ACHIEVED", "completed"),
        ("cancelled", "abandoned"),
        ("Failed", "abandoned"),
        ("proposed", "planned"),
        ("in review", "active"),
    ],
)
async def test_the_phase_follows_from_the_status_in_any_letter_case(
    memory: MemoryClient, status: str, phase: str
) -> None:
    goal = (await memory("create_goal", title="g", status=status))["goal"]
    assert goal["phase"] == phase
    assert [g["goal_id"] for g in (await memory("list_goals", phase=phase))["goals"]] == [goal["goal_id"]]


async def test_completing_merges_the_result_into_the_metrics_and_starting_again_clears_the_stamp(
    memory: MemoryClient,
) -> None:
    goal = (await memory("create_goal", title="g", metrics={"a": 1, "b": {"x": 1}}))["goal"]
    done = await memory("update_goal", goal_id=goal["goal_id"], status="done", result={"b": {"y": 2}, "c": None})
    assert done["changed"] is True
    assert done["goal"]["metrics"] == {"a": 1, "b": {"y": 2}, "c": None}
    assert done["goal"]["phase"] == "completed"
    assert "completed_at" in done["goal"]

    started = await memory("update_goal", goal_id=goal["goal_id"], status="active")
    assert started["goal"]["phase"] == "active"
    assert "completed_at" not in started["goal"]


async def test_completing_twice_keeps_the_first_stamp_and_says_that_nothing_changed(memory: MemoryClient) -> None:
    goal = (await memory("create_goal", title="g"))["goal"]
    memory.at = "2026-01-01T00:00:00Z"
    first = await memory("update_goal", goal_id=goal["goal_id"], status="done")
    memory.at = "2026-02-01T00:00:00Z"
    second = await memory("update_goal", goal_id=goal["goal_id"], status="done")
    assert (second["changed"], second["goal"]) == (False, first["goal"])


async def test_an_unknown_goal_or_task_is_not_changed_and_is_no_error(memory: MemoryClient) -> None:
    """D3: an id that does not exist, close to one that does."""
    await memory("create_goal", title="g", goal_id="goal-1")
    await memory("create_task", title="t", task_id="task-1")
    assert await memory("update_goal", goal_id="goal-", status="done") == {"changed": False}
    assert await memory("update_task", task_id="task-11", status="done") == {"changed": False}
    assert (await memory("list_goals"))["goals"][0]["phase"] == "active"
    assert (await memory("list_tasks"))["tasks"][0]["phase"] == "planned"


async def test_sending_a_goal_again_returns_it_and_another_content_is_a_conflict(memory: MemoryClient) -> None:
    """W6: a write that timed out at the client is sent again with the same id."""
    first = await memory("create_goal", title="g", goal_id="g1", metrics={"n": 1})
    again = await memory("create_goal", title="g", goal_id="g1", metrics={"n": 1})
    assert again == {**first, "created": False}
    with pytest.raises(IdConflictError, match="goal 'g1' exists with other content"):
        await memory("create_goal", title="another", goal_id="g1")
    assert (await memory("list_goals"))["total"] == 1


async def test_links_that_cannot_be_made_are_listed(memory: MemoryClient) -> None:
    goal = await memory("create_goal", title="g", parent_goal_id="ghost")
    assert [(link["parameter"], link["id"]) for link in goal["skipped_links"]] == [("parent_goal_id", "ghost")]
    assert "parent_goal_id" not in goal["goal"]
    task = await memory("create_task", title="t", goal_id="ghost", depends_on_task_id="none", subtask_of_task_id="no")
    assert [link["parameter"] for link in task["skipped_links"]] == [
        "goal_id",
        "depends_on_task_id",
        "subtask_of_task_id",
    ]


async def test_a_task_knows_its_goal_its_parent_and_what_it_waits_for(memory: MemoryClient) -> None:
    await memory("create_goal", title="g", goal_id="g")
    await memory("create_task", title="first", task_id="a", goal_id="g")
    task = await memory(
        "create_task",
        title="second",
        task_id="b",
        goal_id="g",
        priority=0.9,
        depends_on_task_id="a",
        subtask_of_task_id="a",
    )
    assert task["task"] == {
        **task["task"],
        "goal_id": "g",
        "depends_on": ["a"],
        "subtask_of": "a",
        "priority": 0.9,
        "phase": "planned",
        "assignee": "assistant",
    }
    assert (await memory("list_tasks", goal_id="g"))["tasks"][0] == task["task"]


@pytest.mark.parametrize(
    ("status", "phase"), [("done", "completed"), ("Blocked", "blocked"), ("pending", "planned"), ("doing", "active")]
)
async def test_a_task_moves_through_its_phases(memory: MemoryClient, status: str, phase: str) -> None:
    await memory("create_task", title="t", task_id="t")
    updated = await memory("update_task", task_id="t", status=status)
    assert (updated["changed"], updated["task"]["phase"]) == (True, phase)
    assert (await memory("list_tasks", phase=phase))["tasks"] == [updated["task"]]
    assert ("completed_at" in updated["task"]) == (phase == "completed")


async def test_a_list_for_an_agent_without_goals_is_empty_and_says_what_was_searched(memory: MemoryClient) -> None:
    """S4: a list for an unknown agent."""
    await memory("create_goal", title="g")
    listed = await memory.as_agent("nobody")("list_goals")
    assert listed == {"goals": [], "total": 0, "truncated": False, "scope": "all goals of agent nobody"}


async def test_a_long_list_comes_in_pages_that_stay_right_while_goals_are_added(memory: MemoryClient) -> None:
    for number in range(7):
        memory.at = f"2026-01-01T00:00:0{number // 2}Z"
        await memory("create_goal", title=f"goal {number}", goal_id=f"g{number}")
    first = await memory("list_goals", limit=3)
    memory.at = "2026-01-02T00:00:00Z"
    await memory("create_goal", title="late", goal_id="late")
    second = await memory("list_goals", limit=3, cursor=first["next_cursor"])
    third = await memory("list_goals", limit=3, cursor=second["next_cursor"])
    seen = [goal["goal_id"] for page in (first, second, third) for goal in page["goals"]]
    assert seen == [f"g{number}" for number in reversed(range(7))]
    assert (first["total"], first["truncated"], third["truncated"]) == (7, True, False)


@pytest.mark.parametrize("deadline", [4_000_000_000_000_000_000, 1_798_761_600, "253402300799", True, 1.5, "0000"])
async def test_a_time_that_is_not_text_of_a_time_is_refused_before_anything_is_written(
    memory: MemoryClient, deadline: object
) -> None:
    """T6: seconds, milliseconds and microseconds cannot be told apart."""
    with pytest.raises(InvalidArgumentsError, match="deadline: not a date or time"):
        await memory("create_goal", title="g", deadline=deadline)
    assert (await memory("list_goals"))["total"] == 0


async def test_a_text_longer_than_a_day_s_log_is_refused(memory: MemoryClient) -> None:
    with pytest.raises(InvalidArgumentsError, match="description: has 1,000,001 characters"):
        await memory("create_goal", title="g", description="x" * 1_000_001)


@pytest.mark.parametrize("cursor", ["", "x", "W10=", "WzkyMjMzNzIwMzY4NTQ3NzU4MDgsICJ4Il0=", "W3RydWUsICJ4Il0="])
async def test_a_cursor_that_no_list_gave_is_refused(memory: MemoryClient, cursor: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="cursor: is not one that this list gave"):
        await memory("list_goals", cursor=cursor)
