"""Indexes conversations, recalls every question and scores what comes back; shared by `locomo.py` and `beam.py`."""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from statistics import mean, quantiles
from typing import Final

from ranking_data import Conversation, Question

from uniko_mcp.extract.chunks import chunk
from uniko_mcp.extract.dates import find_dates
from uniko_mcp.extract.extraction import extract
from uniko_mcp.recall.embedder import EmbeddingChoice, load_embedder
from uniko_mcp.recall.query import RecallQuery, Window
from uniko_mcp.recall.recaller import Recaller
from uniko_mcp.recall.result import RecallItem
from uniko_mcp.recall.worker import IndexWorker
from uniko_mcp.store.index.documents import IndexDocument, Source
from uniko_mcp.store.index.rank_index import RankIndex

CUTOFFS: Final = (5, 10, 20, 50)
CHARACTERS: Final = (2_000, 4_000, 8_000)
LONG_MESSAGE: Final = 900
"""Characters above which a message has chunks of its own."""
_MORE_THAN_ENOUGH: Final = 10**9


@dataclass
class Scores:
    """Sums over questions; every value is a list with one number for each."""

    recall: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    gain: list[float] = field(default_factory=list)
    within: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, items: Sequence[RecallItem], question: Question) -> None:
        messages = list(dict.fromkeys(id for item in items for id in _messages_of(item)))
        for cutoff in CUTOFFS:
            self.recall[cutoff].append(len(question.evidence & set(messages[:cutoff])) / len(question.evidence))
        self.gain.append(_ndcg(messages[:10], question.evidence))
        for room in CHARACTERS:
            self.within[room].append(len(question.evidence & set(_fitting(items, room))) / len(question.evidence))

    def row(self) -> str:
        recalls = " ".join(f"{mean(self.recall[cutoff]):.3f}" for cutoff in CUTOFFS)
        rooms = " ".join(f"{mean(self.within[room]):.3f}" for room in CHARACTERS)
        return f"{recalls}  {mean(self.gain):.3f}  {rooms}  {len(self.gain):>5}"


def main(description: str, load: Callable[[Path], list[Conversation]], default: Path) -> None:
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--model", type=Path, help="folder with an embedding model; without it, words alone")
    parser.add_argument("--kinds", nargs="*", default=[], help="what may come back; all by default")
    parser.add_argument("--no-observations", action="store_true", help="index messages and their chunks only")
    parser.add_argument(
        "--missed", type=int, default=0, help="print so many questions whose evidence is not in the ten"
    )
    options = parser.parse_args()
    total, by_category = Scores(), defaultdict[str, Scores](Scores)
    times: list[float] = []
    ingested, seconds = 0, 0.0
    missed = options.missed
    for conversation in load(options.data):
        with _indexed(conversation, options.model, observations=not options.no_observations) as (recaller, took):
            ingested += len(conversation.messages)
            seconds += took
            for question in conversation.questions:
                began = time.perf_counter()
                items = recaller.recall(_query(question, options.kinds)).items
                times.append(time.perf_counter() - began)
                total.add(items, question)
                by_category[question.category].add(items, question)
                if missed and total.recall[10][-1] < 1:
                    missed -= 1
                    _print_missed(conversation, question, items)
    print(f"{'':26} R@5   R@10  R@20  R@50   nDCG10 in 2k  4k    8k     questions")
    for category, scores in sorted(by_category.items()):
        print(f"{category:26} {scores.row()}")
    print(f"{'all':26} {total.row()}")
    ranks = quantiles(times, n=20)
    print(f"indexed and embedded {ingested / seconds:.0f} messages/s; recall p50 {ranks[9] * 1e3:.1f} ms,", end=" ")
    print(f"p95 {ranks[18] * 1e3:.1f} ms")


def documents_of(conversation: Conversation, *, observations: bool) -> Iterator[IndexDocument]:
    """What the memory layer would index of a conversation."""
    for ordinal, message in enumerate(conversation.messages):
        source = Source(message.id, message.session, message.sender)
        common = {
            "timestamp": message.timestamp,
            "sender": message.sender,
            "role": message.role,
            "session_id": message.session,
            "ordinal": ordinal,
            "sources": (source,),
        }
        found = extract(message.content, speaker=message.sender, role=message.role, at=message.timestamp, zone=UTC)
        names = tuple(dict.fromkeys(entity.name for entity in found.entities))
        yield IndexDocument("Message", message.id, message.content, entities=names, **common)
        if len(message.content) > LONG_MESSAGE:
            for piece in chunk(message.content):
                id = f"{message.id}#{piece.index}"
                yield IndexDocument("Chunk", id, piece.text, heading=piece.heading, parent_id=message.id, **common)
        for number, claim in enumerate(found.claims if observations else ()):
            yield IndexDocument(
                "Observation",
                f"{message.id}/{number}",
                claim.text,
                parent_id=message.id,
                about_from=claim.about_from,
                about_to=claim.about_to,
                **common,
            )


def read_dates(text: str, at: int) -> list[Window]:
    """The time windows of a query, as the memory layer reads them."""
    return [Window(date.from_us, date.to_us, date.relative) for date in find_dates(text, at=at, zone=UTC)]


@contextmanager
def _indexed(conversation: Conversation, model: Path | None, *, observations: bool) -> Iterator[tuple[Recaller, float]]:
    """A recaller over the conversation, fully embedded, and the seconds that took without loading the model."""
    embedder = load_embedder(EmbeddingChoice(path=model)) if model else None
    with tempfile.TemporaryDirectory() as folder, RankIndex(Path(folder)) as index:
        began = time.perf_counter()
        index.put(documents_of(conversation, observations=observations))
        with IndexWorker(index, (lambda: embedder) if embedder else None) as worker:
            worker.wait_until_idle()
            took = time.perf_counter() - began
            yield Recaller(index, worker, read_dates=read_dates), took


def _query(question: Question, kinds: Sequence[str]) -> RecallQuery:
    return RecallQuery(question.text, limit=max(CUTOFFS), token_budget=_MORE_THAN_ENOUGH, kinds=tuple(kinds))


def _messages_of(item: RecallItem) -> list[str]:
    return [source.message_id for source in item.sources if source.message_id]


def _fitting(items: Sequence[RecallItem], room: int) -> list[str]:
    messages: list[str] = []
    for item in items:
        if len(item.text) <= room:
            room -= len(item.text)
            messages += _messages_of(item)
    return messages


def _ndcg(messages: Sequence[str], evidence: frozenset[str]) -> float:
    gained = sum(1 / math.log2(rank + 2) for rank, id in enumerate(messages) if id in evidence)
    return gained / sum(1 / math.log2(rank + 2) for rank in range(min(10, len(evidence))))


def _print_missed(conversation: Conversation, question: Question, items: Sequence[RecallItem]) -> None:
    texts = {message.id: message for message in conversation.messages}
    ranked = list(dict.fromkeys(id for item in items for id in _messages_of(item)))
    print(f"\n{conversation.name} [{question.category}] {question.text}")
    for id in sorted(question.evidence - set(ranked[:10])):
        place = ranked.index(id) + 1 if id in ranked else "-"
        print(f"   missed at {place}: {texts[id].sender}: {texts[id].content[:200]!r}")
    for id in ranked[:3]:
        print(f"   instead: {texts[id].sender}: {texts[id].content[:120]!r}")
