"""How many turns a second the rules extract on one core, from talk in the formats of LoCoMo and BEAM or built in.

python benchmarks/extract.py [--locomo FILE] [--beam FILE] [--spacy] [--sample N]
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from uniko_mcp.extract import Extraction, chunk, extract, spacy_name_finder
from uniko_mcp.extract.entities import NameFinder
from uniko_mcp.models.time import to_micros

AT = to_micros(datetime(2023, 5, 8, 13, 56, tzinfo=UTC))


class Message(NamedTuple):
    speaker: str
    role: str
    text: str


BUILT_IN = [
    Message("Ana", "user", "Hey Ben! I moved to Porto last Friday and my sister Clara helped me. How are you?"),
    Message(
        "Ben", "user", "Great, thanks! We use Postgres 15 for the billing service, and the deadline is in two weeks."
    ),
    Message(
        "Ana", "user", "I'm allergic to peanuts. See https://example.com/menu and src/app/main.py, it fails in v2.3.1."
    ),
    Message(
        "Bot", "assistant", "Sure! Here is the plan:\n\n## Steps\n\n1. **Back up** the data.\n2. Run `migrate()`.\n"
    ),
] * 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, help="a file in the format of locomo10.json")
    parser.add_argument("--beam", type=Path, help="a file of chats with messages of role and content")
    parser.add_argument("--spacy", action="store_true", help="find names by spaCy's model too")
    parser.add_argument(
        "--sample", type=int, default=0, help="print this many claims, drawn at random, to judge by eye"
    )
    options = parser.parse_args()
    finder = spacy_name_finder() if options.spacy else None
    corpora = {"built-in": BUILT_IN}
    if options.locomo:
        corpora["locomo"] = locomo(options.locomo)
    if options.beam:
        corpora["beam"] = beam(options.beam)
    print("corpus      turns  chars  turns/s  claims entities  dates  chunked MB/s")
    for name, messages in corpora.items():
        measure(name, messages, finder)
        if options.sample:
            show(messages, options.sample)


def measure(name: str, messages: Sequence[Message], finder: NameFinder | None) -> None:
    start = time.process_time()
    found = [read(message, finder) for message in messages]
    seconds = time.process_time() - start
    start = time.process_time()
    for message in messages:
        chunk(message.text)
    chunking = time.process_time() - start
    characters = sum(len(message.text) for message in messages)
    counts = [sum(len(getattr(one, kind)) for one in found) for kind in ("claims", "entities", "dates")]
    print(
        f"{name:10} {len(messages):6} {characters // len(messages):6} {len(messages) / seconds:8.0f} "
        f"{counts[0]:7} {counts[1]:8} {counts[2]:6} {characters / chunking / 1e6:10.1f}"
    )


def show(messages: Sequence[Message], count: int) -> None:
    claims = [claim for message in messages for claim in read(message, None).claims]
    for claim in random.Random(0).sample(claims, min(count, len(claims))):
        print(f"  {claim.confidence:5} {claim.text}\n        {claim.subject} | {claim.predicate} | {claim.object}")


def read(message: Message, finder: NameFinder | None) -> Extraction:
    return extract(message.text, speaker=message.speaker, role=message.role, at=AT, name_finder=finder)


def locomo(path: Path) -> list[Message]:
    talks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    sessions = [turns for talk in talks for turns in talk["conversation"].values() if isinstance(turns, list)]
    return [Message(turn["speaker"], "user", turn["text"]) for turns in sessions for turn in turns]


def beam(path: Path) -> list[Message]:
    chats: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [Message("Sam", turn["role"], turn["content"]) for chat in chats for turn in chat["messages"]]


if __name__ == "__main__":
    main()
