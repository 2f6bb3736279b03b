"""How long from spawning the server to its answers to `initialize` and `tools/list`, beside `import mcp.server`.

    python benchmarks/startup.py [--rounds 10]

The two are measured in turns, so that both see the same load. Reach: at most 1.5 times, and under 2 seconds cold.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

YARDSTICK = [sys.executable, "-c", "import mcp.server"]
HANDSHAKE = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]
CREATE_GOAL = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {"name": "create_goal", "arguments": {"title": "Measure the start"}},
}


def import_seconds() -> float:
    """How long the yardstick takes."""
    started = time.perf_counter()
    subprocess.run(YARDSTICK, check=True)
    return time.perf_counter() - started


def start_seconds(data_dir: Path) -> tuple[float, float]:
    """Seconds from spawning to the list of tools, and to the acknowledged first write."""
    started = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", "uniko_mcp", "--data-dir", str(data_dir), "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    for message in [*HANDSHAKE, CREATE_GOAL]:
        server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
    answered: dict[int, float] = {}
    while len(answered) < 3:
        answered[json.loads(server.stdout.readline())["id"]] = time.perf_counter() - started
    server.stdin.close()
    server.stdout.read()
    server.stdout.close()
    if server.wait() != 0:
        raise SystemExit(f"the server exited with {server.returncode}")
    return max(answered[1], answered[2]), answered[3]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    yardstick: list[float] = []
    listed: dict[str, list[float]] = {"new data directory": [], "existing one": []}
    written: dict[str, list[float]] = {"new data directory": [], "existing one": []}
    with tempfile.TemporaryDirectory() as folder:
        for round_ in range(rounds):
            yardstick.append(import_seconds())
            for case, name in (("new data directory", f"new-{round_}"), ("existing one", "new-0")):
                tools, write = start_seconds(Path(folder) / name)
                listed[case].append(tools)
                written[case].append(write)
    base = statistics.median(yardstick)
    print(f"{'median of ' + str(rounds) + ' rounds':<42}{'seconds':>9}{'ratio':>8}{'fastest':>10}")
    print(f"{'python -c ' + chr(34) + 'import mcp.server' + chr(34):<42}{base:>9.2f}{1:>8.2f}{min(yardstick):>10.2f}")
    for case, times in listed.items():
        print(_row(f"initialize + tools/list, {case}", times, base))
    for case, times in written.items():
        print(_row(f"first write acknowledged, {case}", times, base))


def _row(label: str, times: list[float], base: float) -> str:
    middle = statistics.median(times)
    return f"{label:<42}{middle:>9.2f}{middle / base:>8.2f}{min(times):>10.2f}"


if __name__ == "__main__":
    main()
