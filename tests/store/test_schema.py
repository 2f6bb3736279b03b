"""The graph's tables follow the schema of the program, forwards only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kuzu
import pytest

from tests.store.reference import content
from uniko_mcp.errors import StoreError
from uniko_mcp.models import graph_schema
from uniko_mcp.models.changes import ChangeSet, PutEdge, PutNode
from uniko_mcp.store.graph import FILE_NAME, Graph
from uniko_mcp.store.schema import MIGRATIONS

OLDER_TABLES = (
    "CREATE NODE TABLE Meta(key STRING, value INT64, PRIMARY KEY(key))",
    "CREATE NODE TABLE Topic(topic_id STRING, label STRING, PRIMARY KEY(topic_id))",
    "CREATE NODE TABLE Message(message_id STRING, content STRING, PRIMARY KEY(message_id))",
    "CREATE REL TABLE BELONGS_TO(FROM Message TO Topic)",
    "CREATE REL TABLE NEXT(FROM Message TO Message)",
    "CREATE (:Meta {key: 'schema_version', value: 0}), (:Meta {key: 'sequence', value: 41})",
    "CREATE (:Topic {topic_id: 't', label: 'kept'})",
    "CREATE (:Message {message_id: 'm', content: 'text'})",
    "MATCH (m:Message), (t:Topic) CREATE (m)-[:BELONGS_TO]->(t)",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "graph"
    folder.mkdir()
    return folder


def run(folder: Path, *statements: str) -> None:
    with kuzu.Database(folder / FILE_NAME, max_db_size=1 << 34) as database, kuzu.Connection(database) as connection:
        for statement in statements:
            connection.execute(statement)


def test_an_older_graph_gets_the_tables_columns_and_pairs_it_lacks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MIGRATIONS, 1, ("ALTER TABLE Topic RENAME label TO name",))  # type: ignore[arg-type]
    run(folder, *OLDER_TABLES)
    graph = Graph(folder)
    assert graph.sequence == 41
    transaction = graph.transaction()
    transaction.add(
        ChangeSet(
            (
                PutNode("Message", "m", {"role": "user"}),
                PutNode("Message", "n", {}),
                PutEdge("NEXT", "Message", "m", "Message", "n", {"gap_ms": 5}),
                PutNode("Fact", "f", {"subject": "s"}),
                PutEdge("BELONGS_TO", "Fact", "f", "Topic", "t", {}),
            )
        )
    )
    transaction.commit(42)
    graph.close()
    graph = Graph(folder)
    found = graph.read(content)
    graph.close()
    assert graph.sequence == 42
    assert found.nodes == {
        ("Topic", "t"): {"name": "kept"},
        ("Message", "m"): {"content": "text", "role": "user"},
        ("Message", "n"): {},
        ("Fact", "f"): {"subject": "s"},
    }
    assert found.edges == {
        ("BELONGS_TO", "Message", "m", "Topic", "t"): {},
        ("NEXT", "Message", "m", "Message", "n"): {"gap_ms": 5},
        ("BELONGS_TO", "Fact", "f", "Topic", "t"): {},
    }


def test_a_migration_that_fails_leaves_the_graph_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(folder, *OLDER_TABLES)
    monkeypatch.setitem(MIGRATIONS, 1, ("ALTER TABLE Topic RENAME label TO name", "NOT CYPHER"))  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        Graph(folder)
    run(folder, "MATCH (t:Topic) RETURN t.label")


def test_a_graph_of_a_newer_version_says_to_upgrade(folder: Path) -> None:
    graph = Graph(folder)
    graph.close()
    run(folder, f"MATCH (m:Meta {{key: 'schema_version'}}) SET m.value = {graph_schema.SCHEMA_VERSION + 1}")
    with pytest.raises(StoreError, match="Upgrade"):
        Graph(folder)


@pytest.mark.parametrize("table", [*graph_schema.NODES.values(), *graph_schema.EDGES.values()])
def test_no_name_of_the_schema_needs_a_case_that_kuzu_does_not_keep(table: Any) -> None:
    names = [name.lower() for name in table.columns]
    assert len(names) == len(set(names))
