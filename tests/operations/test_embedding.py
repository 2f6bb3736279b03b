"""Recall by meaning as a user configures it: a model in a folder, a model behind an API, and a change of models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from tests.client import MemoryClient
from tests.llm_server import EMBED, EMBEDDING_MODEL, HANG, LlmServer, failure, llm_server
from tests.model import build_minilm
from uniko_mcp.config import EmbeddingSettings, Settings
from uniko_mcp.operations.call import open_services

pytestmark = pytest.mark.anyio

PATIENCE = 60


@pytest.fixture(autouse=True)
def no_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> EmbeddingSettings:
    return EmbeddingSettings(path=build_minilm(tmp_path_factory.mktemp("minilm")))


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server(EMBED) as running:
        yield running


@asynccontextmanager
async def opened(folder: Path, embedding: EmbeddingSettings) -> AsyncIterator[MemoryClient]:
    async with open_services(Settings(data_dir=folder / "memory", embedding=embedding)) as services:
        yield MemoryClient(services, "assistant")


async def say(memory: MemoryClient, *contents: str) -> None:
    for content in contents:
        message = {"sender": "ana", "content": content, "message_id": content}
        await memory("record_messages", session_id=f"about {content}", messages=[message])


async def embedded(memory: MemoryClient) -> dict[str, Any]:
    """The status once everything has its vector."""
    assert await memory.services.recollection.embedded(PATIENCE)
    return await memory("memory_status")


async def first(memory: MemoryClient, query: str) -> str:
    """The best of what is found by meaning, without anything to be said about that."""
    found = await memory("recall", query=query, kinds=["message"])
    assert found["notes"] == []
    return found["items"][0]["id"]


KITTEN = "My kitten sleeps on the sofa."
OTHERS = ("The invoice is overdue.", "It rains again today.", "The server needs a patch.")


async def test_a_model_in_a_folder_finds_what_shares_no_word_and_what_was_just_said(
    tmp_path: Path, local: EmbeddingSettings
) -> None:
    async with opened(tmp_path, local) as memory:
        await say(memory, KITTEN, *OTHERS)
        status = await embedded(memory)
        assert (status["embedder"]["state"], status["index"]["pending"]) == ("ready", 0)
        assert await first(memory, "Does anyone own a cat?") == KITTEN
        await say(memory, "Our puppy chased a ball in the park.")
        await embedded(memory)
        assert await first(memory, "Is there a dog?") == "Our puppy chased a ball in the park."
    async with opened(tmp_path, local) as memory:
        await embedded(memory)
        assert await first(memory, "Does anyone own a cat?") == KITTEN


async def test_a_model_behind_an_api_embeds_without_a_key_and_is_asked_for_each_text_once(
    tmp_path: Path, server: LlmServer
) -> None:
    async with opened(tmp_path, server.embedding_settings) as memory:
        await say(memory, KITTEN, *OTHERS)
        status = await embedded(memory)
        assert status["embedder"] == {"state": "ready", "model": EMBEDDING_MODEL}
        assert await first(memory, "a feline and its couch") == KITTEN
        assert await first(memory, "a feline and its couch") == KITTEN
    sent = [text for request in server.requests for text in request["input"]]
    assert len([text for text in sent if text.endswith(KITTEN)]) == 1
    assert sent.count("a feline and its couch") == 1


async def test_a_model_that_fails_is_asked_again_at_the_next_start_and_recall_says_so_until_then(
    tmp_path: Path, server: LlmServer
) -> None:
    """C4"""
    server.script = [failure(401)]
    async with opened(tmp_path, server.embedding_settings) as memory:
        await say(memory, KITTEN, *OTHERS)
        found = await memory("recall", query="kitten")
        status = await memory("memory_status")
    assert found["items"]
    assert any("found by their words" in note and "AuthenticationError" in note for note in found["notes"])
    assert status["embedder"]["state"] == "unavailable"
    server.script = [EMBED]
    async with opened(tmp_path, server.embedding_settings) as memory:
        await embedded(memory)
        assert await first(memory, "a feline and its couch") == KITTEN


async def test_another_model_in_the_configuration_embeds_anew_says_so_meanwhile_and_never_mixes(
    tmp_path: Path, local: EmbeddingSettings, server: LlmServer
) -> None:
    """C3"""
    async with opened(tmp_path, local) as memory:
        await say(memory, KITTEN, *OTHERS)
        count = (await embedded(memory))["index"]["documents"]
    server.script = [EMBED, HANG, EMBED]  # its dimension, the memories, the query
    async with opened(tmp_path, server.embedding_settings) as memory:
        memory.services.wake()
        await to_thread.run_sync(server.wait_for_requests, 2)
        found = await memory("recall", query="kitten", kinds=["message"])
        status = await memory("memory_status")
        server.closing.set()
    assert [item["id"] for item in found["items"]] == [KITTEN]
    assert found["notes"] == [
        f"The embedding model was changed to {EMBEDDING_MODEL}; 0 memories are embedded anew,"
        f" {count} are found by their words until then."
    ]
    assert (status["embedder"]["model"], status["index"]["pending"]) == (EMBEDDING_MODEL, count)
    with llm_server(EMBED) as again:
        async with opened(tmp_path, again.embedding_settings) as memory:
            status = await embedded(memory)
            assert await first(memory, "a feline and its couch") == KITTEN
    assert (status["embedder"]["model"], status["index"]["pending"]) == (EMBEDDING_MODEL, 0)


async def test_a_model_of_another_dimension_under_the_same_name_is_never_mixed_with_it(
    tmp_path: Path, server: LlmServer
) -> None:
    """C3"""
    async with opened(tmp_path, server.embedding_settings) as memory:
        await say(memory, KITTEN)
        await embedded(memory)
    server.dimension = 64
    async with opened(tmp_path, server.embedding_settings) as memory:
        await say(memory, *OTHERS)
        status = await embedded(memory)
        assert status["index"]["pending"] == 0
        assert await first(memory, "a feline and its couch") == KITTEN
