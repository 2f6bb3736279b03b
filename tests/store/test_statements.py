"""How change sets become statements: together where they are many, one by one where they are few for so many nodes."""

from __future__ import annotations

import pytest

from uniko_mcp.models.changes import DeleteNode, PutEdge, PutNode, SetNode
from uniko_mcp.store.statements import Batch, Statement

FEW, MANY = 1_000, 100_000
SESSION = "session"


def statements(kind: str, count: int, nodes: int) -> list[Statement]:
    batch = Batch()
    for number in range(count):
        id = f"m{number}"
        change = {
            "set": SetNode("Message", id, {"role": "user"}),
            "merge": PutNode("Message", id, {"role": "user"}),
            "link": PutEdge("IN_SESSION", "Message", id, "Session", SESSION, {}),
            "delete": DeleteNode("Message", id),
        }[kind]
        assert batch.add(change, fresh=())
    return list(batch.statements(lambda _: nodes))


@pytest.mark.parametrize("kind", ["set", "merge", "link", "delete"])
def test_many_changes_among_few_nodes_are_one_statement(kind: str) -> None:
    [statement] = statements(kind, 500, FEW)
    assert len(statement.parameters["rows"]) == 500


@pytest.mark.parametrize("kind", ["set", "merge", "link", "delete"])
@pytest.mark.parametrize(("count", "nodes"), [(2, FEW), (50, MANY)])
def test_changes_that_are_few_for_so_many_nodes_are_a_statement_each(kind: str, count: int, nodes: int) -> None:
    made = statements(kind, count, nodes)
    assert len(made) == count
    assert len({statement.cypher for statement in made}) == 1


def test_new_nodes_are_made_together_however_many_there_are() -> None:
    batch = Batch()
    ids = [f"m{number}" for number in range(500)]
    for id in ids:
        assert batch.add(PutNode("Message", id, {"role": "user"}), fresh={("Message", id) for id in ids})
    [statement] = batch.statements(lambda _: MANY)
    assert len(statement.parameters["rows"]) == 500
