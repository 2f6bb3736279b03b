"""The Python package uniko as a process that answers requests on stdin: `[request, argument]` a line, JSON both ways.

Runs in an interpreter that has the package, and may have nothing else: it imports only that and the standard library.
Its embedding model must be in its cache (`UNI_CACHE_DIR`) or within its reach.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import uniko


def record(agent: Any, unit: list[dict[str, Any]]) -> dict[str, Any]:
    """Keep messages of one session: one by `observe`, more as a unit."""
    turns = [
        uniko.Turn(message["sender"], message["content"]).id(message["id"]).at(_moment(message["timestamp"]))
        for message in unit
    ]
    session = agent.session(unit[0]["session"])
    began = time.perf_counter()
    if len(turns) == 1:
        session.observe_sync(turns[0])
    else:
        session.commit_unit_sync(turns)
    return {"seconds": time.perf_counter() - began}


def recall(agent: Any, question: str) -> dict[str, Any]:
    """The texts of what it returns, each with the messages that it names as sources."""
    began = time.perf_counter()
    bundle = agent.recall_sync(question)
    seconds = time.perf_counter() - began
    items = [
        (item.content, [source.message_id for source in item.sources if source.message_id]) for item in bundle.items
    ]
    return {"seconds": seconds, "items": items}


def _moment(micros: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)


def main() -> None:
    memory = uniko.Uniko.open_sync(sys.argv[1])
    agent = memory.agent("assistant")
    agent.recall_sync("anything")  # loads the model, which is no part of what is measured
    requests: dict[str, Callable[[Any, Any], dict[str, Any]]] = {"record": record, "recall": recall}
    for line in sys.stdin:
        request, argument = json.loads(line)
        print(json.dumps(requests[request](agent, argument)), flush=True)


if __name__ == "__main__":
    main()
