"""Operations that look at single memories and at the memory as a whole."""

from __future__ import annotations

from pydantic import Field

from uniko_mcp import __version__
from uniko_mcp.memory import provenance
from uniko_mcp.memory.pages import ENVELOPE_TOKENS, fitting
from uniko_mcp.models.domain import Provenance
from uniko_mcp.models.fields import Identifier, JsonObject
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import Params, Result, reads, serves
from uniko_mcp.store import View


class GetMemory(Params):
    id: Identifier = Field(description="The id of anything in the memory.")
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
    memory = provenance.get_memory(view, params.id, viewer=call.agent_id)
    if memory is None:
        return FoundMemory(found=False)
    half = call.settings.output.max_tokens // 2
    properties, next_offset = provenance.text_window(memory.properties, offset=params.offset, max_tokens=half)
    shown = memory.provenance[: fitting(memory.provenance, half - ENVELOPE_TOKENS)]
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


class MemoryStatus(Result):
    version: str
    data_dir: str
    counts: JsonObject
    engine: str
    journal: JsonObject
    warnings: list[str]


@serves("Status of the memory", "curate")
async def memory_status(services: Services, call: Call, params: MemoryStatusParams) -> MemoryStatus:
    """How the memory is: where it is kept, how much it holds, and whether anything needs attention."""
    status = services.store.status()
    counts = await services.store.counts()
    return MemoryStatus(
        version=__version__,
        data_dir=str(status.directory),
        counts={kind: count for kind, count in counts.items() if count},
        engine=status.engine,
        journal={"sequence": status.sequence, "entries": status.journal_entries, "bytes": status.journal_bytes},
        warnings=[],
    )
