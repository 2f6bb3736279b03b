"""What is indexed of the whole memory, and in which order."""

from __future__ import annotations

import pytest

from uniko_mcp.memory.projection import project_all
from uniko_mcp.store import Draft, Store

pytestmark = pytest.mark.anyio


async def test_what_others_are_a_piece_of_comes_before_them(store: Store) -> None:
    def plan(draft: Draft) -> None:
        draft.put("Session", "s")
        draft.put("Participant", "ana", name="Ana")
        draft.put("Artifact", "report", title="Report", created_at=1)
        draft.put("Message", "m", content="a long message", timestamp=1)
        draft.link("SENT_BY", ("Message", "m"), ("Participant", "ana"))
        draft.link("IN_SESSION", ("Message", "m"), ("Session", "s"))
        draft.put("Observation", "o", content="Ana said something", observed_at=1)
        draft.link("OBSERVED_IN", ("Observation", "o"), ("Message", "m"))
        for parent in (("Artifact", "report"), ("Message", "m")):
            chunk = f"{parent[1]}-chunk"
            draft.put("Chunk", chunk, text="a piece", index=0)
            draft.link("HAS_CHUNK", parent, ("Chunk", chunk))

    await store.write(plan)
    documents = await store.read(lambda view: list(project_all(view)))
    places = {document.id: place for place, document in enumerate(documents)}
    pieces = [document for document in documents if document.parent_id]
    assert {document.id for document in pieces} == {"o", "report-chunk", "m-chunk"}
    assert all(places[document.parent_id] < places[document.id] for document in pieces)
