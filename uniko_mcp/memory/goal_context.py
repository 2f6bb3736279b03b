"""Working memory: everything that bears on a goal, gathered live from the graph, within a budget of tokens.

It is a traversal, not a node: the goal and its descendants, their tasks and sessions, what was said there last, and the
facts and entities that this is about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from uniko_mcp.memory.facts import to_fact
from uniko_mcp.memory.goals import get_goals
from uniko_mcp.memory.pages import item_tokens
from uniko_mcp.memory.tasks import get_tasks
from uniko_mcp.memory.visibility import visible
from uniko_mcp.models.domain import EntityItem, Fact, Goal, MessageItem, SessionItem, Task
from uniko_mcp.store import View

Item = TypeVar("Item", bound=BaseModel)

MAX_DEPTH: Final = 8
"""How many generations of subgoals are followed."""

# One more than the most of each is looked for: then it is known that there are more.
_MAX_MESSAGES: Final = 100
_MAX_FACTS: Final = 100
_MAX_ENTITIES: Final = 50
_MAX_TASKS: Final = 200
_MAX_SESSIONS: Final = 50

_MAX_SUBJECTS: Final = 1_000
"""How many entities of each kind of mention are counted, and looked up for facts about them."""

# Kuzu uses its index only for a single key that equals something. A list of keys is a scan, so the messages are reached
# from their few sessions on; and where a join goes on to observations, a WITH keeps it from beginning at their end.
_SAID: Final = "MATCH (s:Session)<-[:IN_SESSION]-(m:Message)"
_IN_SESSIONS: Final = "WHERE s.session_id IN $ids"
_OBSERVED: Final = (
    f"{_SAID} {_IN_SESSIONS} WITH m MATCH (m)<-[:OBSERVED_IN]-(o:Observation) WHERE {visible('o')} WITH DISTINCT o"
)


@dataclass(frozen=True, slots=True)
class GoalContext:
    """What bears on the goal; `left_out` says how many more there are of each kind, at least."""

    goal: Goal
    subgoals: list[Goal]
    tasks: list[Task]
    sessions: list[SessionItem]
    recent_messages: list[MessageItem]
    facts: list[Fact]
    entities: list[EntityItem]
    left_out: dict[str, int]


def goal_context(
    view: View, goal: Goal, relevant: Sequence[str], *, viewer: str, now: int, token_budget: int
) -> GoalContext:
    """The context of a goal with its descendants.

    The goal itself is always whole. What is left of the budget goes to open tasks, then messages (newest first), facts
    (those in `relevant` first, in that order, then the latest), entities and sessions, each getting at most a share,
    and what one does not use falls to the next.
    """
    goal_id = goal.goal_id
    descendants = _descendants(view, goal_id)
    goal_ids = [goal_id, *descendants]
    sessions = _sessions(view, goal_ids)
    session_ids = [session.session_id for session in sessions[:_MAX_SESSIONS]]
    budget = _Budget(token_budget - item_tokens(goal))
    tasks = budget.take("tasks", _tasks(view, goal_ids), share=0.25, most=_MAX_TASKS)
    subgoals = budget.take("subgoals", get_goals(view, descendants), share=0.2)
    messages = budget.take("recent_messages", _messages(view, session_ids), share=0.5, most=_MAX_MESSAGES)
    mentioned = _mentions(view, session_ids, viewer)
    found = _facts(view, session_ids, mentioned.keys(), relevant, viewer, now)
    facts = budget.take("facts", found, share=0.6, most=_MAX_FACTS)
    named = _entities(view, mentioned + _episode_mentions(view, session_ids))
    entities = budget.take("entities", named, share=0.5, most=_MAX_ENTITIES)
    shown = budget.take("sessions", sessions, share=1.0)
    return GoalContext(goal, subgoals, tasks, shown, messages, facts, entities, budget.left_out)


def goal_sessions(view: View, goal_id: str) -> list[str]:
    """The ids of all sessions held for the goal or its descendants, the latest first."""
    return [session.session_id for session in _sessions(view, [goal_id, *_descendants(view, goal_id)])]


class _Budget:
    """Hands out tokens to one list after the other, whole items only."""

    def __init__(self, tokens: int) -> None:
        self._tokens = max(0, tokens)
        self.left_out: dict[str, int] = {}

    def take(self, name: str, items: Sequence[Item], *, share: float, most: int | None = None) -> list[Item]:
        """The first items, at most `most`, that fit into `share` of what is left."""
        allowance = int(self._tokens * share)
        taken: list[Item] = []
        for item in items[:most]:
            size = item_tokens(item)
            if size > allowance:
                break
            allowance -= size
            self._tokens -= size
            taken.append(item)
        if len(taken) < len(items):
            self.left_out[name] = len(items) - len(taken)
        return taken


def _descendants(view: View, goal_id: str) -> list[str]:
    rows = view.rows(
        f"MATCH (child:Goal)-[:PARENT_GOAL*1..{MAX_DEPTH}]->(:Goal {{goal_id: $id}})"
        " RETURN DISTINCT child.goal_id AS id, child.created_at AS at ORDER BY at, id",
        id=goal_id,
    )
    return [row["id"] for row in rows if row["id"] != goal_id]


def _tasks(view: View, goal_ids: list[str]) -> list[Task]:
    """Open tasks before completed ones, urgent before less urgent, new before old."""
    rows = view.rows(
        "MATCH (t:Task)-[:FOR_GOAL]->(g:Goal) WHERE g.goal_id IN $ids"
        " RETURN DISTINCT t.task_id AS id, t.completed_at IS NOT NULL AS completed,"
        " coalesce(t.priority, 0.5) AS priority, t.created_at AS at"
        f" ORDER BY completed, priority DESC, at DESC, id DESC LIMIT {_MAX_TASKS + 1}",
        ids=goal_ids,
    )
    return get_tasks(view, [row["id"] for row in rows])


def _sessions(view: View, goal_ids: list[str]) -> list[SessionItem]:
    """The sessions held for the goals, or for one of their tasks; the latest first."""
    found: dict[str, dict[str, Any]] = {}
    for path in ("(s:Session)-[:FOR_GOAL]->(g:Goal)", "(s:Session)-[:FOR_TASK]->(:Task)-[:FOR_GOAL]->(g:Goal)"):
        rows = view.rows(f"MATCH {path} WHERE g.goal_id IN $ids RETURN DISTINCT s", ids=goal_ids)
        found |= {row["s"]["session_id"]: row["s"] for row in rows}
    nodes = sorted(found.values(), key=lambda node: (-(node["started_at"] or 0), node["session_id"]))
    return [
        SessionItem(
            session_id=node["session_id"],
            topic=node["topic"],
            started_at=node["started_at"],
            messages=node["message_count"] or 0,
        )
        for node in nodes
    ]


def _messages(view: View, session_ids: list[str]) -> list[MessageItem]:
    """The last messages of the sessions: first which they are, then what they say and who said it.

    One query for all of it would read the text of every message, and one for the last two every message there is.
    """
    said = f"{_IN_SESSIONS} AND m.forgotten_at IS NULL"
    last = view.rows(
        f"{_SAID} {said} RETURN m.message_id AS id, m.timestamp AS at, m.ordinal AS ordinal, s.session_id AS session_id"
        f" ORDER BY at DESC, ordinal DESC, id DESC LIMIT {_MAX_MESSAGES + 1}",
        ids=session_ids,
    )
    if not last:
        return []
    since = {"ids": list({row["session_id"] for row in last}), "since": last[-1]["at"]}
    texts = view.rows(
        f"{_SAID} {said} AND m.timestamp >= $since RETURN m.message_id AS id, m.content AS content, m.role AS role",
        **since,
    )
    senders = view.rows(
        f"{_SAID}-[:SENT_BY]->(p:Participant) {said} AND m.timestamp >= $since"
        " RETURN m.message_id AS id, p.participant_id AS sender",
        **since,
    )
    told = {row["id"]: row for row in texts}
    sender_of: dict[str, str] = {row["id"]: row["sender"] for row in senders}
    return [
        MessageItem(
            message_id=row["id"],
            content=told[row["id"]]["content"],
            role=told[row["id"]]["role"],
            timestamp=row["at"],
            session_id=row["session_id"],
            sender=sender_of.get(row["id"]),
        )
        for row in last
    ]


def _mentions(view: View, session_ids: list[str], viewer: str) -> Counter[str]:
    """How often each entity, by its id, is mentioned or observed in the sessions."""
    return _counts(view, f"{_SAID}-[:MENTIONS]->(e:Entity) {_IN_SESSIONS}", ids=session_ids) + _counts(
        view, f"{_OBSERVED} MATCH (o)-[:ABOUT]->(e:Entity)", ids=session_ids, viewer=viewer
    )


def _episode_mentions(view: View, session_ids: list[str]) -> Counter[str]:
    path = f"MATCH (s:Session)<-[:IN_SESSION]-(m:Episode)-[:MENTIONS]->(e:Entity) {_IN_SESSIONS}"
    return _counts(view, path, ids=session_ids)


def _counts(view: View, path: str, **parameters: Any) -> Counter[str]:
    rows = view.rows(
        f"{path} RETURN e.entity_id AS id, count(*) AS mentions ORDER BY mentions DESC, id LIMIT {_MAX_SUBJECTS}",
        **parameters,
    )
    return Counter({row["id"]: row["mentions"] for row in rows})


def _facts(
    view: View, session_ids: list[str], mentioned: Iterable[str], relevant: Sequence[str], viewer: str, now: int
) -> list[Fact]:
    """Facts true now that rest on what was said in the sessions, or are about what was mentioned there."""
    current = f"f.valid_from <= $now AND (f.valid_to IS NULL OR f.valid_to > $now) AND {visible('f')}"
    paths = (
        (f"{_OBSERVED} MATCH (o)<-[:SUPPORTED_BY]-(f:Fact)", session_ids),
        ("UNWIND $ids AS id MATCH (:Entity {entity_id: id})<-[:ABOUT]-(f:Fact)", list(mentioned)),
    )
    found: dict[str, dict[str, Any]] = {}
    for path, ids in paths:
        rows = view.rows(
            f"{path} WHERE {current} WITH DISTINCT f"
            f" RETURN f ORDER BY f.recorded_at DESC, f.fact_id LIMIT {_MAX_FACTS + 1}",
            ids=ids,
            viewer=viewer,
            now=now,
        )
        found |= {row["f"]["fact_id"]: row["f"] for row in rows}
    rank = {fact_id: place for place, fact_id in enumerate(relevant)}
    nodes = sorted(
        found.values(), key=lambda node: (rank.get(node["fact_id"], len(rank)), -node["recorded_at"], node["fact_id"])
    )
    return [to_fact(node) for node in nodes]


def _entities(view: View, mentions: Counter[str]) -> list[EntityItem]:
    """The most often mentioned entities, those first."""
    ranked = sorted(mentions, key=lambda id: (-mentions[id], id))[: _MAX_ENTITIES + 1]
    rows = view.rows(
        "UNWIND $ids AS id MATCH (e:Entity {entity_id: id})"
        " RETURN e.entity_id AS id, e.name AS name, e.entity_type AS entity_type",
        ids=ranked,
    )
    entities = {row["id"]: row for row in rows}
    return [
        EntityItem(
            entity_id=id, name=entities[id]["name"], entity_type=entities[id]["entity_type"], mentions=mentions[id]
        )
        for id in ranked
    ]
