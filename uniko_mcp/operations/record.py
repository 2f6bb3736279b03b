"""Operations that record what an agent did, what happened, and what it noticed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from uniko_mcp.memory import actions, episodes, observations
from uniko_mcp.models.domain import SkippedLink
from uniko_mcp.models.fields import Identifier, JsonObject, JsonText, Required, Text, UnitInterval
from uniko_mcp.operations.call import Call
from uniko_mcp.operations.catalogue import Params, Result, writes
from uniko_mcp.store import Draft


class RecordAction(Params):
    action_type: Required = Field(description="What kind of action, such as tool_call, edit or deploy.")
    action_id: Identifier | None = Field(default=None, description="Your own id; made when left out.")
    input: JsonText | None = Field(default=None, description="Text, or JSON as text.")
    output: JsonText | None = Field(default=None, description="Text, or JSON as text; kept whole however long.")
    status: Text | None = Field(default=None, description="completed, or failed when there is an error, if left out.")
    error: Text | None = None
    duration_ms: int | None = Field(default=None, ge=0, le=10**12)
    message_id: Identifier | None = Field(default=None, description="The message that asked for it.")
    session_id: Identifier | None = None
    previous_action_id: Identifier | None = Field(
        default=None, description="The action before it; your last one in the session when left out."
    )


class RecordedAction(Result):
    action_id: str
    overflow_artifact_id: str | None = Field(default=None, description="Holds the whole output when it is long.")
    skipped_links: list[SkippedLink] = Field(description="Links not made because the other end is unknown.")


@writes("Record an action", "record", own_id="action_id")
def record_action(draft: Draft, call: Call, params: RecordAction) -> RecordedAction:
    """Record something you did: a tool call, an edit, a command, with its input, output and error.

    Use it for what a later session may need to know or repeat. Actions of a session are chained in order. Returns the
    action_id.
    """
    new = actions.NewAction(**params.values())
    overflow_id, skipped = actions.record_action(
        draft, new, agent_id=call.agent_id, now=call.now, overflow_tokens=call.settings.actions.overflow_tokens
    )
    return RecordedAction(action_id=new.action_id, overflow_artifact_id=overflow_id, skipped_links=skipped)


class RecordEpisode(Params):
    action_type: Required = Field(description="What kind of episode, such as debugging, decision or review.")
    episode_id: Identifier | None = Field(default=None, description="Your own id; made when left out.")
    outcome: Text | None = Field(default=None, description="How it ended, such as success, failure or a sentence.")
    state: JsonObject | None = Field(
        default=None, description="The situation. Its topic, question, description, summary or input is what is found."
    )
    delta: JsonObject | None = Field(default=None, description="What changed by it.")
    importance: UnitInterval | None = Field(default=None, description="0 to 1; 0.5 when left out.")
    involved_action_ids: list[Identifier] = Field(default=[], description="Recorded actions that were part of it.")
    task_id: Identifier | None = None
    session_id: Identifier | None = None
    entities: list[Text] = Field(default=[], description="Names of what it is about.")


class RecordedEpisode(Result):
    episode_id: str
    followed_episode_id: str | None = Field(default=None, description="Your episode before it, within an hour.")
    gap_ms: int | None = None
    skipped_links: list[SkippedLink] = Field(description="Links not made because the other end is unknown.")


@writes("Record an episode", "record", own_id="episode_id")
def record_episode(draft: Draft, call: Call, params: RecordEpisode) -> RecordedEpisode:
    """Record an experience worth remembering: the situation, how it ended, what changed.

    Use it after a success, a failure, a correction or a decision, so that it can be learned from. Returns the
    episode_id, and the episode that it followed.
    """
    new = episodes.NewEpisode(**params.values())
    recorded = episodes.record_episode(draft, new, agent_id=call.agent_id, now=call.now)
    return RecordedEpisode(
        episode_id=new.episode_id,
        followed_episode_id=recorded.followed_episode_id,
        gap_ms=recorded.gap_ms,
        skipped_links=recorded.skipped,
    )


class AddObservation(Params):
    message_id: Identifier = Field(description="The recorded message in which it was said.")
    content: Required = Field(description="The claim as one sentence that is clear by itself.")
    subject: Required = Field(description="Whom or what it is about.")
    observation_id: Identifier | None = Field(default=None, description="Your own id; made when left out.")
    predicate: Text | None = None
    object: Text | None = None
    confidence: UnitInterval | None = Field(default=None, description="0 to 1; 1 when left out.")
    visibility: Literal["shared", "private"] | None = Field(
        default=None, description="private: only for you. shared when left out."
    )


class AddedObservation(Result):
    observation_id: str
    created: bool = Field(description="False when the same request was recorded before.")


@writes("Add an observation", "record", own_id="observation_id")
def add_observation(draft: Draft, call: Call, params: AddObservation) -> AddedObservation:
    """Record a single claim that a message makes, tied to that message as its evidence.

    Use it when a message says something that should be found and cited later. It carries the date of the message.
    Returns the observation_id, which assert_fact takes as support.
    """
    new = observations.NewObservation(**params.values())
    created = observations.add_observation(draft, new, agent_id=call.agent_id, now=call.now)
    return AddedObservation(observation_id=new.observation_id, created=created)
