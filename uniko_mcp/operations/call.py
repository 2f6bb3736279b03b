"""What a handler knows beside its params: who calls, when, under which settings, and the services that are open."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TypeAlias

from uniko_mcp.config import Settings
from uniko_mcp.memory.background_reader import BackgroundReader
from uniko_mcp.memory.recollection import Recollection
from uniko_mcp.models.time import now
from uniko_mcp.notes import Notes, NotesSettings
from uniko_mcp.recall.language_model import Completion, LanguageModel, Prompt
from uniko_mcp.store import Store

Progress: TypeAlias = Callable[[float, float, str], None]
"""Told (done, total, what is being done). May be called from any thread."""

AskClient: TypeAlias = Callable[[Prompt], Awaitable[Completion | None]]
"""Asks the language model of the client; None when it gives no answer. May end the call, to be made again with it."""


def silent(done: float, total: float, message: str) -> None:
    """The progress of a call that nobody watches."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an operation. `now` is decided once, so that all times of one call agree.

    `ask_client` is None where the client has no model or does not lend it.
    """

    agent_id: str
    settings: Settings
    now: int = field(default_factory=now)
    progress: Progress = silent
    ask_client: AskClient | None = None

    @property
    def zone(self) -> tzinfo:
        """The zone in which times without an offset are taken."""
        return self.settings.zone


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that is open while the memory is: the store, and what works beside it."""

    settings: Settings
    store: Store
    notes: Notes
    recollection: Recollection
    reader: BackgroundReader

    def wake(self) -> None:
        """Somebody is at work, for longer than a single command: begin what takes long, beside the calls."""
        self.recollection.wake()
        self.reader.wake()


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncGenerator[Services]:
    """Open the memory in `settings.data_dir`, and close it again with everything acknowledged on disk.

    Raises:
        StoreLockedError: Another process holds the data directory.
        StoreError: It cannot be opened.
    """
    async with AsyncExitStack() as closing:
        store = await Store.open(settings.data_dir, read_only=settings.read_only)
        closing.push_async_callback(store.close)
        notes = await Notes.open(settings.data_dir, NotesSettings.of(settings.nostr))
        closing.push_async_callback(notes.close)
        await notes.start_delivery()
        recollection = Recollection(
            store,
            settings.data_dir / "index",
            settings.embedding,
            zone=settings.zone,
            rerank=settings.recall.rerank,
        )
        closing.push_async_callback(recollection.close)
        recollection.start()
        reader = BackgroundReader(store, _reading_model(settings), agent_id=settings.agent_id, zone=settings.zone)
        closing.push_async_callback(reader.close)
        reader.start()
        yield Services(settings, store, notes, recollection, reader)


def _reading_model(settings: Settings) -> LanguageModel | None:
    """The language model that reads messages in the background, if one is to."""
    return LanguageModel.of(settings.llm) if settings.extraction.llm and not settings.read_only else None
