"""Reading messages: what each of them mentions and claims, found before the write and kept with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import cache
from typing import Final

from uniko_mcp.errors import MissingExtraError
from uniko_mcp.extract.chunks import Chunk, chunk
from uniko_mcp.extract.claims import Claim
from uniko_mcp.extract.entities import NameFinder
from uniko_mcp.extract.extraction import Extraction, extract
from uniko_mcp.extract.ner import spacy_name_finder
from uniko_mcp.memory.chunks import put_chunk
from uniko_mcp.memory.conversation import NewMessage, Unit
from uniko_mcp.memory.entities import Mention, link_entities
from uniko_mcp.memory.observations import BY_RULES
from uniko_mcp.memory.participants import ensure_agent
from uniko_mcp.memory.visibility import DEFAULT
from uniko_mcp.models.names import digest
from uniko_mcp.store import Draft

MOST_READ: Final = 20_000
"""Characters of a message that are read for what it mentions and claims, in about a tenth of a second. The rest is
kept, and found by its words and in its chunks: what is longer is a log or a document."""

LONG_MESSAGE: Final = 1_000
"""Characters above which a message is also kept in chunks: an embedder reads no more than that at once."""


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A message with what was found in it, and its chunks when it is long."""

    message: NewMessage
    found: Extraction
    chunks: tuple[Chunk, ...] = ()


def read_unit(
    unit: Unit, *, zone: tzinfo, spacy: bool = False, progress: Callable[[int, int], None]
) -> list[ReadMessage]:
    """What the messages of a unit mention and claim. Offline; about half a millisecond for a message.

    With `spacy` its model finds further names, where it is installed. `progress` is told (done, total) after each
    message, and may raise to stop.
    """
    name_finder = _installed_name_finder() if spacy else None
    read: list[ReadMessage] = []
    for message in unit.messages:
        found = extract(
            message.content[:MOST_READ],
            speaker=message.sender,
            role=message.role,
            at=message.timestamp,
            zone=zone,
            addressee=_addressee(message, unit),
            name_finder=name_finder,
        )
        read.append(ReadMessage(message, found, _chunks(message.content)))
        progress(len(read), len(unit.messages))
    return read


@cache
def _installed_name_finder() -> NameFinder | None:
    """spaCy's, loaded once; None where it is not installed, which `memory_status` says."""
    try:
        return spacy_name_finder()
    except MissingExtraError:
        return None


def _addressee(message: NewMessage, unit: Unit) -> str | None:
    """Whom "you" means: the one person that the message is addressed to, or the other one of two who talk."""
    others = set(message.addressed_to) or {other.sender for other in unit.messages} - {message.sender}
    return others.pop() if len(others) == 1 else None


def record_findings(draft: Draft, new: Sequence[ReadMessage], *, agent_id: str, now: int) -> tuple[int, int]:
    """Keep what was found in new messages, in the same change set; how many entities and observations that makes."""
    mentions = [
        Mention("MENTIONS", ("Message", read.message.message_id), entity.name, entity.entity_type)
        for read in new
        for entity in read.found.entities
    ]
    observations = [(read.message, claim) for read in new for claim in read.found.claims]
    for message, claim in observations:
        id, at = message.message_id, message.timestamp
        mentions.append(put_observation(draft, id, claim, at=at, method=BY_RULES, agent_id=agent_id, now=now))
    for read in new:
        message_id = read.message.message_id
        for piece in read.chunks:
            put_chunk(draft, ("Message", message_id), f"{message_id}-chunk-{piece.index}", piece)
    return len(link_entities(draft, mentions)), len(observations)


def _chunks(content: str) -> tuple[Chunk, ...]:
    """The chunks of a long message. One chunk would only say again what the message says."""
    chunks = chunk(content) if len(content) > LONG_MESSAGE else ()
    return chunks if len(chunks) > 1 else ()


def observation_id(message_id: str, claim: Claim) -> str:
    """The id of the observation that keeps a claim. It follows from message and claim, so a repeat finds the same."""
    return f"{message_id}-{digest(claim.text)[:12]}"


def put_observation(
    draft: Draft, message_id: str, claim: Claim, *, at: int, method: str, agent_id: str, now: int
) -> Mention:
    """Keep a claim of a message that was sent `at` that instant; what it is about, still to be linked.

    `method` is what found it.
    """
    node = ("Observation", observation_id(message_id, claim))
    draft.put(
        *node,
        content=claim.text,
        subject=claim.subject,
        predicate=claim.predicate,
        object=claim.object,
        confidence=claim.confidence,
        observed_at=at,
        about_from=claim.about_from,
        about_to=claim.about_to,
        visibility=DEFAULT,
        recorded_by=agent_id,
        recorded_at=now,
        method=method,
    )
    draft.link("OBSERVED_IN", node, ("Message", message_id))
    draft.link("RECORDED_BY", node, ensure_agent(draft, agent_id, now=now))
    return Mention("ABOUT", node, claim.subject)
