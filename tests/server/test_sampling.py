"""Asking the client's model: a refusal, an answer to another question, and clients that lend none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp_types import (
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    ErrorData,
    ImageContent,
    InputRequiredResult,
    TextContent,
)

from uniko_mcp.config import EmbeddingSettings, LanguageModelSettings, Settings
from uniko_mcp.operations import CATALOGUE
from uniko_mcp.operations.call import Services, open_services
from uniko_mcp.server.app import build_server

pytestmark = pytest.mark.anyio

QUESTION = {"question": "Which port does the sandbox use?"}


async def refuse(context: ClientRequestContext, params: CreateMessageRequestParams) -> ErrorData:
    return ErrorData(code=INVALID_REQUEST, message="the user declined")


async def draw(context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
    picture = ImageContent(data="aGk=", mime_type="image/png")
    return CreateMessageResult(role="assistant", content=picture, model="client-model")


async def think(context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
    await anyio.sleep_forever()
    raise AssertionError("unreachable")


def said(text: str) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", content=TextContent(text=text), model="client-model")


@asynccontextmanager
async def connected(folder: Path, mode: str, callback: Any, *, patience: float = 20) -> AsyncIterator[Client]:
    """A client of that era, which lends its model by that callback, of a server that remembers a port."""
    settings = Settings(
        data_dir=folder / "memory",
        embedding=EmbeddingSettings(model="none"),
        llm=LanguageModelSettings(timeout=patience),
    )
    async with open_services(settings) as services:

        async def ready() -> Services:
            return services

        server = build_server(settings, CATALOGUE, ready)
        async with Client(server, mode=mode, sampling_callback=callback) as client:
            await remember(client, "The sandbox uses port 8443.")
            yield client


async def remember(client: Client, text: str) -> None:
    messages = [{"sender": "Ana", "content": text}]
    await client.call_tool("record_messages", {"session_id": "s", "messages": messages})


async def test_a_user_who_declines_in_the_handshake_era_gets_the_sources(tmp_path: Path) -> None:
    async with connected(tmp_path, "legacy", refuse) as client:
        result = (await client.call_tool("answer", QUESTION)).structured_content
    assert result["text"].startswith("Answer the question yourself.")
    assert any("gave no answer" in note for note in result["notes"])


async def test_a_model_that_thinks_for_ever_is_waited_for_no_longer_than_the_setting_says(tmp_path: Path) -> None:
    async with connected(tmp_path, "legacy", think, patience=0.2) as client:
        result = (await client.call_tool("answer", QUESTION)).structured_content
    assert "port 8443" in result["context"]
    assert any("gave no answer" in note for note in result["notes"])


async def test_an_answer_that_is_no_text_is_none(tmp_path: Path, era: str) -> None:
    async with connected(tmp_path, era, draw) as client:
        result = (await client.call_tool("answer", QUESTION)).structured_content
    assert "model" not in result
    assert "port 8443" in result["context"]


async def test_only_the_answer_to_the_very_same_prompt_counts(tmp_path: Path) -> None:
    async with connected(tmp_path, "2026-07-28", refuse) as client:

        async def call(**answers: CreateMessageResult) -> Any:
            return await client.session.call_tool(
                "answer", QUESTION, input_responses=answers or None, allow_input_required=True
            )

        first = await call()
        assert isinstance(first, InputRequiredResult)
        (key,) = first.input_requests or ()
        assert list((await call(other=said("Port 1."))).input_requests) == [key]
        assert (await call(**{key: said("Port 8443 [1].")})).structured_content["text"] == "Port 8443 [1]."
        await remember(client, "The sandbox now uses port 9000.")
        moved = await call(**{key: said("Port 8443 [1].")})
        assert isinstance(moved, InputRequiredResult)
        assert key not in (moved.input_requests or {})


async def test_other_tools_ask_no_model(tmp_path: Path, era: str) -> None:
    async with connected(tmp_path, era, refuse) as client:
        result = await client.call_tool("recall", {"query": "port"})
    assert not result.is_error
