"""Learns the weights of `uniko_mcp/recall/fusion.py`, and measures them on conversations left out of the learning.

    python benchmarks/ranking.py --locomo locomo.json --beam beam.json [--model FOLDER]

The score of a message is linear in its features; the weights maximise the likelihood of the evidence under a softmax
over all messages of the conversation (as in ListNet, Cao et al. 2007), with an L2 penalty on standardised features.
Both benchmarks weigh half, whatever their number of questions. Newton's method; no library but numpy. Prints recall@10
with each conversation left out in turn, the same with all learnt from, and the weights as Python.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from evidence.conversations import Conversation, load_beam, load_locomo
from numpy.typing import NDArray

from uniko_mcp.extract.chunks import chunk
from uniko_mcp.extract.entities import find_entities
from uniko_mcp.memory.windows import read_windows
from uniko_mcp.recall.candidates import find_candidates
from uniko_mcp.recall.embedder import Embedder, EmbeddingChoice, load_embedder
from uniko_mcp.recall.features import extract_features
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.recall.recaller import Recaller
from uniko_mcp.recall.worker import IndexWorker
from uniko_mcp.store.index.documents import IndexDocument, Source
from uniko_mcp.store.index.rank_index import RankIndex
from uniko_mcp.store.index.writer import MESSAGE

PENALTY: Final = 0.02
STEPS: Final = 12
SMALLEST_STEP: Final = 1e-4
CUTOFF: Final = 10
LONG_MESSAGE: Final = 900
"""Characters above which a message has chunks of its own."""


@dataclass(frozen=True, slots=True)
class Example:
    """One question: features of shape (candidates, names), which of them are evidence, how much evidence there is."""

    benchmark: str
    conversation: str
    features: NDArray[np.float64]
    relevant: NDArray[np.bool_]
    evidence: int


Part: TypeAlias = tuple[NDArray[np.float64], NDArray[np.bool_], float]
"""An example's standardised features, its evidence and what it counts."""


@dataclass(frozen=True, slots=True)
class Examples:
    names: tuple[str, ...]
    all: tuple[Example, ...]

    def weights(self) -> NDArray[np.float64]:
        """What each example counts: every benchmark the same in sum."""
        of = [example.benchmark for example in self.all]
        return np.array([1 / of.count(name) / len(set(of)) for name in of])


def collect(conversations: Sequence[Conversation], embedder: Embedder | None) -> Examples:
    """The candidates of all questions among messages alone, as recall would rank them."""
    names: tuple[str, ...] = ()
    examples: list[Example] = []
    for conversation in conversations:
        for features, example in _examples(conversation, embedder):
            names = features
            examples.append(example)
    return Examples(names, tuple(examples))


def _examples(conversation: Conversation, embedder: Embedder | None) -> Iterator[tuple[tuple[str, ...], Example]]:
    with tempfile.TemporaryDirectory() as folder, RankIndex(Path(folder)) as index:
        index.put(documents_of(conversation))
        with IndexWorker(index, (lambda: embedder) if embedder else None) as worker:
            worker.wait_until_idle()
            recaller = Recaller(index, worker, read_dates=partial(read_windows, zone=UTC))
            for question in conversation.questions:
                signals = recaller.signals(RecallQuery(question.text, kinds=(MESSAGE,)))
                rows = find_candidates(signals, index.labels)
                features = extract_features(signals, rows, index.labels)
                documents = index.documents([int(row) for row in rows])
                relevant = np.array([documents[int(row)].id in question.evidence for row in rows], dtype=bool)
                values = np.stack(list(features.values()), axis=1)
                yield (
                    tuple(features),
                    Example(conversation.benchmark, conversation.name, values, relevant, len(question.evidence)),
                )


def documents_of(conversation: Conversation) -> Iterator[IndexDocument]:
    """A conversation's messages as the memory layer indexes them, and the chunks of the long ones."""
    for ordinal, message in enumerate(conversation.messages):
        document = IndexDocument(
            "Message",
            message.id,
            message.content,
            message.timestamp,
            sender=message.sender,
            role=message.role,
            session_id=message.session,
            ordinal=ordinal,
            entities=tuple(entity.name for entity in find_entities(message.content, english=True)),
            sources=(Source(message.id, message.session, message.sender),),
        )
        yield document
        if len(message.content) > LONG_MESSAGE:
            for piece in chunk(message.content):
                id = f"{message.id}#{piece.index}"
                yield replace(document, kind="Chunk", id=id, text=piece.text, parent_id=message.id, entities=())


def learn(examples: Examples, chosen: Sequence[int]) -> NDArray[np.float64]:
    """The weights of raw features, learnt from the chosen examples: Newton's steps, halved until they gain."""
    variances = [example.features.var(axis=0) for example in examples.all if len(example.features)]
    spread = np.sqrt(np.mean(variances, axis=0)) + 1e-6
    counts = examples.weights()
    parts = [
        (examples.all[place].features / spread, examples.all[place].relevant, counts[place])
        for place in chosen
        if examples.all[place].relevant.any()
    ]
    weights = np.zeros(len(examples.names))
    gain = _gain(parts, weights)
    for _ in range(STEPS):
        step = _newton_step(parts, weights)
        while (better := _gain(parts, weights + step)) <= gain and np.abs(step).max() > SMALLEST_STEP:
            step /= 2
        if better <= gain:
            break
        weights, gain = weights + step, better
    return weights / spread


def _gain(parts: Sequence[Part], weights: NDArray[np.float64]) -> float:
    gain = -PENALTY * float(weights @ weights)
    for values, relevant, count in parts:
        scores = values @ weights
        gain += count * float(scores[relevant].mean() - scores.max() - np.log(np.exp(scores - scores.max()).sum()))
    return gain


def _newton_step(parts: Sequence[Part], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    gradient = -2 * PENALTY * weights
    curvature = 2 * PENALTY * np.eye(len(weights))
    for values, relevant, count in parts:
        scores = values @ weights
        likelihood = np.exp(scores - scores.max())
        likelihood /= likelihood.sum()
        centred = values - likelihood @ values
        gradient += count * centred[relevant].mean(axis=0)
        curvature += count * (centred * likelihood[:, None]).T @ centred
    return np.linalg.solve(curvature, gradient)


def recall(example: Example, weights: NDArray[np.float64]) -> float:
    """The share of the evidence among the first ten."""
    first = np.argsort(-(example.features @ weights), kind="stable")[:CUTOFF]
    return float(example.relevant[first].sum()) / example.evidence


def report(label: str, examples: Examples) -> None:
    held_out: dict[str, list[float]] = {}
    learnt: dict[str, list[float]] = {}
    everything = learn(examples, range(len(examples.all)))
    for name in dict.fromkeys(example.conversation for example in examples.all):
        others = [place for place, example in enumerate(examples.all) if example.conversation != name]
        weights = learn(examples, others)
        for example in examples.all:
            if example.conversation == name:
                held_out.setdefault(example.benchmark, []).append(recall(example, weights))
                learnt.setdefault(example.benchmark, []).append(recall(example, everything))
    for benchmark, values in held_out.items():
        print(
            f"# {label}, {benchmark}: R@10 {np.mean(values):.3f} left out, {np.mean(learnt[benchmark]):.3f} learnt from"
        )
    for name, weight in zip(examples.names, everything, strict=True):
        print(f'    "{name}": {weight:.3f},')


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Weights of the ranking")
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--beam", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    options = parser.parse_args()
    conversations = [*load_locomo(options.locomo), *load_beam(options.beam)]
    report("without meaning", collect(conversations, None))
    if options.model:
        report("with meaning", collect(conversations, load_embedder(EmbeddingChoice(path=options.model))))
