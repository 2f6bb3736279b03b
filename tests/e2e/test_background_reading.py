"""A server whose language model is reading: it ends with its client all the same, and leaves the store closed."""

from __future__ import annotations

from pathlib import Path

import anyio

from tests.llm_server import HANG, MODEL, llm_server
from uniko_mcp.config import EmbeddingSettings, Settings
from uniko_mcp.memory.unread import count_unread
from uniko_mcp.operations.call import open_services
from uniko_mcp.store import Recovery

from .raw import RawClient

SAID = {"sender": "Ana", "content": "We are in Porto now."}


def test_a_client_that_leaves_while_the_model_hangs_ends_the_server(data_dir: Path) -> None:
    """W5"""
    with (
        llm_server(HANG) as llm,
        RawClient.of(
            data_dir,
            UNIKO_EXTRACTION__LLM="true",
            UNIKO_LLM__MODEL=MODEL,
            UNIKO_LLM__API_BASE=llm.api_base,
            UNIKO_LLM__TIMEOUT="1000000",
            OPENAI_API_KEY="sk-test",
        ) as client,
    ):
        client.initialize()
        client.call("record_messages", {"session_id": "s", "messages": [SAID]})
        llm.called.wait()
        client.stdin.close()
        assert client.rest() == []
        assert client.wait() == 0
    assert anyio.run(left_by, data_dir) == ((), 1)


async def left_by(data_dir: Path) -> tuple[tuple[Recovery, ...], int]:
    """What the next one to open the store finds repaired, and how many messages unread."""
    async with open_services(Settings(data_dir=data_dir, embedding=EmbeddingSettings(model="none"))) as services:
        return services.store.status().recoveries, await services.store.read(count_unread)
