"""`demo`: the first thing that a newcomer sees."""

from __future__ import annotations

from tests.cli.conftest import Run
from uniko_mcp.cli.story import DAY, NEXT_DAY


def test_the_whole_day_is_played_and_nothing_is_lost_by_the_kill(run: Run) -> None:
    """W4."""
    result = run("demo")
    assert result.returncode == 0, result.stderr
    before, killed, after = result.stdout.partition("── kill -9 ─")
    assert killed
    assert all(step.tool in before for scene in DAY for step in scene.steps)
    assert all(step.tool in after for scene in NEXT_DAY for step in scene.steps)
    assert "new fact: billing runs on Nordpay" in before
    assert "fact: billing runs on Nordpay" in after
    assert "Ana: New customers pay through Nordpay" in after
    assert "nothing was lost" in after
    assert "claude mcp add uniko" in after


def test_it_leaves_the_real_memory_alone(run: Run) -> None:
    run("call", "create_goal", '{"title": "mine"}')
    run("demo")
    assert '"total": 1' in run("call", "list_goals").stdout
