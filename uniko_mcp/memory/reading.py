"""Reading messages: what each of them mentions and claims, found before the write and kept with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from uniko_mcp.extract.claims import Claim
from uniko_mcp.extract.extraction import Extraction, extract
from uniko_mcp.memory.conversation import NewMessage, Unit
from uniko_mcp.memory.entities import Mention, link_entities
from uniko_mcp.memory.participants import ensure_agent
from uniko_mcp.models.names import digest
from uniko_mcp.store import Draft

METHOD: Final = "rules"
"""How these observations came about; those that an agent makes itself say `agent`."""


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A message with what was found in it."""

    message: NewMessage
    found: Extraction


def read_unit(unit: Unit, *, zone: tzinfo, progress: Callable[[int, int], None]) -> list[ReadMessage]:
    """What the messages of a unit mention and claim. Pure and offline; about half a millisecond for a message.

    `progress` is told (done, total) after each message, and may raise to stop.
    """
    read: list[ReadMessage] = []
    for message in unit.messages:
        addressee = message.addressed_to[0] if len(message.addressed_to) == 1 else None
        found = extract(
            message.content,
            speaker=message.sender,
            role=message.role,
            at=message.timestamp,
            zone=zone,
            addressee=addressee,
        )
        read.append(ReadMessage(message, found))
        progress(len(read), len(unit.messages))
    return read


def record_findings(draft: Draft, new: Sequence[ReadMessage], *, agent_id: str, now: int) -> tuple[int, int]:
    """Keep what was found in new messages, in the same change set; how many entities and observations that makes."""
    mentions = [
        Mention("MENTIONS", ("Message", read.message.message_id), entity.name, entity.entity_type)
        for read in new
        for entity in read.found.entities
    ]
    observations = list(_claims(new))
    for read, node, claim in observations:
        _put_observation(draft, node, read.message, claim, agent_id=agent_id, now=now)
        mentions.append(Mention("ABOUT", node, claim.subject))
    return len(link_entities(draft, mentions)), len(observations)


def _claims(new: Sequence[ReadMessage]) -> Iterator[tuple[ReadMessage, tuple[str, str], Claim]]:
    """Each claim and the node that keeps it. Its id follows from message and claim, so a resend finds the same."""
    for read in new:
        for claim in {claim.text: claim for claim in read.found.claims}.values():
            yield read, ("Observation", f"{read.message.message_id}-{digest(claim.text)[:12]}"), claim


def _put_observation(
    draft: Draft, node: tuple[str, str], message: NewMessage, claim: Claim, *, agent_id: str, now: int
) -> None:
    draft.put(
        *node,
        content=claim.text,
        subject=claim.subject,
        predicate=claim.predicate,
        object=claim.object,
        confidence=claim.confidence,
        observed_at=message.timestamp,
        about_from=claim.about_from,
        about_to=claim.about_to,
        visibility="shared",
        recorded_by=agent_id,
        recorded_at=now,
        method=METHOD,
    )
    draft.link("OBSERVED_IN", node, ("Message", message.message_id))
    draft.link("RECORDED_BY", node, ensure_agent(draft, agent_id, now=now))
