"""The domain types that results are made of: goals, tasks, facts and the items of a list."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from uniko_mcp.models.fields import Instant, JsonObject


class DomainModel(BaseModel):
    """Base of all domain types: plain frozen values."""

    model_config = ConfigDict(frozen=True)


class Goal(DomainModel):
    """Something an agent wants to reach."""

    goal_id: str
    title: str
    description: str | None = None
    status: str = Field(description="The free-form status as it was set.")
    phase: str = Field(description="active, planned, completed or abandoned; follows from status and completed_at.")
    metrics: JsonObject | None = None
    guardrails: JsonObject | None = None
    deadline: Instant | None = None
    created_at: Instant
    updated_at: Instant | None = None
    completed_at: Instant | None = None
    parent_goal_id: str | None = None
    owner: str | None = Field(default=None, description="The agent that created it.")


class Task(DomainModel):
    """A step that can be done, perhaps for a goal."""

    task_id: str
    title: str
    description: str | None = None
    status: str = Field(description="The free-form status as it was set.")
    phase: str = Field(description="active, planned, blocked or completed; follows from status and completed_at.")
    priority: float | None = None
    goal_id: str | None = None
    created_at: Instant
    updated_at: Instant | None = None
    completed_at: Instant | None = None
    depends_on: list[str] | None = Field(default=None, description="Ids of the tasks it waits for.")
    subtask_of: str | None = None
    assignee: str | None = Field(default=None, description="The agent that created it.")


class Fact(DomainModel):
    """A bitemporal statement: true in the world in [valid_from, valid_to), believed in [recorded_at, retracted_at)."""

    fact_id: str
    subject: str
    predicate: str
    object: str | None = None
    confidence: float
    observation_count: int = Field(description="How often it was asserted.")
    valid_from: Instant | None = Field(default=None, description="First moment at which it is true.")
    valid_to: Instant | None = Field(default=None, description="First moment at which it is no longer true.")
    recorded_at: Instant
    retracted_at: Instant | None = Field(default=None, description="When it was closed or corrected.")
    retraction_reason: str | None = Field(default=None, description="Why.")
    visibility: str
    recorded_by: str | None = None


class SkippedLink(DomainModel):
    """A link that was asked for and not made, because the other end does not exist."""

    parameter: str
    id: str
    reason: str


class Provenance(DomainModel):
    """One step from a memory to where it comes from or what became of it."""

    relation: str = Field(description="The kind of edge, such as SENT_BY or INVALIDATES; EVIDENCE: what was said.")
    direction: str = Field(description="out: the memory points to the other; in: the other points to the memory.")
    kind: str
    id: str
    text: str | None = Field(default=None, description="What the other says, shortened.")
    timestamp: Instant | None = None
    sender: str | None = None
    session_id: str | None = None
    properties: JsonObject | None = Field(default=None, description="What the edge itself holds, such as a reason.")


class MessageItem(DomainModel):
    """A message as it was said."""

    message_id: str
    content: str
    sender: str | None = None
    role: str | None = None
    timestamp: Instant
    session_id: str | None = None


class SessionItem(DomainModel):
    """A conversation."""

    session_id: str
    topic: str | None = None
    started_at: Instant | None = None
    messages: int = 0


class EntityItem(DomainModel):
    """A thing, person, place or idea that memories are about."""

    entity_id: str
    name: str
    entity_type: str | None = None
    mentions: int = 0
