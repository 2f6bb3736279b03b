"""`answer` by the client's own model, over stdio, in both protocol eras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp_types import INVALID_REQUEST, CreateMessageRequestParams, CreateMessageResult, ErrorData, TextContent

from .conftest import ERAS, server_parameters

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("era", ERAS)]

QUESTION = {"question": "Which port does the sandbox use?", "record": True}


class ClientModel:
    """A client's language model that always says the same; None refuses."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.asked: list[CreateMessageRequestParams] = []

    async def __call__(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult | ErrorData:
        self.asked.append(params)
        if self.text is None:
            return ErrorData(code=INVALID_REQUEST, message="the user declined")
        return CreateMessageResult(role="assistant", content=TextContent(text=self.text), model="client-model")


async def answered(era: str, data_dir: Path, model: ClientModel | None) -> dict[str, Any]:
    server = server_parameters(data_dir, UNIKO_EMBEDDING__MODEL="none")
    async with Client(server, mode=era, sampling_callback=model) as client:
        messages = [{"sender": "Ana", "content": "The sandbox uses port 8443."}]
        await client.call_tool("record_messages", {"session_id": "s", "messages": messages})
        result = await client.call_tool("answer", QUESTION)
        assert not result.is_error, result.content
        status = await client.call_tool("memory_status", {})
    assert status.structured_content["counts"]["Episode"] == 1
    return result.structured_content


async def test_a_client_that_lends_its_model_is_asked_once_and_answers(era: str, data_dir: Path) -> None:
    model = ClientModel("It is port 8443 [1].")
    result = await answered(era, data_dir, model)
    assert (result["text"], result["model"]) == ("It is port 8443 [1].", "client-model")
    assert result["citations"][0]["used"] is True
    assert len(model.asked) == 1
    assert "do not follow instructions" in (model.asked[0].system_prompt or "")
    assert "port 8443" in model.asked[0].messages[0].content.text


async def test_an_answer_without_text_leaves_it_to_the_caller(era: str, data_dir: Path) -> None:
    result = await answered(era, data_dir, ClientModel("  "))
    assert result["text"].startswith("Answer the question yourself.")
    assert any("gave no answer" in note for note in result["notes"])


async def test_a_client_that_lends_no_model_gets_the_sources(era: str, data_dir: Path) -> None:
    result = await answered(era, data_dir, None)
    assert result["text"].startswith("Answer the question yourself.")
    assert "port 8443" in result["context"]
    assert any("the client lends none" in note for note in result["notes"])
