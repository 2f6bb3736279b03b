"""How long recall, indexing and opening the rank index take as it grows, without a model's time for the query.

    python benchmarks/ranking_scale.py [--sizes 1000 10000 100000]

Messages are shuffled halves of LoCoMo-like sentences with random unit vectors in place of embeddings.
Reach: recall p50 10 ms at 10,000 memories and 40 ms at 100,000.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Final

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.models.time import SECONDS
from uniko_mcp.recall.query import RecallQuery
from uniko_mcp.recall.recaller import Recaller
from uniko_mcp.store.index.documents import IndexDocument
from uniko_mcp.store.index.rank_index import RankIndex

DIMENSION: Final = 384
_MODEL: Final = "random"
_SESSION_LENGTH: Final = 40
_COMMON_WORDS: Final = 3_000
_QUERIES: Final = 60


class RandomVectors:
    """Stands in for a model whose answer takes no time."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)

    def embed_query(self, text: str) -> NDArray[np.float32] | None:
        return self.vectors(1)[0]

    def vectors(self, count: int) -> NDArray[np.float32]:
        drawn = self._random.normal(size=(count, DIMENSION)).astype(np.float32)
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def notes(self) -> Sequence[str]:
        return ()


def words(generator: random.Random, count: int) -> str:
    """Words drawn as they are in talk: the k-th most frequent with a probability like 1 / k (Zipf's law)."""
    ranks = (int(_COMMON_WORDS ** generator.random()) for _ in range(count))
    return " ".join(f"w{rank}x" for rank in ranks)


def messages(size: int) -> Iterator[IndexDocument]:
    generator = random.Random(1)
    for number in range(size):
        yield IndexDocument(
            "Message",
            f"m{number}",
            words(generator, generator.randint(5, 40)),
            number * 60 * SECONDS,
            sender=("Ana", "Bruno")[number % 2],
            role="user",
            session_id=f"s{number // _SESSION_LENGTH}",
            entities=(f"Entity {generator.randrange(500)}",),
        )


def measure(size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        vectors = RandomVectors()
        began = time.perf_counter()
        with RankIndex(Path(folder)) as index:
            index.put(messages(size))
            ingest = size / (time.perf_counter() - began)
            index.use_model(_MODEL, DIMENSION)
            while pending := index.pending_embeddings(2_000):
                index.store_embeddings(pending, vectors.vectors(len(pending)), model=_MODEL)
        began = time.perf_counter()
        index = RankIndex(Path(folder))
        opened = time.perf_counter() - began
        index.use_model(_MODEL, DIMENSION)
        recaller, generator = Recaller(index, vectors), random.Random(2)
        recaller.recall(RecallQuery("warm up w1x"))
        times: list[float] = []
        for number in range(_QUERIES):
            query = f"What did {('Ana', 'Bruno')[number % 2]} say of {words(generator, 5)} and Entity {number}?"
            began = time.perf_counter()
            recaller.recall(RecallQuery(query))
            times.append(time.perf_counter() - began)
        began = time.perf_counter()
        index.put([IndexDocument("Message", "new", "one more", size * 60 * SECONDS, session_id="s0")])
        one = time.perf_counter() - began
        disk = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        ranks = quantiles(times, n=100)
        print(
            f"{size:>8} {ingest:>10.0f} {one * 1e3:>8.2f} {opened * 1e3:>8.0f} {ranks[49] * 1e3:>8.1f}"
            f" {ranks[94] * 1e3:>8.1f} {ranks[98] * 1e3:>8.1f} {memory:>8.0f} {disk:>8.0f}"
        )
        index.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Rank index by size")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    print("messages  ingest/s   put ms  open ms      p50      p95      p99 peak MB  disk MB")
    for size in parser.parse_args().sizes:
        measure(size)
