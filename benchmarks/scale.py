"""What a memory of 1,000, 10,000 and 100,000 messages costs, through the real server over stdio.

    python benchmarks/scale.py --model FOLDER [--sizes 1000 10000 100000] [--embed-minutes 10] [--keep FOLDER]

Times are a client's: a whole call over MCP. "New question" has its embedding in it; the same question asked at once
again has not, for its vector is kept. Where embedding everything would take longer than `--embed-minutes`, what is left
gets random vectors as stand-ins, so that recall still compares as many; the figures say so. With 0 the model is not
loaded before that: the figures of ingest are then those of a memory without one.
Reach: recall without the embedding p50 10 ms at 10,000 messages and 40 ms at 100,000, an answer 2 s after opening, and
700 MB resident with the model loaded.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Final

import anyio
import numpy as np
from stdio_server import StdioServer, embedding, serving
from talk import questions, units

from uniko_mcp.recall.embedder import EmbeddingChoice, load_embedder
from uniko_mcp.store.index.rank_index import RankIndex

_UNIT: Final = 500
_WARM_UP: Final = 3
_STAND_INS_AT_A_TIME: Final = 5_000


@dataclass(frozen=True, slots=True)
class Ingest:
    """Seconds since the first message was sent, and what has a vector by then."""

    acknowledged: float
    indexed: float
    embedded_then: int
    waited: float
    embedded: int
    documents: int


async def ingest(server: StdioServer, messages: int, patience: float) -> Ingest:
    """Record the messages and wait for the index, and at most `patience` seconds for the vectors."""
    await server.model_loaded()
    began = time.perf_counter()
    for unit in units(messages, _UNIT):
        await server.call("record_messages", **unit)
    acknowledged = time.perf_counter() - began
    then = await server.indexed()
    indexed = time.perf_counter() - began
    now = await server.embedded(patience)
    waited = time.perf_counter() - began - indexed
    return Ingest(acknowledged, indexed, then["embedded"], waited, now["embedded"], now["documents"])


def put_stand_ins(index_dir: Path, model: Path) -> None:
    """Give everything that has no vector yet a random one, of the length and in the place of a real one."""
    embedder, rng = load_embedder(EmbeddingChoice(path=model)), np.random.default_rng(7)
    with RankIndex(index_dir) as index:
        index.use_model(embedder.model, embedder.dimension)
        while pending := index.pending_embeddings(_STAND_INS_AT_A_TIME):
            drawn = rng.normal(size=(len(pending), embedder.dimension)).astype(np.float32)
            index.store_embeddings(pending, drawn, model=embedder.model)


async def measure(data_dir: Path, messages: int, options: argparse.Namespace) -> None:
    """Print the figures of one size."""
    print(f"\n{messages:,} messages; load {os.getloadavg()[0]:.1f}", flush=True)
    async with serving(data_dir, **embedding(options.model if options.embed_minutes else None)) as server:
        done = await ingest(server, messages, options.embed_minutes * 60)
        _print_ingest(done, messages, server.resident())
    if options.model and done.embedded < done.documents:
        put_stand_ins(data_dir / "index", options.model)
    began = time.perf_counter()
    async with serving(data_dir, **embedding(options.model)) as server:
        await _print_opening(server, began)
        await server.model_loaded()
        await _print_recall(server, options.questions)
        print(_row("resident, model loaded", f"{server.resident():,.0f} MiB"))
    print(_row("on disk", _disk(data_dir)), flush=True)


async def _print_opening(server: StdioServer, began: float) -> None:
    def passed() -> str:
        return f"{(time.perf_counter() - began) * 1_000:,.0f} ms"

    await server.list_tools()
    listed = passed()
    await server.call("get_memory", id="message-0")
    answered = passed()
    found = await server.call("recall", query=questions(1)[0])
    by = ": " + " ".join(found["notes"]) if found["notes"] else ""
    print(_row("from spawning to", f"tools {listed}, a memory {answered}, a recall {passed()}{by}"), flush=True)
    for warning in (await server.call("memory_status"))["warnings"]:
        print(_row("it warns", warning))


async def _print_recall(server: StdioServer, count: int) -> None:
    new: list[float] = []
    again: list[float] = []
    floor: list[float] = []
    for number, question in enumerate(questions(count + _WARM_UP)):
        asked = [await _timed(server, "recall", query=question) for _ in range(2)]
        nothing = await _timed(server, "get_memory", id=f"nothing-{number}")
        if number >= _WARM_UP:
            new.append(asked[0])
            again.append(asked[1])
            floor.append(nothing)
    print(_row("recall, new question", _ranks(new)))
    print(_row("recall, asked again", _ranks(again)))
    print(_row("a call that finds nothing", _ranks(floor)))


async def _timed(server: StdioServer, tool: str, **arguments: str) -> float:
    began = time.perf_counter()
    await server.call(tool, **arguments)
    return time.perf_counter() - began


def _print_ingest(done: Ingest, messages: int, resident: float) -> None:
    print(_row("acknowledged", f"{messages / done.acknowledged:,.0f} messages/s"))
    behind = done.indexed - done.acknowledged
    print(_row("found by words", f"{messages / done.indexed:,.0f} messages/s, {behind:.1f} s after the last"))
    part = "all" if done.embedded == done.documents else f"{done.embedded:,}, the others get stand-ins,"
    rate = f", {(done.embedded - done.embedded_then) / done.waited:,.0f}/s after ingest" if done.waited > 1 else ""
    print(_row("found by meaning", f"{part} of {done.documents:,} documents{rate}"))
    print(
        _row("everything took", f"{done.indexed + done.waited:,.1f} s; then resident {resident:,.0f} MiB"), flush=True
    )


def _ranks(seconds: Sequence[float]) -> str:
    ranks = quantiles(seconds, n=100)
    return ", ".join(f"p{rank} {ranks[rank - 1] * 1_000:.1f} ms" for rank in (50, 95, 99))


def _disk(data_dir: Path) -> str:
    sizes: dict[str, int] = {}
    for path in sorted(data_dir.rglob("*")):
        if path.is_file():
            part = path.relative_to(data_dir).parts[0]
            sizes[part] = sizes.get(part, 0) + path.stat().st_size
    shown = [f"{part} {size / 2**20:,.1f}" for part, size in sizes.items() if size >= 2**16]
    return f"{', '.join(shown)}, in all {sum(sizes.values()) / 2**20:,.1f} MiB"


def _row(label: str, figures: str) -> str:
    return f"  {label:<28}{figures}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="messages")
    parser.add_argument("--model", type=Path, help="folder with an embedding model; without it, words alone")
    parser.add_argument("--embed-minutes", type=float, default=10, help="how long to wait for vectors after ingest")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="a new folder in which the memories are left behind")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for messages in options.sizes:
            anyio.run(measure, (options.keep or Path(temporary)) / str(messages), messages, options)


if __name__ == "__main__":
    main()
