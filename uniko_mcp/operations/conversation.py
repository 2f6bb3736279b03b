"""Operations on conversations."""

from __future__ import annotations

from collections.abc import Sequence

from anyio import from_thread, to_thread
from pydantic import Field

from uniko_mcp.memory import conversation, reading
from uniko_mcp.models.domain import SkippedLink
from uniko_mcp.models.fields import TIME_FORMAT, GivenInstant, Identifier, Required, Text
from uniko_mcp.models.ids import new_id
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import ADDS, Params, Result, serves
from uniko_mcp.store import Draft


class Message(Params):
    sender: Identifier = Field(description="Who said it: a name or id.")
    content: Required = Field(description="What was said, as it was.")
    role: Text | None = Field(default=None, description="user, assistant, system or tool.")
    message_id: Identifier | None = Field(default=None, description="Your own id; made when left out.")
    timestamp: GivenInstant | None = Field(
        default=None, description=f"When it was said; now when left out. {TIME_FORMAT}."
    )
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
    notes: list[str] = Field(default=[], description="What of the messages was not read for claims, and why.")


def _with_ids(params: RecordMessages) -> RecordMessages:
    messages = [m if m.message_id else m.model_copy(update={"message_id": new_id()}) for m in params.messages]
    return params.model_copy(update={"messages": messages})


@serves("Record messages", "conversation", ADDS, prepare=_with_ids)
async def record_messages(services: Services, call: Call, params: RecordMessages) -> RecordedMessages:
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
    read = await _read(unit, call)
    return await services.store.write(lambda draft: _record(draft, call, unit, read))


async def _read(unit: conversation.Unit, call: Call) -> list[reading.ReadMessage]:
    """Read the messages beside the event loop, before the write; a cancelled call stops at the next message."""

    def progress(done: int, total: int) -> None:
        from_thread.check_cancelled()
        call.progress(done, total, "reading messages")

    spacy = call.settings.extraction.spacy
    return await to_thread.run_sync(lambda: reading.read_unit(unit, zone=call.zone, spacy=spacy, progress=progress))


def _record(draft: Draft, call: Call, unit: conversation.Unit, read: list[reading.ReadMessage]) -> RecordedMessages:
    new, skipped = conversation.record_messages(draft, unit, now=call.now)
    by_id = {message.message.message_id: message for message in read}
    findings = [by_id[message.message_id] for message in new]
    entities, observations = reading.record_findings(draft, findings, agent_id=call.agent_id, now=call.now)
    return RecordedMessages(
        message_ids=[message.message_id for message in unit.messages],
        created=len(new),
        entities=entities,
        observations=observations,
        skipped_links=skipped,
        notes=_notes(new),
    )


def _notes(new: Sequence[conversation.NewMessage]) -> list[str]:
    longer = sum(len(message.content) > reading.MOST_READ for message in new)
    if not longer:
        return []
    return [
        f"Of {longer} long message{'s' * (longer > 1)} the first {reading.MOST_READ:,} characters were read for what is"
        " mentioned and claimed. All of it is kept, and found by its words."
    ]


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
