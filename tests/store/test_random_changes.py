"""Whatever is written, in whatever order: graph, replay, rebuild, snapshot and copy are the same."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.store.random_changes import histories
from tests.store.reference import ReferenceGraph, content, perform
from uniko_mcp.models.changes import Change, ChangeSet, DeleteNode
from uniko_mcp.store import Draft, Store
from uniko_mcp.store.graph import Graph

History = list[list[Change]]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def shared_store(runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for all examples, since making one takes longer than most of them."""
    store = runner.run(Store.open(tmp_path_factory.mktemp("shared")))
    yield store
    runner.run(store.close())


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    graph = Graph(tmp_path_factory.mktemp("graph") / "graph")
    yield graph
    graph.close()


async def write(store: Store, changes: list[Change]) -> None:
    def plan(draft: Draft) -> None:
        for change in changes:
            perform(draft, change)

    await store.write(plan)


def possible(graph: ReferenceGraph, history: History) -> History:
    """Apply a history to the reference, and return it without what needs a missing node."""
    return [[change for change in changes if graph.apply(change)] for changes in history]


async def empty(store: Store) -> None:
    nodes = (await store.read(content)).nodes

    def plan(draft: Draft) -> None:
        for node in nodes:
            draft.delete(*node)

    await store.write(plan)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(8))
def test_the_graph_is_what_the_change_sets_say(runner: asyncio.Runner, shared_store: Store, history: History) -> None:
    async def check() -> None:
        await empty(shared_store)
        expected = ReferenceGraph()
        history_ = possible(expected, history)
        await asyncio.gather(*(write(shared_store, changes) for changes in history_))
        assert await shared_store.read(content) == expected

    runner.run(check())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(6))
def test_many_change_sets_in_one_transaction_have_the_effect_of_each_after_the_other(
    graph: Graph, history: History
) -> None:
    expected = ReferenceGraph()
    sets = [ChangeSet(tuple(changes)) for changes in possible(expected, history)]
    _apply(graph, [ChangeSet(tuple(DeleteNode(*node) for node in graph.read(content).nodes)), *sets])
    assert graph.read(content) == expected
    _apply(graph, [sets[-1]])
    assert graph.read(content) == expected, "a change set applied twice is the same as applied once"


def _apply(graph: Graph, change_sets: list[ChangeSet]) -> None:
    transaction = graph.transaction()
    for changes in change_sets:
        transaction.add(changes)
    transaction.commit(graph.sequence + 1)


@settings(max_examples=4, deadline=None)
@given(history=histories(12))
def test_replay_rebuild_snapshot_and_restore_give_the_same_graph(
    runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory, history: History
) -> None:
    runner.run(round_trip(tmp_path_factory.mktemp("round"), history))


async def round_trip(folder: Path, history: History) -> None:
    """Write a history, then come to the same graph on every way there is."""
    expected = ReferenceGraph()
    possible_history = possible(expected, history)
    store = await Store.open(folder / "live")
    half = len(possible_history) // 2
    for changes in possible_history[:half]:
        await write(store, changes)
    await store.snapshot()
    for changes in possible_history[half:]:
        await write(store, changes)
    assert await store.read(content) == expected

    shutil.copytree(folder / "live", folder / "killed")
    await _expect(folder / "killed", expected)

    exported = await store.export_snapshot(folder / "export.jsonl.gz")
    await store.close()
    shutil.rmtree(folder / "live" / "graph")
    await _expect(folder / "live", expected)

    other = await Store.open(folder / "other")
    await other.write(lambda draft: draft.put("Topic", "of the memory that is replaced"))
    await other.restore_snapshot(exported)
    assert await other.read(content) == expected
    await other.close()
    shutil.rmtree(folder / "other" / "graph")
    await _expect(folder / "other", expected)
    shutil.rmtree(folder)


async def _expect(directory: Path, expected: ReferenceGraph) -> None:
    store = await Store.open(directory)
    try:
        assert await store.read(content) == expected
        assert all(recovery.kept for recovery in store.status().recoveries)
    finally:
        await store.close()
