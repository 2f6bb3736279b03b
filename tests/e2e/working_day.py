"""A record of real work as test data: three weeks of a billing migration, and what is asked about them afterwards.

`tests/data/billing_migration.json` holds

- `sessions`, in order: `{session_id, topic, steps}`. A step is `{tool, at, arguments}`: one call of a tool, with every
  id given. `at` is when it happened in the story. Who can set the clock of a call, plays it at that time; the server
  uses its own clock, and only what carries a time in its arguments has the story's.
- `questions`: `{question_id, kind, question, answer, evidence, quotes}`. `evidence` names the messages that answer it,
  `quotes` what has to stand in them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Call: TypeAlias = Callable[["Step"], Awaitable[dict[str, Any]]]
"""Makes the call of a step and answers its structured result."""

_RECORD = Path(__file__).parent.parent / "data" / "billing_migration.json"


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a tool; `at` is when it happened, as RFC 3339."""

    tool: str
    at: str
    arguments: dict[str, Any]

    @property
    def own_id(self) -> str | None:
        """The id that the step gives to what it records; None when it changes or reads what is there."""
        name = _OWN_IDS.get(self.tool)
        return self.arguments[name] if name else None


@dataclass(frozen=True, slots=True)
class Session:
    session_id: str
    topic: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer and the ids of the messages that hold it."""

    question_id: str
    kind: str
    question: str
    answer: str
    evidence: tuple[str, ...]
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    def steps(self, tool: str | None = None) -> Iterator[Step]:
        """All steps in order, or those of one tool."""
        return (step for session in self.sessions for step in session.steps if tool in (None, step.tool))

    def messages(self) -> Iterator[dict[str, Any]]:
        """All messages as they were said, in order."""
        return (message for step in self.steps("record_messages") for message in step.arguments["messages"])


def load_record() -> Record:
    """The record of the billing migration."""
    raw = json.loads(_RECORD.read_text(encoding="utf-8"))
    return Record(
        sessions=tuple(
            Session(session["session_id"], session["topic"], tuple(Step(**step) for step in session["steps"]))
            for session in raw["sessions"]
        ),
        questions=tuple(
            Question(**{**question, "evidence": tuple(question["evidence"]), "quotes": tuple(question["quotes"])})
            for question in raw["questions"]
        ),
    )


async def play(session: Session, call: Call) -> list[tuple[Step, dict[str, Any]]]:
    """Make the calls of a session one after the other; each step with its result."""
    return [(step, await call(step)) for step in session.steps]


_OWN_IDS = {
    "create_goal": "goal_id",
    "create_task": "task_id",
    "record_action": "action_id",
    "record_episode": "episode_id",
    "add_observation": "observation_id",
    "assert_fact": "fact_id",
}
