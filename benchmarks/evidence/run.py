"""Gives conversations to the memories under test, asks every question and prints the scores; what the scripts run."""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import mean, quantiles
from typing import TypeAlias

import anyio

from evidence.conversations import Conversation, Message, Question
from evidence.memories import Memory, peer_memory, peer_version, server_memory
from evidence.scores import CUTOFFS, HEAD, Item, Scores, ranked_messages
from uniko_mcp import __version__

OpenMemory: TypeAlias = Callable[[], AbstractAsyncContextManager[Memory]]


@dataclass
class Results:
    """What one memory achieved over all conversations; times in seconds."""

    name: str
    total: Scores = field(default_factory=Scores)
    by_category: dict[str, Scores] = field(default_factory=lambda: defaultdict(Scores))
    turns: int = 0
    acknowledged: float = 0.0
    settled: float = 0.0
    recalls: list[float] = field(default_factory=list)

    def figures(self) -> list[tuple[str, float]]:
        """What is compared between memories, as one number each."""
        ranks = quantiles(self.recalls, n=20)
        return [
            ("recall@10", mean(self.total.recall[10])),
            ("acknowledged, turns/s", self.turns / self.acknowledged),
            ("fully embedded, turns/s", self.turns / (self.acknowledged + self.settled)),
            ("recall p50, ms", ranks[9] * 1_000),
            ("recall p95, ms", ranks[18] * 1_000),
        ]


def main(description: str, load: Callable[[Path], list[Conversation]], default: Path) -> None:
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--model", type=Path, help="folder with an embedding model; without it, words alone")
    parser.add_argument("--unit", type=int, default=100, help="most messages in one call; a call is of one session")
    parser.add_argument("--kinds", nargs="*", default=[], help="what may come back; all by default")
    parser.add_argument("--limit", type=int, default=max(CUTOFFS), help="items asked for")
    parser.add_argument(
        "--missed", type=int, default=0, help="print so many questions whose evidence is not in the ten"
    )
    parser.add_argument("--conversations", type=int, help="only so many, from the first on")
    parser.add_argument("--peer", choices=["uniko"], help="measure this one beside it")
    parser.add_argument(
        "--peer-python", type=Path, default=Path(sys.executable), help="an interpreter that has the peer"
    )
    anyio.run(_run, load, parser.parse_args())


async def _run(load: Callable[[Path], list[Conversation]], options: argparse.Namespace) -> None:
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    memories: list[tuple[Results, OpenMemory]] = [
        (
            Results(f"uniko-mcp {__version__}"),
            partial(server_memory, options.model, options.kinds, options.limit),
        )
    ]
    if options.peer:
        version = peer_version(options.peer_python)
        memories.append((Results(f"{options.peer} {version}"), partial(peer_memory, options.peer_python)))
    missed = _Missed(options.missed)
    for conversation in load(options.data)[: options.conversations]:
        for results, open_memory in memories:  # in turns, so that all see the same load
            async with open_memory() as memory:
                await _measure(memory, conversation, results, options.unit, missed)
    for results, _ in memories:
        _print_scores(results)
    _print_figures([results for results, _ in memories])
    print(f"load {os.getloadavg()[0]:.1f}")


async def _measure(memory: Memory, conversation: Conversation, results: Results, unit: int, missed: _Missed) -> None:
    for messages in _units(conversation, unit):
        results.acknowledged += await memory.record(messages)
    results.settled += await memory.settle()
    results.turns += len(conversation.messages)
    for question in conversation.questions:
        items, seconds = await memory.recall(question.text)
        results.recalls.append(seconds)
        results.total.add(items, question)
        results.by_category[question.category].add(items, question)
        missed.look(conversation, question, items)


def _units(conversation: Conversation, size: int) -> Iterator[list[Message]]:
    for _, session in groupby(conversation.messages, key=lambda message: message.session):
        messages = list(session)
        for start in range(0, len(messages), size):
            yield messages[start : start + size]


@dataclass
class _Missed:
    """Prints the first `left` questions whose evidence is not all among the ten."""

    left: int

    def look(self, conversation: Conversation, question: Question, items: Sequence[Item]) -> None:
        ranked = ranked_messages(items)
        absent = sorted(question.evidence - set(ranked[:10]))
        if not self.left or not absent:
            return
        self.left -= 1
        messages = {message.id: message for message in conversation.messages}
        print(f"\n{conversation.name} [{question.category}] {question.text}")
        for id in absent:
            place = ranked.index(id) + 1 if id in ranked else "-"
            print(f"   missed at {place}: {messages[id].sender}: {messages[id].content[:200]!r}")
        for id in ranked[:3]:
            print(f"   instead: {messages[id].sender}: {messages[id].content[:120]!r}")


def _print_scores(results: Results) -> None:
    print(f"\n{results.name:26} {HEAD}")
    for category, scores in sorted(results.by_category.items()):
        print(f"{category:26} {scores.row()}")
    print(f"{'all':26} {results.total.row()}")


def _print_figures(all_results: Sequence[Results]) -> None:
    """A column for each memory; beside the second and later ones, how many times its figure the first one's is."""
    print(f"\n{'':26} {' '.join(f'{results.name:>24}' for results in all_results)}")
    for rows in zip(*(results.figures() for results in all_results), strict=True):
        label, own = rows[0]
        shown = [f"{own:>24.3g}", *(f"{value:>14.3g} ({own / value:>5.2f} x)" for _, value in rows[1:])]
        print(f"{label:26} {' '.join(shown)}")
