"""Operations on conversations."""

from __future__ import annotations

from pydantic import Field

from uniko_mcp.memory import conversation
from uniko_mcp.models.domain import SkippedLink
from uniko_mcp.models.fields import TIME_FORMAT, Identifier, Instant, Required, Text
from uniko_mcp.models.ids import new_id
from uniko_mcp.operations.call import Call
from uniko_mcp.operations.catalogue import Params, Result, writes
from uniko_mcp.store import Draft


class Message(Params):
    sender: Identifier = Field(description="Who said it: a name or id.")
    content: Required = Field(description="What was said, as it was.")
    role: Text | None = Field(default=None, description="user, assistant, system or tool.")
    message_id: Identifier | None = Field(default=None, description="Your own id; made when left out.")
    timestamp: Instant | None = Field(default=None, description=f"When it was said; now when left out. {TIME_FORMAT}.")
    addressed_to: list[Identifier] = Field(default=[], description="To whom it was said.")


class RecordMessages(Params):
    session_id: Identifier = Field(description="The conversation; made when it is new.")
    messages: list[Message] = Field(min_length=1, max_length=1_000, description="In the order in which they were said.")
    topic: Text | None = Field(default=None, description="What the conversation is about.")
    goal_id: Identifier | None = Field(default=None, description="The goal that the conversation serves.")
    task_id: Identifier | None = Field(default=None, description="The task that the conversation serves.")


class RecordedMessages(Result):
    message_ids: list[str] = Field(description="In the order of the messages.")
    created: int = Field(description="How many were new.")
    entities: int = Field(description="How many things they mention.")
    observations: int = Field(description="How many claims were found in them.")
    skipped_links: list[SkippedLink] = Field(description="Links not made because the other end is unknown.")


def _with_ids(params: RecordMessages) -> RecordMessages:
    messages = [m if m.message_id else m.model_copy(update={"message_id": new_id()}) for m in params.messages]
    return params.model_copy(update={"messages": messages})


@writes("Record messages", "conversation", prepare=_with_ids)
def record_messages(draft: Draft, call: Call, params: RecordMessages) -> RecordedMessages:
    """Keep what was said, word for word: one or more messages of a conversation, all of them or none.

    Use it as the conversation goes on, with your own replies. Sending a message_id again with the same content changes
    nothing. Returns the message_ids.
    """
    unit = conversation.Unit(
        session_id=params.session_id,
        messages=[_new_message(message, call.now + position) for position, message in enumerate(params.messages)],
        topic=params.topic,
        goal_id=params.goal_id,
        task_id=params.task_id,
    )
    recorded = conversation.record_messages(draft, unit, now=call.now)
    return RecordedMessages(
        message_ids=[message.message_id for message in unit.messages],
        created=recorded.created,
        entities=recorded.entities,
        observations=recorded.observations,
        skipped_links=recorded.skipped,
    )


def _new_message(message: Message, said_at: int) -> conversation.NewMessage:
    assert message.message_id is not None
    return conversation.NewMessage(
        message_id=message.message_id,
        sender=message.sender,
        content=message.content,
        timestamp=said_at if message.timestamp is None else message.timestamp,
        role=message.role,
        addressed_to=tuple(message.addressed_to),
    )
