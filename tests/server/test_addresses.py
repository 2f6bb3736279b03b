from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniko_mcp.models.changes import ChangeSet, DeleteNode, PutEdge, PutNode, SetNode
from uniko_mcp.models.names import entity_id
from uniko_mcp.server.addresses import SINGLE, TEMPLATES, Address, Place, is_touched, parse, touched_by


@given(st.sampled_from(list(TEMPLATES)), st.text(st.characters(codec="utf-8"), min_size=1))
def test_an_address_survives_its_uri_whatever_the_id(place: str, value: str) -> None:
    address = Address(place, value)
    assert parse(address.uri) == address


@pytest.mark.parametrize(
    "uri", ["memory://", "memory://goal", "memory://goal/", "memory://nowhere/1", "file:///goal/1"]
)
def test_other_uris_are_no_addresses(uri: str) -> None:
    assert parse(uri) is None


@pytest.mark.parametrize("place", SINGLE)
def test_a_trailing_slash_does_no_harm(place: Place) -> None:
    assert parse(f"memory://{place}/") == Address(place)


def test_a_new_goal_touches_the_status_the_lists_and_itself() -> None:
    touched = touched_by(ChangeSet((PutNode("Goal", "g1", {}),)))
    assert is_touched(Address("status"), touched)
    assert is_touched(Address("goals", "active"), touched)
    assert is_touched(Address("goal", "g1"), touched)
    assert not is_touched(Address("goal", "g2"), touched)
    assert not is_touched(Address("session", "g1"), touched)


def test_what_hangs_on_a_goal_touches_the_contexts_of_goals() -> None:
    touched = touched_by(ChangeSet((SetNode("Task", "t1", {}),)))
    assert is_touched(Address("goal", "g1"), touched)
    assert not is_touched(Address("goals", "active"), touched)


def test_both_ends_of_an_edge_are_touched() -> None:
    edge = PutEdge("ABOUT", "Fact", "f1", "Entity", entity_id("Acme"))
    touched = touched_by(ChangeSet((edge,)))
    assert is_touched(Address("fact", "f1"), touched)
    assert is_touched(Address("entity", "ACME"), touched)
    assert not is_touched(Address("entity", "Acme Ltd"), touched)


def test_a_deleted_memory_is_touched() -> None:
    assert is_touched(Address("session", "s1"), touched_by(ChangeSet((DeleteNode("Session", "s1"),))))
