"""The one way into extraction: a message in, its entities, claims and dates out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo

from uniko_mcp.extract.claims import Claim, find_claims
from uniko_mcp.extract.dates import DateMention, find_dates
from uniko_mcp.extract.entities import EntityMention, NameFinder, find_entities
from uniko_mcp.extract.language import is_english


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a message mentions, claims and dates; every offset is one into the message's text."""

    entities: tuple[EntityMention, ...]
    claims: tuple[Claim, ...]
    dates: tuple[DateMention, ...]


def extract(
    text: str,
    *,
    speaker: str,
    role: str | None = None,
    at: int,
    zone: tzinfo = UTC,
    addressee: str | None = None,
    name_finder: NameFinder | None = None,
) -> Extraction:
    """What the message says, by rules alone: pure, deterministic, without a model and without the network.

    Args:
        text: The message as it was sent, plain or markdown.
        speaker: The sender's name, put in for "I"; the claims are about this name.
        role: user, assistant, system, tool, ...; an assistant's advice and all of a tool's output claim nothing.
        at: When it was sent, in microseconds UTC; relative dates are resolved against it.
        zone: Where the speaker's days begin.
        addressee: Whom "you" means, when it is one participant.
        name_finder: Finds proper names beyond the rules, such as `spacy_name_finder()`.
    """
    english = is_english(text)
    dates = find_dates(text, at=at, zone=zone)
    return Extraction(
        entities=find_entities(text, dates, english=english, name_finder=name_finder),
        claims=find_claims(text, dates, speaker=speaker, role=role, addressee=addressee) if english else (),
        dates=dates,
    )
