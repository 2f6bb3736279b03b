"""Long messages are also kept in chunks, cut along their own structure."""

from __future__ import annotations

import pytest

from tests.client import MemoryClient
from uniko_mcp.memory.reading import LONG_MESSAGE

pytestmark = pytest.mark.anyio

LONG = "\n\n".join(f"## Step {number}\n\n{'Then restart the worker and look at its log. ' * 12}" for number in range(5))


async def test_a_long_message_has_chunks_under_its_headings(memory: MemoryClient) -> None:
    message = {"sender": "ana", "content": LONG, "message_id": "m"}
    await memory("record_messages", session_id="s", messages=[message])
    found = (await memory("get_memory", id="m"))["provenance"]
    ids = sorted(p["id"] for p in found if p["relation"] == "HAS_CHUNK")
    assert ids == [f"m-chunk-{index}" for index in range(5)]
    for index, id in enumerate(ids):
        chunk = (await memory("get_memory", id=id))["memory"]
        assert LONG[chunk["start"] : chunk["end"]] == chunk["text"]
        assert (chunk["index"], chunk["heading"]) == (index, f"Step {index}")


async def test_a_message_that_is_not_long_has_none(memory: MemoryClient) -> None:
    texts = ["short", "x" * LONG_MESSAGE, f"{'word ' * (LONG_MESSAGE // 5)}!"]
    messages = [{"sender": "ana", "content": text} for text in texts]
    await memory("record_messages", session_id="s", messages=messages)
    assert "Chunk" not in (await memory("memory_status"))["counts"]


async def test_sending_a_long_message_again_makes_no_more_chunks(memory: MemoryClient) -> None:
    message = {"sender": "ana", "content": LONG, "message_id": "m"}
    for _ in range(2):
        await memory("record_messages", session_id="s", messages=[message])
    assert (await memory("memory_status"))["counts"]["Chunk"] == 5


async def test_of_a_very_long_message_the_result_says_how_much_was_read(memory: MemoryClient) -> None:
    end = "Ana Souza moved to Lisbon. The keyword is zeugma."
    message = {"sender": "ana", "content": "x " * 10_000 + end, "message_id": "m"}
    messages = [message, {"sender": "ana", "content": "Short."}]
    first = await memory("record_messages", session_id="s", messages=messages)
    [note] = first["notes"]
    assert note.startswith("Of 1 long message the first 20,000 characters were read")
    assert first["observations"] == 0
    found = await memory("recall", query="zeugma")
    assert "m" in [source["message_id"] for item in found["items"] for source in item["sources"]]
    again = await memory("record_messages", session_id="s", messages=messages)
    assert again["notes"] == []
