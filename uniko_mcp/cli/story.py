"""The story that `demo` plays: what the agent calls, and which part of each answer is worth showing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Answer: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """A call, and the lines that tell its structured answer."""

    tool: str
    arguments: dict[str, Any]
    answer: Callable[[Answer], list[str]]


@dataclass(frozen=True, slots=True)
class Scene:
    """Some calls under a title."""

    title: str
    steps: tuple[Step, ...]


def _goal(answer: Answer) -> list[str]:
    goal = answer["goal"]
    return [f"goal {goal['goal_id']!r} is {goal['phase']}, due {_day(goal['deadline'])}"]


def _task(answer: Answer) -> list[str]:
    task = answer["task"]
    return [f"task {task['task_id']!r} is {task['phase']}"]


def _messages(answer: Answer) -> list[str]:
    return [f"{answer['created']} messages recorded: {', '.join(answer['message_ids'])}"]


def _observation(answer: Answer) -> list[str]:
    return [f"observation {answer['observation_id']!r}, with the message as its evidence"]


def _action(answer: Answer) -> list[str]:
    return [f"action {answer['action_id']!r}"]


def _episode(answer: Answer) -> list[str]:
    return [f"episode {answer['episode_id']!r}"]


def _asserted(answer: Answer) -> list[str]:
    lines = [f"new fact: {_fact(answer['fact'])}" if answer["created"] else "reinforced"]
    return lines + [f"closed by it: {_fact(fact)}" for fact in answer["conflicts"]]


def _found(answer: Answer) -> list[str]:
    return [_fact(fact) for fact in answer["facts"]] or ["nothing"]


def _sources(answer: Answer) -> list[str]:
    return [f"{step['relation']} {step['kind']}: {step.get('text') or step['id']}" for step in answer["provenance"]]


def _context(answer: Answer) -> list[str]:
    goal = answer["goal"]
    return [
        f"{goal['title']} ({goal['phase']}, due {_day(goal['deadline'])})",
        *(f"task: {task['title']} ({task['phase']})" for task in answer["tasks"]),
        *(f"{message['sender']}: {message['content']}" for message in answer["recent_messages"]),
        *(f"fact: {_fact(fact)}" for fact in answer["facts"]),
    ]


def _lesson(answer: Answer) -> list[str]:
    episode = answer["memory"]
    return [f"{episode['text']}: {episode['outcome']}"]


def _updated(answer: Answer) -> list[str]:
    goal = answer["goal"]
    return [f"goal {goal['goal_id']!r} is {goal['phase']}, with {goal['metrics']}"]


def _fact(fact: Answer) -> str:
    until = f" until {_day(fact['valid_to'])}" if "valid_to" in fact else ""
    return f"{fact['subject']} {fact['predicate']} {fact['object']}, from {_day(fact['valid_from'])}{until}"


def _day(time: str) -> str:
    return time.partition("T")[0]


_GOAL: Final = {"goal_id": "billing", "title": "Move billing to Nordpay", "deadline": "2030-03-31"}
_MESSAGES: Final = {
    "session_id": "monday",
    "goal_id": "billing",
    "messages": [
        {
            "message_id": "m1",
            "sender": "Ana",
            "content": "New customers pay through Nordpay since September 2024. Never touch old refunds, please.",
        },
        {
            "message_id": "m2",
            "sender": "assistant",
            "role": "assistant",
            "content": "Understood. I begin with the invoices.",
        },
    ],
}
_OBSERVATION: Final = {
    "observation_id": "o1",
    "message_id": "m1",
    "subject": "billing",
    "content": "New customers pay through Nordpay since September 2024.",
}
_ACME: Final = {"subject": "billing", "predicate": "runs on", "object": "Acme", "valid_from": "2021-05-01"}
_NORDPAY: Final = {
    "fact_id": "nordpay",
    "subject": "billing",
    "predicate": "runs on",
    "object": "Nordpay",
    "valid_from": "2024-09-01",
    "supporting_observation_ids": ["o1"],
    "supersede": True,
}
_ACTION: Final = {
    "action_id": "a1",
    "action_type": "tool_call",
    "input": "export_invoices --year 2024",
    "error": "timeout after 30 s",
    "session_id": "monday",
}
_EPISODE: Final = {
    "episode_id": "e1",
    "action_type": "debugging",
    "state": {"topic": "The export of a whole year times out"},
    "outcome": "success: exported month by month",
    "involved_action_ids": ["a1"],
    "task_id": "export",
}

DAY: Final = (
    Scene(
        "Morning: a plan that outlives the session",
        (
            Step("create_goal", _GOAL, _goal),
            Step("create_task", {"task_id": "export", "title": "Export the invoices", "goal_id": "billing"}, _task),
            Step("create_task", {"task_id": "switch", "title": "Switch the checkout", "goal_id": "billing"}, _task),
        ),
    ),
    Scene("A talk, kept word for word", (Step("record_messages", _MESSAGES, _messages),)),
    Scene(
        "What is known, since when, and from whom",
        (
            Step("add_observation", _OBSERVATION, _observation),
            Step("assert_fact", _ACME, _asserted),
            Step("assert_fact", _NORDPAY, _asserted),
            Step("search_facts", {"subject": "billing"}, _found),
            Step("search_facts", {"subject": "billing", "as_of": "2023-12-24"}, _found),
            Step("get_memory", {"id": "nordpay"}, _sources),
        ),
    ),
    Scene(
        "Work, and what it taught",
        (
            Step("record_action", _ACTION, _action),
            Step("record_episode", _EPISODE, _episode),
            Step("update_task", {"task_id": "export", "status": "done"}, _task),
        ),
    ),
)

NEXT_DAY: Final = (
    Scene(
        "The next day, a new session: where were we?",
        (
            Step("goal_context", {"goal_id": "billing"}, _context),
            Step("get_memory", {"id": "e1"}, _lesson),
            Step("update_task", {"task_id": "switch", "status": "done"}, _task),
            Step("update_goal", {"goal_id": "billing", "status": "done", "result": {"invoices": 4812}}, _updated),
        ),
    ),
)
