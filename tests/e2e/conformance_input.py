"""The fixtures of the conformance suite that ask the client for input, since 2026-07-28 by an interim result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

Params: TypeAlias = types.CallToolRequestParams | types.GetPromptRequestParams
Rounds: TypeAlias = tuple[Mapping[str, Any], ...]
"""What is asked for in each round, by key."""


def _ask(message: str, **properties: str) -> types.ElicitRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=text))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=100))


_NAME = _ask("What is your name?", name="string")
_CONFIRM = _ask("Please confirm", ok="boolean")
_ROOTS = types.ListRootsRequest()

TOOLS: dict[str, Rounds] = {
    "test_input_required_result_elicitation": ({"user_name": _NAME},),
    "test_input_required_result_sampling": ({"capital_question": _sample("What is the capital of France?")},),
    "test_input_required_result_list_roots": ({"client_roots": _ROOTS},),
    "test_input_required_result_request_state": ({"confirm": _CONFIRM},),
    "test_input_required_result_tampered_state": ({"confirm": _CONFIRM},),
    "test_input_required_result_multiple_inputs": (
        {"user_name": _NAME, "greeting": _sample("Generate a greeting"), "client_roots": _ROOTS},
    ),
    "test_input_required_result_multi_round": (
        {"step1": _ask("Step 1: What is your name?", name="string")},
        {"step2": _ask("Step 2: What is your favorite color?", color="string")},
    ),
    "test_input_required_result_capabilities": ({"user_name": _NAME, "greeting": _sample("Generate a greeting")},),
    "test_streaming_elicitation": ({"user_name": _NAME},),
}
PROMPT = "test_input_required_result_prompt"
PROMPT_ROUNDS = ({"user_context": _ask("What context should the prompt use?", context="string")},)


def ask(ctx: ServerRequestContext[Any], params: Params, rounds: Rounds) -> Any:
    """The interim result that asks for what is missing in this round, or the answers when all rounds are done."""
    position = int(params.request_state or 0)
    answers = dict(params.input_responses or {})
    while position < len(rounds):
        wanted = {key: request for key, request in rounds[position].items() if _can_answer(ctx, request)}
        if not wanted.keys() <= answers.keys():
            return types.InputRequiredResult(input_requests=wanted, request_state=str(position))
        position, answers = position + 1, {}
    return f"state-ok: {json.dumps(params.input_responses, default=lambda answer: answer.model_dump(mode='json'))}"


def _can_answer(ctx: ServerRequestContext[Any], request: Any) -> bool:
    capabilities = ctx.session.client_capabilities or types.ClientCapabilities()
    match request:
        case types.ElicitRequest():
            return capabilities.elicitation is not None
        case types.CreateMessageRequest():
            return capabilities.sampling is not None
        case _:
            return True


def require_sampling(ctx: ServerRequestContext[Any]) -> str:
    """What a tool answers that cannot do without sampling.

    Raises:
        MCPError: The client did not declare it.
    """
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        required = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling", required)
    return "Sampling is there"
