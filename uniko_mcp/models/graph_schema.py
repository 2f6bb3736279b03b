"""The shape of the graph: every node table with its key and properties, every edge table with the pairs it joins.

Times are integer microseconds UTC. `json` columns hold JSON text. This is the only description of the schema: the
graph's tables, the snapshot format and the checks on change sets all derive from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

SCHEMA_VERSION: Final = 1

ColumnType: TypeAlias = Literal["text", "json", "int", "time", "float", "bool"]


@dataclass(frozen=True, slots=True)
class NodeTable:
    """A kind of node: its key column and the type of each other column."""

    kind: str
    key: str
    columns: Mapping[str, ColumnType]


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """A kind of edge: the (from, to) kinds it may join and the type of each property."""

    kind: str
    pairs: tuple[tuple[str, str], ...]
    columns: Mapping[str, ColumnType]


def _node(kind: str, key: str, /, **columns: ColumnType) -> NodeTable:
    return NodeTable(kind, key, columns)


def _edge(kind: str, /, *pairs: str, **columns: ColumnType) -> EdgeTable:
    joined = tuple((left, right) for left, _, right in (pair.partition(">") for pair in pairs))
    return EdgeTable(kind, joined, columns)


_NODES = (
    _node(
        "Participant",
        "participant_id",
        kind="text",
        name="text",
        created_at="time",
        last_episode_id="text",
        last_episode_at="time",
    ),
    _node("Organization", "org_id", name="text"),
    _node("Team", "team_id", name="text", purpose="text"),
    _node(
        "Goal",
        "goal_id",
        title="text",
        description="text",
        status="text",
        metrics="json",
        guardrails="json",
        deadline="time",
        completed_at="time",
        created_at="time",
        updated_at="time",
        request_hash="text",
    ),
    _node(
        "Task",
        "task_id",
        title="text",
        description="text",
        status="text",
        priority="float",
        completed_at="time",
        created_at="time",
        updated_at="time",
        request_hash="text",
    ),
    _node(
        "Session",
        "session_id",
        topic="text",
        started_at="time",
        ended_at="time",
        last_message_id="text",
        last_message_at="time",
        message_count="int",
    ),
    _node(
        "Message",
        "message_id",
        content="text",
        content_type="text",
        role="text",
        timestamp="time",
        ordinal="int",
        content_hash="text",
        forgotten_at="time",
        llm_read_at="time",
    ),
    _node(
        "Action",
        "action_id",
        action_type="text",
        input="text",
        output="text",
        status="text",
        error="text",
        started_at="time",
        duration_ms="int",
        request_hash="text",
    ),
    _node(
        "Artifact",
        "artifact_id",
        kind="text",
        title="text",
        mime="text",
        path="text",
        created_at="time",
        source_id="text",
        revision="text",
        superseded_at="time",
        content_hash="text",
        request_hash="text",
    ),
    _node("ArtifactContent", "content_hash", text="text", bytes="text", size="int"),
    _node("Chunk", "chunk_id", text="text", index="int", start="int", end="int", heading="text"),
    _node(
        "Episode",
        "episode_id",
        action_type="text",
        outcome="text",
        state="json",
        delta="json",
        importance="float",
        text="text",
        timestamp="time",
        request_hash="text",
    ),
    _node(
        "Observation",
        "observation_id",
        content="text",
        subject="text",
        predicate="text",
        object="text",
        confidence="float",
        observed_at="time",
        about_from="time",
        about_to="time",
        visibility="text",
        recorded_by="text",
        recorded_at="time",
        method="text",
        request_hash="text",
    ),
    _node(
        "Fact",
        "fact_id",
        subject="text",
        predicate="text",
        object="text",
        triple_key="text",
        subject_key="text",
        predicate_key="text",
        object_key="text",
        confidence="float",
        observation_count="int",
        reinforced_by="json",
        valid_from="time",
        valid_to="time",
        granularity="text",
        certainty="text",
        recorded_at="time",
        retracted_at="time",
        retraction_reason="text",
        revised_at="time",
        history="json",
        visibility="text",
        recorded_by="text",
        request_hash="text",
    ),
    _node(
        "Entity",
        "entity_id",
        name="text",
        entity_type="text",
        aliases="json",
        unstable="bool",
        invalidation_count="int",
    ),
    _node("Topic", "topic_id", name="text", summary="text"),
    _node(
        "Procedure",
        "procedure_id",
        name="text",
        steps="json",
        status="text",
        support_count="int",
        success_count="int",
        failure_count="int",
        precondition="text",
    ),
    _node(
        "Summary",
        "summary_id",
        text="text",
        level="text",
        method="text",
        created_at="time",
        covered="int",
        covered_hash="text",
    ),
    _node("ConsolidationCycle", "cycle_id", agent_id="text", started_at="time", ended_at="time", counts="json"),
)

_EDGES = (
    _edge("SENT_BY", "Message>Participant"),
    _edge("ADDRESSED_TO", "Message>Participant"),
    _edge("IN_SESSION", "Message>Session", "Action>Session", "Episode>Session", "Artifact>Session"),
    _edge("NEXT", "Message>Message", gap_ms="int"),
    _edge("PARTICIPATED_IN", "Participant>Session"),
    _edge("MENTIONS", "Message>Entity", "Chunk>Entity", "Episode>Entity"),
    _edge("HAS_CHUNK", "Artifact>Chunk", "Message>Chunk"),
    _edge("HAS_CONTENT", "Artifact>ArtifactContent"),
    _edge("ATTACHED_TO", "Artifact>Message"),
    _edge("OBSERVED_IN", "Observation>Message", "Observation>Chunk"),
    _edge("OBSERVED_DURING", "Observation>Session"),
    _edge("ABOUT", "Observation>Entity", "Fact>Entity"),
    _edge("SUPPORTED_BY", "Fact>Observation", "Procedure>Episode"),
    _edge("DERIVED_FROM", "Observation>Observation", "Procedure>Procedure", "Summary>Message"),
    _edge("INVALIDATES", "Fact>Fact", reason="text", at="time"),
    _edge("BELONGS_TO", "Message>Topic", "Observation>Topic", "Fact>Topic"),
    _edge("OWNED_BY", "Goal>Participant"),
    _edge("PARENT_GOAL", "Goal>Goal"),
    _edge("PART_OF", "Topic>Topic"),
    _edge("ASSIGNED_TO", "Task>Participant"),
    _edge("DEPENDS_ON", "Task>Task"),
    _edge("SUBTASK_OF", "Task>Task"),
    _edge("FOR_GOAL", "Task>Goal", "Session>Goal"),
    _edge("FOR_TASK", "Session>Task", "Episode>Task"),
    _edge("PERFORMED_BY", "Action>Participant"),
    _edge("TRIGGERED_BY", "Action>Message"),
    _edge("NEXT_ACTION", "Action>Action"),
    _edge("PRODUCED", "Action>Artifact"),
    _edge("RECORDED_BY", "Episode>Participant", "Observation>Participant", "Fact>Participant", "Artifact>Participant"),
    _edge("FOLLOWED_BY", "Episode>Episode", gap_ms="int"),
    _edge("INVOLVES", "Episode>Action"),
    _edge("SUMMARIZES", "Summary>Session", "Summary>Topic"),
    _edge("SUPERSEDES", "Artifact>Artifact"),
    _edge("PROCESSED", "ConsolidationCycle>Observation"),
    _edge("CREATED", "ConsolidationCycle>Fact", "ConsolidationCycle>Topic", "ConsolidationCycle>Procedure"),
    _edge("REINFORCED", "ConsolidationCycle>Fact"),
    _edge("INVALIDATED", "ConsolidationCycle>Fact"),
    _edge("PROMOTED", "ConsolidationCycle>Procedure"),
    _edge("MEMBER_OF", "Participant>Team", "Participant>Organization"),
    _edge("PART_OF_TEAM", "Team>Team"),
    _edge("TEAM_IN_ORG", "Team>Organization"),
    _edge("SHARED_FROM", "Fact>Participant", "Observation>Participant"),
)

NODES: Final[Mapping[str, NodeTable]] = {table.kind: table for table in _NODES}
EDGES: Final[Mapping[str, EdgeTable]] = {table.kind: table for table in _EDGES}
