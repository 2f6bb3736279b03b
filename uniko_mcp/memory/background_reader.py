"""The background reader: has a language model read what was said, beside the rules and beside every call."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final, Literal, TypeAlias

from anyio import to_thread

from uniko_mcp.errors import (
    RefusedPromptError,
    StoreClosedError,
    UnansweredPromptError,
    UnikoError,
    UnusableAnswerError,
)
from uniko_mcp.extract.claims import Claim
from uniko_mcp.extract.llm_claims import ANSWER_TOKENS, INSTRUCTIONS, claims_question, read_claims
from uniko_mcp.memory.unread import MOST_MESSAGES, Portion, count_unread, keep_claims, next_portion
from uniko_mcp.models.changes import PutNode
from uniko_mcp.models.time import now
from uniko_mcp.recall.language_model import LanguageModel, Prompt
from uniko_mcp.recall.provider import load_provider_library
from uniko_mcp.store import Commit, Store

logger = logging.getLogger(__name__)

ReaderState: TypeAlias = Literal["off", "idle", "reading", "unavailable"]

RETRY_SECONDS: Final = 1.0
"""How long after a first failure the model is asked again; twice as long after each that follows."""

_LONGEST_PAUSE: Final = 600.0
_PATIENCE: Final = 3
"""Requests about one message alone that fail for what is in it, before it is left unread."""


@dataclass(frozen=True, slots=True)
class ReaderStatus:
    """How far the reading is: `pending` messages are still to be read, `skipped` ones given up until the next start.

    `reason` says what failed last: the model where the state is unavailable, else the reading of some messages.
    """

    state: ReaderState
    model: str | None = None
    pending: int = 0
    skipped: int = 0
    reason: str | None = None

    @property
    def warnings(self) -> list[str]:
        """What needs attention."""
        warnings: list[str] = []
        if self.reason and self.state == "unavailable":
            warnings.append(f"New messages are read by rules alone at present: {self.reason}")
        elif self.reason:
            warnings.append(f"The language model is asked again about some messages: {self.reason}")
        if self.skipped:
            warnings.append(
                f"Messages on which the language model gave no claims, until the next start: {self.skipped}"
            )
        return warnings


class BackgroundReader:
    """Follows the store's commits and has the model read new messages, one request at a time; with None it is off.

    Belongs to one event loop. Nothing waits for it: what it has not read is unread in the graph, also for the next
    start. A failing model is asked again, later each time; until then `status` says why.
    """

    def __init__(
        self,
        store: Store,
        model: LanguageModel | None,
        *,
        agent_id: str,
        zone: tzinfo,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        """`agent_id` is who records what is found; `zone` is where the days of the speakers begin."""
        self._store = store
        self._model = model
        self._agent_id = agent_id
        self._zone = zone
        self._retry_seconds = retry_seconds
        self._awake = asyncio.Event()
        self._arrived = asyncio.Event()
        self._advanced = asyncio.Condition()
        self._state: ReaderState = "off" if model is None else "idle"
        self._reason: str | None = None
        self._pause = retry_seconds
        self._done = 0  # the change set up to which everything is read, or given up
        self._most = MOST_MESSAGES
        self._later: set[str] = set()  # messages that may have led to a failure; they come up after all others
        self._doubtful: set[tuple[str, ...]] = set()  # the portions of them that only an answer will tell about
        self._unusable: Counter[str] = Counter()
        self._has_answered = False
        self._task: asyncio.Task[None] | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Follow the store from now on. The model is left alone until `wake`."""
        if self._model is None:
            return
        loop = asyncio.get_running_loop()

        def hand_over(commit: Commit) -> None:  # on the writer's thread
            if _brings_messages(commit):
                with suppress(RuntimeError):  # the loop is closed: nobody reads any more
                    loop.call_soon_threadsafe(self._arrived.set)

        self._unsubscribe = self._store.on_commit(hand_over)
        self._task = loop.create_task(self._follow(self._model))

    def wake(self) -> None:
        """Begin to read: somebody is using the memory, and for longer than a single command. Returns at once."""
        self._awake.set()

    async def close(self) -> None:
        """End at once, also in the middle of a request; what is not read is read after the next start."""
        self._unsubscribe()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def settled(self, patience: float) -> bool:
        """Wait until every message acknowledged before is read or given up; whether it came to that in time."""
        if self._model is None:
            return True
        wanted = self._store.sequence
        self.wake()
        self._arrived.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(patience), self._advanced:
                await self._advanced.wait_for(lambda: self._done >= wanted)
        return self._done >= wanted

    async def status(self) -> ReaderStatus:
        """How far the reading is."""
        if self._model is None:
            return ReaderStatus("off")
        unread = await self._store.read(count_unread)
        skipped = len(self._skipped)
        return ReaderStatus(self._state, self._model.model, max(0, unread - skipped), skipped, self._reason)

    @property
    def _skipped(self) -> set[str]:
        return {id for id, times in self._unusable.items() if times >= _PATIENCE}

    async def _follow(self, model: LanguageModel) -> None:
        """Read for as long as the store is open, whatever fails in between."""
        await self._awake.wait()
        while True:
            try:
                await self._read_all(model)
            except StoreClosedError:
                return
            except Exception as error:  # whatever it is, the messages are unread, not lost
                await self._rest(error)
            else:
                await self._arrived.wait()

    async def _read_all(self, model: LanguageModel) -> None:
        while True:
            self._arrived.clear()
            sequence = self._store.sequence
            portion = await self._next()
            if portion is None:
                await self._advance(sequence)
                return
            if self._state == "idle":
                self._state = "reading"
            await self._read(model, portion)

    async def _next(self) -> Portion | None:
        skipped = self._skipped
        portion = await self._portion(skipped | self._later)
        if portion is None and self._later:
            self._later.clear()
            portion = await self._portion(skipped)
        return portion

    async def _portion(self, without: set[str]) -> Portion | None:
        most = self._most
        return await self._store.read(lambda view: next_portion(view, most=most, without=without))

    async def _read(self, model: LanguageModel, portion: Portion) -> None:
        """Have a portion read and keep what was found."""
        try:
            claims = await self._claims(model, portion)
        except Exception as error:
            self._failed(portion, error)
            raise
        await self._store.write(
            lambda draft: keep_claims(draft, portion, claims, method=model.model, agent_id=self._agent_id, now=now())
        )
        self._succeeded()

    def _failed(self, portion: Portion, error: Exception) -> None:
        """Leave for later what may have led to the failure, and halve the portions to come: it may have been too much,
        or one message of it. Where the model itself is what fails, the latest messages stay the next."""
        if not _may_be_for_the_messages(error):
            return
        self._later.update(portion.message_ids)
        self._most = max(1, len(portion.turns) // 2)
        if not self._is_for_the_messages(error):
            self._doubtful.add(portion.message_ids)
        elif len(portion.turns) == 1:
            self._unusable.update(portion.message_ids)

    def _succeeded(self) -> None:
        """Double the portions to come. Where several failed before this one, it was for none of them: they are next."""
        if len(self._doubtful) > 1:
            self._later.difference_update(*self._doubtful)
        self._doubtful.clear()
        self._most = min(MOST_MESSAGES, 2 * self._most)
        self._state, self._reason, self._pause = "reading", None, self._retry_seconds
        self._has_answered = True

    def _is_for_the_messages(self, error: Exception) -> bool:
        """Whether a failure says that the model was there, and that it was about these messages."""
        return isinstance(error, UnusableAnswerError) or (self._has_answered and isinstance(error, RefusedPromptError))

    async def _claims(self, model: LanguageModel, portion: Portion) -> list[list[Claim]]:
        """What the model finds in each message."""
        question = claims_question(portion.turns, portion.before)
        await _library_imported()
        answer = await model.complete(Prompt(INSTRUCTIONS, question, ANSWER_TOKENS))
        return await to_thread.run_sync(lambda: _read_answer(model, answer.text, portion, self._zone))

    async def _advance(self, sequence: int) -> None:
        """Everything up to this change set is read or given up."""
        async with self._advanced:
            self._state = "idle"
            self._reason, self._pause = None, self._retry_seconds
            self._done = max(sequence, self._done)
            self._advanced.notify_all()

    async def _rest(self, error: Exception) -> None:
        """Say what failed, and wait, twice as long each time; for messages that may be read meanwhile no longer."""
        self._state = "reading" if self._is_for_the_messages(error) else "unavailable"
        self._reason = _reason(error)
        logger.warning("a language model cannot read messages at present: %s", self._reason)
        pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)
        if not _may_be_for_the_messages(error):
            await asyncio.sleep(pause)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._arrived.wait(), pause)


def _read_answer(model: LanguageModel, text: str, portion: Portion, zone: tzinfo) -> list[list[Claim]]:
    try:
        return read_claims(text, portion.turns, zone=zone)
    except ValueError as error:
        raise UnusableAnswerError(
            f"the answer of the language model {model.model} cannot be used: {error}",
            next_step="Use a model that follows instructions",
        ) from None


def _brings_messages(commit: Commit) -> bool:
    """Whether there is something new to read; a commit without changes says that everything may have changed."""
    return not commit.changes or any(
        isinstance(change, PutNode) and change.kind == "Message" for change in commit.changes
    )


def _may_be_for_the_messages(error: Exception) -> bool:
    """Whether messages can lead to such a failure; to one that nobody foresaw they can."""
    return isinstance(error, (UnusableAnswerError, UnansweredPromptError)) or not isinstance(error, UnikoError)


def _reason(error: Exception) -> str:
    """What failed, in words that hold no memory: those of foreign errors might quote one."""
    if not isinstance(error, UnikoError):
        return f"the reading failed with {type(error).__name__}"
    return f"{error.message}. {error.next_step}" if error.next_step else error.message


async def _library_imported() -> None:
    """Wait until litellm is imported, in a thread that no process waits for at its end: it takes seconds.

    That it is not installed is for the request to say.
    """
    loop = asyncio.get_running_loop()
    imported = asyncio.Event()

    def load() -> None:
        with suppress(Exception):  # the request meets the same, and there somebody listens
            load_provider_library()
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(imported.set)

    threading.Thread(target=load, name="uniko-llm-import", daemon=True).start()
    await imported.wait()
