"""Operations that look at single memories and at the memory as a whole."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from anyio import to_thread
from pydantic import AfterValidator, Field

from uniko_mcp import __version__
from uniko_mcp.errors import StoreClosedError, StoreError
from uniko_mcp.extract.ner import RULES, extractor_status
from uniko_mcp.memory import provenance
from uniko_mcp.memory.background_reader import ReaderStatus
from uniko_mcp.memory.pages import ENVELOPE_TOKENS, fitting, item_tokens
from uniko_mcp.models.domain import DomainModel, Provenance
from uniko_mcp.models.fields import Identifier, JsonObject
from uniko_mcp.models.graph_schema import NODES
from uniko_mcp.models.nearest import nearest
from uniko_mcp.models.time import format_instant
from uniko_mcp.notes import NotesStatus
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import Params, Result, reads, serves
from uniko_mcp.store import Store, StoreStatus, View

_KINDS: Final = {kind.lower(): kind for kind in NODES}


def _known_kind(kind: str) -> str:
    if known := _KINDS.get(kind.lower()):
        return known
    raise ValueError(f"is not a kind of memory. {nearest(kind, NODES)}")


MemoryKind: TypeAlias = Annotated[Identifier, AfterValidator(_known_kind)]


class GetMemory(Params):
    id: Identifier = Field(description="The id of anything in the memory.")
    kind: MemoryKind | None = Field(default=None, description="Such as Goal or Fact, where ids of two kinds are equal.")
    offset: int = Field(default=0, ge=0, description="From which character on to show a long text; see next_offset.")


class FoundMemory(Result):
    found: bool
    kind: str | None = None
    memory: JsonObject | None = Field(default=None, description="Its properties.")
    provenance: list[Provenance] = Field(default=[], description="What it comes from and what became of it.")
    truncated: bool = Field(default=False, description="Whether there is more of its text or its provenance.")
    next_offset: int | None = Field(default=None, description="Where the rest of its text begins.")


@reads("Get a memory", "recall")
def get_memory(view: View, call: Call, params: GetMemory) -> FoundMemory:
    """Any memory by its id, with its provenance: who said it, when, in which session, what supports or replaced it.

    Use it to check a source or to see the whole of what another tool only named. An unknown id answers found: false.
    """
    memory = provenance.get_memory(view, params.id, viewer=call.agent_id, kind=params.kind)
    if memory is None:
        return FoundMemory(found=False)
    half = call.settings.output.max_tokens // 2
    properties, next_offset = provenance.text_window(memory.properties, offset=params.offset, max_tokens=half)
    shown = memory.provenance[: fitting(map(item_tokens, memory.provenance), half - ENVELOPE_TOKENS)]
    return FoundMemory(
        found=True,
        kind=memory.kind,
        memory=properties,
        provenance=shown,
        truncated=memory.more_provenance or len(shown) < len(memory.provenance) or next_offset is not None,
        next_offset=next_offset,
    )


class MemoryStatusParams(Params):
    pass


class JournalStatus(DomainModel):
    """The log of writes that everything else is made from."""

    sequence: int
    entries: int
    bytes: int
    snapshots: int
    quarantined: int


class RelayState(DomainModel):
    """A relay that keeps a copy of the notes."""

    url: str
    state: str
    reason: str | None = None
    pending: list[str]


class NotesState(DomainModel):
    """The encrypted notes: whose they are and where they lie. Never a secret."""

    npub: str | None = None
    key_source: str | None = None
    relays: list[RelayState]
    pending_deliveries: int
    versions: dict[str, int]


class RebuildState(DomainModel):
    """How far an index that is built anew is: memories that are in, and about how many there are."""

    done: int
    total: int


class IndexState(DomainModel):
    """The rank index that recall searches: how many memories it holds, and how many of them have a vector."""

    documents: int
    sequence: int
    catching_up: bool
    rebuilding: RebuildState | None = None
    embedded: int
    pending: int


class EmbedderStatus(DomainModel):
    """The model that finds memories by meaning: off, loading, fetching, ready or unavailable."""

    state: str
    model: str | None = None
    reason: str | None = None


class ExtractorState(DomainModel):
    """What finds names in messages as they are recorded: rules, and spaCy's model beside them where it is asked for."""

    method: str
    model: str | None = None
    missing: str | None = Field(default=None, description="What would find more, if it were installed.")


class ReadingStatus(DomainModel):
    """The language model that reads messages in the background: off, idle, reading or unavailable."""

    state: str
    model: str | None = None
    pending: int
    skipped: int
    reason: str | None = None


class MemoryStatus(Result):
    version: str
    agent_id: str
    data_dir: str
    counts: dict[str, int] = Field(description="Memories of each kind; empty where they cannot be read: see warnings.")
    engine: str
    schema_version: int
    read_only: bool
    graph_bytes: int
    journal: JournalStatus
    index: IndexState
    embedder: EmbedderStatus
    extractor: ExtractorState
    llm_extraction: ReadingStatus
    notes: NotesState
    warnings: list[str]


@serves("Status of the memory", "curate")
async def memory_status(services: Services, call: Call, params: MemoryStatusParams) -> MemoryStatus:
    """How the memory is: where it is kept, how much it holds, its notes and relays, and what needs attention.

    Use it when something seems to be missing.
    """
    counts, unreadable = await _counts(services.store)
    store = services.store.status()  # after a read, which may have mended it
    notes = await services.notes.status()
    recollection = await services.recollection.status()
    vectors, rebuilding = recollection.vectors, recollection.rebuilding
    reading = await _reading(services)
    extractor = await to_thread.run_sync(_extractor, call.settings.extraction.spacy)
    return MemoryStatus(
        version=__version__,
        agent_id=call.agent_id,
        data_dir=str(store.directory),
        counts={kind: count for kind, count in counts.items() if count},
        engine=store.engine,
        schema_version=store.schema_version,
        read_only=store.read_only,
        graph_bytes=store.graph_bytes,
        journal=JournalStatus(
            sequence=store.sequence,
            entries=store.journal_entries,
            bytes=store.journal_bytes,
            snapshots=len(store.snapshots),
            quarantined=store.quarantined,
        ),
        index=IndexState(
            documents=recollection.documents,
            sequence=recollection.sequence,
            catching_up=recollection.catching_up,
            rebuilding=RebuildState(done=rebuilding.done, total=rebuilding.total) if rebuilding else None,
            embedded=vectors.embedded,
            pending=vectors.pending,
        ),
        embedder=EmbedderStatus(state=vectors.state, model=vectors.model, reason=vectors.reason or None),
        extractor=extractor,
        llm_extraction=ReadingStatus(
            state=reading.state,
            model=reading.model,
            pending=reading.pending,
            skipped=reading.skipped,
            reason=reading.reason,
        ),
        notes=_notes_state(notes),
        warnings=[
            *_store_warnings(store, unreadable),
            *recollection.warnings,
            *_extractor_warnings(extractor, call.settings.extraction.spacy),
            *reading.warnings,
            *notes.warnings,
        ],
    )


async def _counts(store: Store) -> tuple[dict[str, int], str | None]:
    """The counts; or none, and why: the status has to be readable above all when the memory is not."""
    try:
        return await store.counts(), None
    except StoreClosedError:
        raise
    except StoreError as error:
        return {}, str(error)


async def _reading(services: Services) -> ReaderStatus:
    try:
        return await services.reader.status()
    except StoreClosedError:
        raise
    except StoreError as error:
        return ReaderStatus("unavailable", services.settings.llm.model, reason=error.message)


def _extractor(spacy: bool) -> ExtractorState:
    installed = extractor_status()
    if not spacy:
        return ExtractorState(method=RULES, missing=installed.missing)
    return ExtractorState(method=installed.method, model=installed.model, missing=installed.missing)


def _extractor_warnings(extractor: ExtractorState, spacy: bool) -> list[str]:
    return [f"extraction.spacy is on without effect: {extractor.missing}"] if spacy and extractor.missing else []


def _notes_state(notes: NotesStatus) -> NotesState:
    return NotesState(
        npub=notes.npub,
        key_source=notes.key_source,
        relays=[
            RelayState(url=relay.url, state=relay.state, reason=relay.reason or None, pending=list(relay.pending))
            for relay in notes.relays
        ],
        pending_deliveries=notes.pending_deliveries,
        versions={str(kind): count for kind, count in notes.versions.items()},
    )


def _store_warnings(store: StoreStatus, unreadable: str | None) -> list[str]:
    """What had to be repaired, and what keeps the store from working now."""
    happened = [f"{format_instant(recovery.at)}: {recovery.message}" for recovery in store.recoveries]
    failure = store.failure or unreadable
    return [*happened, *([failure] if failure else [])]
