"""The kill loop of the tests, at length: `python -m benchmarks.kill_loop [--rounds 200] [--seed 0]`."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.e2e.kill_loop import kill_loop


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for damaging in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            loop = kill_loop(Path(folder) / "data", arguments.rounds, arguments.seed, damaging=damaging)
            found = asyncio.run(loop)
            seconds = time.perf_counter() - start
            print(f"{arguments.rounds} kills, damaged files: {damaging}, {seconds:.0f} s: nothing lost")
            for message, count in Counter(each.message.replace(folder, "…") for each in found).most_common(8):
                print(f"  {count:4} {message[:100]}")


if __name__ == "__main__":
    main()
