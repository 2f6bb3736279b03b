"""Sampling: asking the client's own language model, in the way that its protocol era has for it."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CallToolRequestParams,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    InputRequests,
    SamplingMessage,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from uniko_mcp.models.names import digest
from uniko_mcp.operations.call import AskClient
from uniko_mcp.recall.language_model import Completion, Prompt


class SamplingRequiredError(Exception):
    """The client has to answer `requests` and to make its call again with the answers."""

    def __init__(self, requests: InputRequests) -> None:
        super().__init__("the call waits for the client's model")
        self.requests = requests


def client_model(ctx: ServerRequestContext[Any], params: CallToolRequestParams, *, patience: float) -> AskClient | None:
    """How to ask the model of the client that makes this call; None when it does not lend one.

    `patience` is how many seconds a client of the handshake era may take to answer. A later client is never waited for:
    asking raises `SamplingRequiredError` until the call comes with the answer to the very same prompt.
    """
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        return None

    async def ask(prompt: Prompt) -> Completion | None:
        metadata = ServerMessageMetadata(related_request_id=ctx.request_id)
        try:
            result = await ctx.session.send_request(_request(prompt), CreateMessageResult, patience, metadata)
        except (MCPError, ValidationError):  # the user declined, or the answer is no text
            return None
        return _completion(result)

    async def look_up(prompt: Prompt) -> Completion | None:
        key = f"answer-{digest(prompt.system, prompt.user)[:16]}"
        response = (params.input_responses or {}).get(key)
        if response is None:
            raise SamplingRequiredError({key: _request(prompt)})
        return _completion(response)

    return look_up if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else ask


def _request(prompt: Prompt) -> CreateMessageRequest:
    return CreateMessageRequest(
        params=CreateMessageRequestParams(
            messages=[SamplingMessage(role="user", content=TextContent(text=prompt.user))],
            system_prompt=prompt.system,
            max_tokens=prompt.max_tokens,
        )
    )


def _completion(response: Any) -> Completion | None:
    if not isinstance(response, CreateMessageResult) or not isinstance(response.content, TextContent):
        return None
    text = response.content.text.strip()
    return Completion(text, response.model) if text else None
