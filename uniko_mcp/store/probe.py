"""A first look at a graph in a process of its own, since a damaged file can crash or hang Kuzu and not only fail.

Run as a script (`python probe.py FILE [all]`), so that the child imports Kuzu and nothing of this package. It opens the
file read-only, which replays Kuzu's log without changing anything, and prints the sequence number that it finds.
With `all`, every value of every row and edge is read before.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

_SECONDS: Final = 30.0


def probe(file: Path, *, all_rows: bool = False) -> int | None:
    """The sequence number of the graph in this file; None when Kuzu cannot open or read it, crashes or hangs."""
    command = [sys.executable, "-I", __file__, str(file), *(["all"] if all_rows else [])]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
            start_new_session=True,
        )
        return int(done.stdout)
    except (subprocess.SubprocessError, ValueError):
        return None


def _main(file: str, *, all_rows: bool) -> None:
    import kuzu

    database = kuzu.Database(file, read_only=True, buffer_pool_size=256 << 20, max_num_threads=2, max_db_size=1 << 34)
    connection = kuzu.Connection(database)

    def rows(cypher: str) -> list[list[object]]:
        return list(connection.execute(cypher))  # type: ignore[arg-type]

    if all_rows:
        for name, kind in rows("CALL show_tables() RETURN name, type"):
            rows(f"MATCH (n:{name}) RETURN n" if kind == "NODE" else f"MATCH ()-[e:{name}]->() RETURN e")
    [[sequence]] = rows("MATCH (m:Meta {key: 'sequence'}) RETURN m.value")
    sys.stdout.write(str(sequence))


if __name__ == "__main__":
    _main(sys.argv[1], all_rows=sys.argv[2:] == ["all"])
