"""Operations on notes: the two memories that an agent keeps for itself."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from uniko_mcp.memory.pages import ENVELOPE_TOKENS, part_of
from uniko_mcp.models.fields import Instant, Text
from uniko_mcp.models.time import SECONDS
from uniko_mcp.notes import Delivery, Note, NoteKind
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import CHANGES, Params, Result, serves


class MemorySave(Params):
    type: Literal["short_term", "long_term"] = Field(
        description="short_term is in every prompt, up to 8,000 characters; long_term is read on demand, up to 32,000."
    )
    content: Text = Field(description="The whole memory as markdown; it replaces what was there. Empty clears it.")
    wait_for_relays: bool = Field(default=False, description="Answer only once the relays have said what they do.")


class SavedMemory(Result):
    event_id: str
    type: str
    chars: int
    bytes: int = Field(description="Of UTF-8.")
    created_at: Instant
    relays: dict[str, str] = Field(description="What each relay did with it: accepted, rejected or pending, and why.")
    overtaken: str | None = Field(
        default=None, description="The version of another writer that this save met; it is in the history."
    )
    warnings: list[str]


@serves("Save your notes", "notes", CHANGES)
async def memory_save(services: Services, call: Call, params: MemorySave) -> SavedMemory:
    """Replace your short-term or long-term memory with a new text, which is kept encrypted.

    Use short_term for what the next prompts must know, long_term for what you look up with my_memory. Read before you
    save: the text you give is the whole of it. Earlier versions stay in the history.
    """
    report = await services.notes.save(NoteKind(params.type), params.content, wait_for_relays=params.wait_for_relays)
    return SavedMemory(
        event_id=report.event_id,
        type=report.kind.value,
        chars=report.chars,
        bytes=report.bytes,
        created_at=report.created_at * SECONDS,
        relays={url: _said(delivery) for url, delivery in report.relays.items()},
        overtaken=report.overtaken.event_id if report.overtaken else None,
        warnings=list(report.warnings),
    )


class NoParams(Params):
    pass


class MyMemory(Params):
    offset: int = Field(default=0, ge=0, description="From which character on; see next_offset.")


class NoteText(Result):
    content: str = Field(description="Empty when nothing is saved.")
    next_offset: int | None = Field(default=None, description="Where the rest begins, if it did not fit.")
    event_id: str | None = None
    created_at: Instant | None = None
    chars: int
    warnings: list[str]


@serves("Read your long-term memory", "notes")
async def my_memory(services: Services, call: Call, params: MyMemory) -> NoteText:
    """Your long-term memory, as you saved it last with memory_save.

    Use it when a session begins, and before you save a new one. Empty when there is none; with next_offset, ask again
    for the rest.
    """
    note = _shown(await services.notes.read(NoteKind.LONG_TERM))
    room = call.settings.output.max_tokens - ENVELOPE_TOKENS
    content, next_offset = part_of(note.content, offset=params.offset, max_tokens=room)
    return note.model_copy(update={"content": content, "next_offset": next_offset})


@serves("Read your short-term memory", "notes")
async def memory_short_term_read(services: Services, call: Call, params: NoParams) -> NoteText:
    """Your short-term memory. It fills prompts and is no tool: what it returns is there already."""
    return _shown(await services.notes.read(NoteKind.SHORT_TERM))


def _shown(note: Note) -> NoteText:
    return NoteText(
        content=note.content,
        event_id=note.event_id,
        created_at=None if note.created_at is None else note.created_at * SECONDS,
        chars=note.chars,
        warnings=list(note.warnings),
    )


def _said(delivery: Delivery) -> str:
    return f"{delivery.state}: {delivery.reason}" if delivery.reason else delivery.state
