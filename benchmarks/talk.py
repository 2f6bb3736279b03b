"""Talk without end, always the same: sentences of a few people about what they do, where, when and with what."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from uniko_mcp.models.time import SECONDS, format_instant, parse_instant

MESSAGES_PER_SESSION: Final = 200

_BEGIN: Final = parse_instant("2024-01-01")
_GAP: Final = 300 * SECONDS


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


_PEOPLE: Final = _list(
    "Ana, Bruno, Chidi, Dana, Emil, Fatima, Goran, Hana, Ines, Jonas, Kofi, Lena, Mateo, Nadia, Oscar, Priya, Quinn,"
    "Rosa, Samir, Tessa, Umar, Vera, Wanda, Yusuf"
)
_PLACES: Final = _list(
    "Lisbon, Oslo, Nairobi, Lyon, Kyoto, Quito, Gdansk, Perth, Tunis, Riga, the library, the harbour, the workshop,"
    "the office, the clinic, the market, the station, the garden, the museum, the old town, the lake, the village"
)
_THINGS: Final = _list(
    "guitar, telescope, bicycle, sourdough, greenhouse, piano, camera, boat, novel, kitchen, thesis, exhibition,"
    "marathon, allotment, choir, apartment, contract, website, database, invoice, visa, puppy, printer, tent, recipe,"
    "podcast, pottery, roof, charity, radio, violin, quilt, vineyard, sculpture, drone, aquarium, beehive, ledger,"
    "gateway, scheduler, archive, dashboard, timetable, playlist, passport, scholarship, microscope, sailcloth"
)
_DEEDS: Final = _list(
    "repaired, sold, painted, borrowed, finished, postponed, ordered, cleaned, photographed, rebuilt, measured,"
    "insured, described, lost, found, designed, registered, tuned, inherited, carried, cancelled, tested, moved,"
    "replaced, compared, planned, presented, returned, packed, restored"
)
_TIMES: Final = _list(
    "yesterday, last Friday, last week, two days ago, this morning, last month, on Monday, at the weekend, in March,"
    "last summer, three weeks ago, tonight, next Tuesday, in 2019, on 4 May, a year ago"
)
_FEELINGS: Final = _list(
    "tired, proud, relieved, nervous, curious, grateful, homesick, busy, sceptical, delighted, bored, hopeful"
)
_FRAMES: Final = (
    "I {deed} the {thing} in {place} {time}.",
    "{person} {deed} my {thing} {time}, and I am {feeling} about it.",
    "Did {person} tell you that the {thing} costs {number} euros now?",
    "We are going to {place} with {person}; the {thing} has to wait.",
    "My {thing} is in {place}, {person} has the key and the number {number}.",
    "I have been {feeling} since the {thing} was {deed} {time}.",
    "{person} works in {place} and knows everything about the {thing}.",
    "The {thing} and the {other} were both {deed} {time}, {number} pieces in all.",
    "I would rather keep the {thing} until {person} is back from {place}.",
    "That sounds wonderful!",
    "How is your {thing}, is it still {deed}?",
    "{person} prefers the {other} to the {thing}, I can see why.",
    "Order {number} for the {thing} arrived {time}, {person} signed for it.",
)
_QUESTIONS: Final = (
    "What did {person} say about the {thing}?",
    "Where is the {thing} that {person} {deed}?",
    "When was the {thing} {deed} in {place}?",
    "Who knows about the {thing} and the {other}?",
    "How much did the {thing} in {place} cost?",
    "Why is {person} {feeling} about the {thing}?",
)


def units(count: int, size: int) -> Iterator[dict[str, Any]]:
    """The arguments of `record_messages` for this many messages, up to `size` in a call."""
    rng = random.Random(7)
    for start in range(0, count, MESSAGES_PER_SESSION):
        pair = rng.sample(_PEOPLE, 2)
        numbers = range(start, min(start + MESSAGES_PER_SESSION, count))
        messages = [_message(rng, number, pair[number % 2]) for number in numbers]
        for first in range(0, len(messages), size):
            yield {"session_id": f"talk-{start}", "messages": messages[first : first + size]}


def questions(count: int) -> list[str]:
    rng = random.Random(11)
    return [_filled(rng, rng.choice(_QUESTIONS)) for _ in range(count)]


def _message(rng: random.Random, number: int, sender: str) -> dict[str, Any]:
    sentences = [_filled(rng, rng.choice(_FRAMES)) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
    return {
        "message_id": f"message-{number}",
        "sender": sender,
        "role": "user",
        "content": " ".join(sentences),
        "timestamp": format_instant(_BEGIN + number * _GAP),
    }


def _filled(rng: random.Random, frame: str) -> str:
    thing, other = rng.sample(_THINGS, 2)
    return frame.format(
        person=rng.choice(_PEOPLE),
        place=rng.choice(_PLACES),
        thing=thing,
        other=other,
        deed=rng.choice(_DEEDS),
        time=rng.choice(_TIMES),
        feeling=rng.choice(_FEELINGS),
        number=rng.randrange(100, 100_000),
    )
