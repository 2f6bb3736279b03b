"""What comes from a relay is judged here, whatever the client library has let through."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.notes.forge import LIES, Forge
from uniko_mcp.notes.events import SignedEvent
from uniko_mcp.notes.models import NoteKind, Stamp
from uniko_mcp.notes.notebook import Notebook
from uniko_mcp.notes.signer import local_signer

SHORT = NoteKind.SHORT_TERM


@pytest.fixture
def notebook(tmp_path: Path, forge: Forge) -> Notebook:
    return Notebook(tmp_path / "notes" / forge.npub, local_signer(forge.nsec), "didactyl")


def received(event: dict[str, object]) -> SignedEvent:
    return SignedEvent.from_json(json.dumps(event))


@pytest.mark.anyio
@pytest.mark.parametrize("lie", LIES)
async def test_what_is_no_version_of_a_note_is_refused(notebook: Notebook, forge: Forge, lie: str) -> None:
    """N4"""
    receipt = await notebook.receive(received(LIES[lie](forge)))
    assert (receipt.outcome, receipt.kind) == ("refused", None)
    assert receipt.reason
    assert await notebook.current(SHORT) is None


@pytest.mark.anyio
async def test_a_version_is_current_when_newer_history_when_older_and_known_when_seen(
    notebook: Notebook, forge: Forge
) -> None:
    newer, older = forge.event("newer"), forge.event("older", age=10)
    outcomes = [(await notebook.receive(received(event))).outcome for event in (older, newer, older, newer)]
    assert outcomes == ["current", "current", "known", "known"]
    assert (await notebook.receive(received(forge.event("oldest", age=20)))).outcome == "older"
    text = await notebook.current(SHORT)
    assert text is not None
    assert text.content == "newer"
    assert len(await notebook.versions(SHORT)) == 3


@pytest.mark.anyio
async def test_of_two_versions_of_one_second_the_lower_id_wins_in_either_order(tmp_path: Path, forge: Forge) -> None:
    """NIP-01, so that all machines and relays agree."""
    at = int(time.time()) - 5
    tied = [forge.event(text, at=at) for text in ("one", "two")]
    lower = min(tied, key=lambda event: event["id"])
    for name, order in (("there", tied), ("back", tied[::-1])):
        notebook = Notebook(tmp_path / name, local_signer(forge.nsec), "didactyl")
        for event in order:
            await notebook.receive(received(event))
        text = await notebook.current(SHORT)
        assert text is not None
        assert text.stamp.event_id == lower["id"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"id": 1}', "null", '{"tags": 3}', "\ud800"])
def test_what_is_no_event_is_no_event(text: str) -> None:
    with pytest.raises(ValueError, match="not a Nostr event"):
        SignedEvent.from_json(text)


stamps = st.builds(Stamp, st.integers(0, 3), st.text("0123456789abcdef", min_size=2, max_size=2))


@given(stamps, stamps, stamps)
def test_the_order_of_versions_is_total(first: Stamp, second: Stamp, third: Stamp) -> None:
    assert first.supersedes(second) + second.supersedes(first) == (first != second)
    if first.supersedes(second) and second.supersedes(third):
        assert first.supersedes(third)


@given(st.text(), st.lists(st.lists(st.text(), max_size=3), max_size=3), st.integers(0, 2**40))
def test_an_event_survives_its_json(content: str, tags: list[list[str]], created_at: int) -> None:
    event = SignedEvent("id", "pubkey", created_at, 30_078, tuple(map(tuple, tags)), content, "sig")
    assert SignedEvent.from_json(event.to_json()) == event
