"""A killed process loses nothing that it acknowledged (W4), whatever happens to the files of Kuzu (W7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.kill_loop import kill_loop

ROUNDS = 20

pytestmark = pytest.mark.anyio


async def test_a_killed_writer_loses_no_acknowledged_write(tmp_path: Path) -> None:
    """W4."""
    await kill_loop(tmp_path / "data", ROUNDS, seed=1, damaging=False)


async def test_damaged_graph_files_lose_no_acknowledged_write(tmp_path: Path) -> None:
    """W7: the graph's files deleted, cut or bit-flipped after each kill; the store says what it did."""
    recoveries = await kill_loop(tmp_path / "data", ROUNDS, seed=2, damaging=True)
    assert any(recovery.kind == "graph" for recovery in recoveries)
