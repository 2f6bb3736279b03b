"""What one agent can do with the memory, beside its goals."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from uniko_mcp.facade.caller import Caller, JsonObject, MessageInput, NoteType, Visibility, When
from uniko_mcp.facade.goals import Goals
from uniko_mcp.operations import answer, conversation, curate, documents, facts, notes, recall, record, summaries


class Agent:
    """What one agent can do with the memory."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    @property
    def agent_id(self) -> str:
        """Who this is."""
        return self._caller.agent_id

    def goals(self) -> Goals:
        """The agent's goals and tasks."""
        return Goals(self._caller)

    async def record_messages(
        self,
        session_id: str,
        messages: Sequence[MessageInput],
        *,
        topic: str | None = None,
        goal_id: str | None = None,
        task_id: str | None = None,
    ) -> conversation.RecordedMessages:
        """Keep messages of a conversation, in the order in which they were said: all of them or none."""
        return await self._caller.run(
            conversation.record_messages,
            session_id=session_id,
            messages=messages,
            topic=topic,
            goal_id=goal_id,
            task_id=task_id,
        )

    async def ingest_document(
        self,
        content: str | None = None,
        *,
        path: str | PathLike[str] | None = None,
        title: str | None = None,
        mime: str | None = None,
        artifact_id: str | None = None,
        source: str | None = None,
        revision: str | None = None,
        session_id: str | None = None,
        message_id: str | None = None,
    ) -> documents.IngestedDocument:
        """Keep a document in chunks: its text, or a file under a folder of the setting `documents.folders`.

        Raises:
            IdConflictError: The id, or this revision of the source, belongs to another content.
            DocumentError: It holds no text, or is not what its type says.
            LimitExceededError: It is too large.
        """
        return await self._caller.run(
            documents.ingest_document,
            content=content,
            path=None if path is None else str(path),
            title=title,
            mime=mime,
            artifact_id=artifact_id,
            source=source,
            revision=revision,
            session_id=session_id,
            message_id=message_id,
        )

    async def summarize_session(self, session_id: str) -> summaries.SessionSummary:
        """The summary of a conversation, made when there is none or more was said since; `found` says if there is."""
        return await self._caller.run(summaries.summarize_session, session_id=session_id)

    async def record_action(
        self,
        action_type: str,
        *,
        action_id: str | None = None,
        input: Any = None,
        output: Any = None,
        status: str | None = None,
        error: str | None = None,
        duration_ms: int | None = None,
        message_id: str | None = None,
        session_id: str | None = None,
        previous_action_id: str | None = None,
    ) -> record.RecordedAction:
        """Record something the agent did. A long output is kept whole, as an artifact."""
        return await self._caller.run(
            record.record_action,
            action_type=action_type,
            action_id=action_id,
            input=input,
            output=output,
            status=status,
            error=error,
            duration_ms=duration_ms,
            message_id=message_id,
            session_id=session_id,
            previous_action_id=previous_action_id,
        )

    async def record_episode(
        self,
        action_type: str,
        *,
        episode_id: str | None = None,
        outcome: str | None = None,
        state: JsonObject | None = None,
        delta: JsonObject | None = None,
        importance: float | None = None,
        involved_action_ids: Sequence[str] = (),
        task_id: str | None = None,
        session_id: str | None = None,
        entities: Sequence[str] = (),
    ) -> record.RecordedEpisode:
        """Record an experience worth remembering: the situation, how it ended, what changed."""
        return await self._caller.run(
            record.record_episode,
            action_type=action_type,
            episode_id=episode_id,
            outcome=outcome,
            state=state,
            delta=delta,
            importance=importance,
            involved_action_ids=involved_action_ids,
            task_id=task_id,
            session_id=session_id,
            entities=entities,
        )

    async def add_observation(
        self,
        message_id: str,
        content: str,
        subject: str,
        *,
        observation_id: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        confidence: float | None = None,
        visibility: Visibility | None = None,
    ) -> record.AddedObservation:
        """Record a claim that a message makes, with the message as its evidence.

        Raises:
            NotFoundError: There is no such message.
        """
        return await self._caller.run(
            record.add_observation,
            message_id=message_id,
            content=content,
            subject=subject,
            observation_id=observation_id,
            predicate=predicate,
            object=object,
            confidence=confidence,
            visibility=visibility,
        )

    async def assert_fact(
        self,
        subject: str,
        predicate: str,
        object: str | None = None,
        *,
        fact_id: str | None = None,
        confidence: float | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        supporting_observation_ids: Sequence[str] = (),
        supersede: bool = False,
        visibility: Visibility | None = None,
    ) -> facts.AssertedFact:
        """State what is true in [valid_from, valid_to]; a date given as `valid_to` includes its day."""
        return await self._caller.run(
            facts.assert_fact,
            subject=subject,
            predicate=predicate,
            object=object,
            fact_id=fact_id,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            supporting_observation_ids=supporting_observation_ids,
            supersede=supersede,
            visibility=visibility,
        )

    async def invalidate_fact(
        self,
        fact_id: str,
        *,
        replacement_fact_id: str | None = None,
        reason: str | None = None,
        at: When | None = None,
    ) -> facts.InvalidatedFact:
        """Close a fact that is no longer true, or never was.

        Raises:
            NotFoundError: There is no such replacement.
        """
        return await self._caller.run(
            facts.invalidate_fact,
            fact_id=fact_id,
            replacement_fact_id=replacement_fact_id,
            reason=reason,
            at=at,
        )

    async def search_facts(
        self,
        query: str | None = None,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        include_invalidated: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> facts.FactList:
        """One page of the facts true now, or true at `as_of`, or believed at `known_at`; last recorded first."""
        return await self._caller.run(
            facts.search_facts,
            query=query,
            subject=subject,
            predicate=predicate,
            object=object,
            as_of=as_of,
            known_at=known_at,
            include_invalidated=include_invalidated,
            limit=limit,
            cursor=cursor,
        )

    async def memory_save(self, type: NoteType, content: str, *, wait_for_relays: bool = False) -> notes.SavedMemory:
        """Replace the short- or long-term memory of this data folder's identity with a new text; empty clears it.

        Raises:
            LimitExceededError: The text is too long: 8,000 characters for the short, 32,000 for the long one.
        """
        return await self._caller.run(notes.memory_save, type=type, content=content, wait_for_relays=wait_for_relays)

    async def my_memory(self) -> notes.NoteText:
        """The long-term memory as it was saved last, all of it."""
        note = first = await self._caller.run(notes.my_memory)
        parts = [note.content]
        while note.next_offset is not None:
            note = await self._caller.run(notes.my_memory, offset=note.next_offset)
            if note.event_id != first.event_id:  # another one was saved meanwhile
                return await self.my_memory()
            parts.append(note.content)
        return note.model_copy(update={"content": "".join(parts)})

    async def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        token_budget: int | None = None,
        kinds: Sequence[recall.Kind] = (),
        session_ids: Sequence[str] = (),
        participants: Sequence[str] = (),
        since: When | None = None,
        until: When | None = None,
        reference_time: When | None = None,
        goal_id: str | None = None,
        include_superseded: bool = False,
        explain: bool = False,
    ) -> recall.RecallResult:
        """What the memory holds on a question, best first, each item with its sources."""
        return await self._caller.run(
            recall.recall,
            query=query,
            limit=limit,
            token_budget=token_budget,
            kinds=kinds,
            session_ids=session_ids,
            participants=participants,
            since=since,
            until=until,
            reference_time=reference_time,
            goal_id=goal_id,
            include_superseded=include_superseded,
            explain=explain,
        )

    async def answer(
        self,
        question: str,
        *,
        record: bool = False,
        limit: int | None = None,
        token_budget: int | None = None,
        kinds: Sequence[recall.Kind] = (),
        session_ids: Sequence[str] = (),
        participants: Sequence[str] = (),
        since: When | None = None,
        until: When | None = None,
        reference_time: When | None = None,
        goal_id: str | None = None,
        include_superseded: bool = False,
    ) -> answer.AnswerResult:
        """An answer with citations by the configured language model; without one, the sources to answer from.

        The other parameters are those of `recall`. With `record` the answer is kept as an episode.
        """
        return await self._caller.run(
            answer.answer,
            question=question,
            record=record,
            limit=limit,
            token_budget=token_budget,
            kinds=kinds,
            session_ids=session_ids,
            participants=participants,
            since=since,
            until=until,
            reference_time=reference_time,
            goal_id=goal_id,
            include_superseded=include_superseded,
        )

    async def get_memory(self, id: str, *, kind: str | None = None, offset: int = 0) -> curate.FoundMemory:
        """Anything in the memory by its id, with its provenance; `found` is false for an unknown id.

        `kind`, such as Goal, chooses where ids of two kinds are equal. A long text is shown from the character at
        `offset` on, and `next_offset` says where the rest begins.
        """
        return await self._caller.run(curate.get_memory, id=id, kind=kind, offset=offset)

    async def status(self) -> curate.MemoryStatus:
        """Where the memory is, how much it holds, and what needs attention."""
        return await self._caller.run(curate.memory_status)
