"""Random change sets, at length: `python -m benchmarks.store_random [--change-sets 10000]`.

Each history is written, killed, reopened, rebuilt, exported and restored, and has to be the same graph every time.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from tests.store.random_changes import change_sets
from tests.store.test_random_changes import History, round_trip
from uniko_mcp.models.changes import Change

WRITES_PER_HISTORY = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--change-sets", type=int, default=10_000)
    total = parser.parse_args().change_sets
    written = 0
    history: History = []

    @settings(max_examples=total, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(changes=change_sets())
    def collect(changes: list[Change]) -> None:
        nonlocal written, history
        history.append(changes)
        written += 1
        if len(history) == WRITES_PER_HISTORY or written == total:
            with tempfile.TemporaryDirectory() as folder:
                asyncio.run(round_trip(Path(folder), history))
            history = []
            print(f"\r{written} change sets: the same graph on every way", end="", flush=True)

    collect()
    print()


if __name__ == "__main__":
    main()
