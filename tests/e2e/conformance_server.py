"""The server with what the official conformance suite expects to find, over streamable HTTP on loopback.

`python conformance_server.py DATA_DIR` prints the port and serves until its stdin closes. Each fixture is answered
here; everything else, and the lists but for what is added to them, by the product's own handlers.
"""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import struct
import sys
import warnings
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import conformance_input
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.shared.uri_template import UriTemplate

from uniko_mcp.config import EmbeddingSettings, Settings
from uniko_mcp.operations import CATALOGUE
from uniko_mcp.operations.call import open_services
from uniko_mcp.server.app import MemoryServer, build_server

Context = ServerRequestContext[Any]


def _png() -> str:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    image = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    return base64.b64encode(image + chunk(b"IEND", b"")).decode()


PNG = _png()
WAV = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0").decode()
IMAGE = types.ImageContent(data=PNG, mime_type="image/png")
TEMPLATE = UriTemplate.parse("test://template/{id}/data")


def _embedded(uri: str, text: str, mime: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime, text=text))


# Tools


async def _log_three_times(ctx: Context, arguments: dict[str, Any]) -> str:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            await ctx.session.send_log_message("info", text, related_request_id=ctx.request_id)
    return "Logged three times"


async def _report_progress(ctx: Context, arguments: dict[str, Any]) -> str:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
    return "Done"


async def _sample(ctx: Context, arguments: dict[str, Any]) -> str:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=arguments["prompt"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        answer = await ctx.session.create_message([message], max_tokens=100, related_request_id=ctx.request_id)
    return f"LLM response: {answer.content}"


def _elicits(properties: dict[str, Any], required: list[str]) -> Callable[[Context, dict[str, Any]], Awaitable[str]]:
    async def elicit(ctx: Context, arguments: dict[str, Any]) -> str:
        schema = {"type": "object", "properties": properties, "required": required}
        message = arguments.get("message", "Please answer")
        answer = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
        return f"User response: action={answer.action}, content={json.dumps(answer.content)}"

    return elicit


async def _reconnect(ctx: Context, arguments: dict[str, Any]) -> str:
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    return "Answered after the stream was closed"


def _titled(**titles: str) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in titles.items()]


_DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_OPTIONS = ["option1", "option2", "option3"]
_FIRST_TO_THIRD = {"value1": "First Option", "value2": "Second Option", "value3": "Third Option"}
_ENUMS = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {"type": "string", "oneOf": _titled(**_FIRST_TO_THIRD)},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": _titled(**_FIRST_TO_THIRD)}},
}
_USER = {"username": {"type": "string"}, "email": {"type": "string"}}

CONTENTS: dict[str, list[Any]] = {
    "test_simple_text": [types.TextContent(text="This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [types.AudioContent(data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [_embedded("test://embedded-resource", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        types.TextContent(text="Multiple content types test:"),
        IMAGE,
        _embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ],
}


async def _require_sampling(ctx: Context, arguments: dict[str, Any]) -> str:
    return conformance_input.require_sampling(ctx)


ACTIONS: dict[str, Callable[[Context, dict[str, Any]], Awaitable[str]]] = {
    "test_tool_with_logging": _log_three_times,
    "test_logging_tool": _log_three_times,
    "test_missing_capability": _require_sampling,
    "test_tool_with_progress": _report_progress,
    "test_sampling": _sample,
    "test_elicitation": _elicits(_USER, ["username", "email"]),
    "test_elicitation_sep1034_defaults": _elicits(_DEFAULTS, []),
    "test_elicitation_sep1330_enums": _elicits(_ENUMS, []),
    "test_reconnection": _reconnect,
}
ARGUMENTS = {"test_sampling": "prompt", "test_elicitation": "message"}
SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}


def _input_schema(name: str) -> dict[str, Any]:
    if name == "json_schema_2020_12_tool":
        return SCHEMA_2020_12
    properties = {ARGUMENTS[name]: {"type": "string"}} if name in ARGUMENTS else {}
    return {"type": "object", "properties": properties, "required": list(properties)}


def fixture_tools() -> list[types.Tool]:
    names = [*CONTENTS, *ACTIONS, *conformance_input.TOOLS, "test_error_handling", "json_schema_2020_12_tool"]
    return [types.Tool(name=name, description=f"Fixture {name}", input_schema=_input_schema(name)) for name in names]


async def call_fixture(
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult | None:
    if params.name in conformance_input.TOOLS:
        asked = conformance_input.ask(ctx, params, conformance_input.TOOLS[params.name])
        return types.CallToolResult(content=[types.TextContent(text=asked)]) if isinstance(asked, str) else asked
    if params.name in CONTENTS:
        return types.CallToolResult(content=CONTENTS[params.name])
    if params.name in ACTIONS:
        text = await ACTIONS[params.name](ctx, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(text=text)])
    if params.name == "test_error_handling":
        text = "This tool intentionally returns an error for testing"
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
    return None


# Resources and prompts


def read_fixture(uri: str) -> types.ReadResourceResult | None:
    contents: types.TextResourceContents | types.BlobResourceContents
    if uri == "test://static-text":
        text = "This is the content of the static text resource."
        contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
    elif uri == "test://static-binary":
        contents = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    elif match := TEMPLATE.match(uri):
        text = json.dumps({"id": match["id"], "templateTest": True, "data": f"Data for ID: {match['id']}"})
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
    else:
        return None
    return types.ReadResourceResult(contents=[contents])


def _prompt(name: str, *arguments: str) -> types.Prompt:
    required = [types.PromptArgument(name=argument, description=argument, required=True) for argument in arguments]
    return types.Prompt(name=name, description=f"Fixture {name}", arguments=required)


PROMPTS = [
    _prompt("test_simple_prompt"),
    _prompt("test_prompt_with_arguments", "arg1", "arg2"),
    _prompt("test_prompt_with_embedded_resource", "resourceUri"),
    _prompt("test_prompt_with_image"),
    _prompt(conformance_input.PROMPT),
]


def get_fixture(name: str, arguments: dict[str, str]) -> types.GetPromptResult | None:
    contents: list[Any]
    match name:
        case "test_simple_prompt":
            contents = [types.TextContent(text="This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            text = f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"
            contents = [types.TextContent(text=text)]
        case "test_prompt_with_embedded_resource":
            resource = _embedded(arguments["resourceUri"], "Embedded resource content for testing.")
            contents = [resource, types.TextContent(text="Please process the embedded resource above.")]
        case "test_prompt_with_image":
            contents = [IMAGE, types.TextContent(text="Please analyze the image above.")]
        case _:
            return None
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=item) for item in contents])


def add_fixtures(server: MemoryServer) -> None:
    """Put the fixtures before the product's own handlers."""
    own = {
        method: entry.handler
        for method in (
            "tools/list",
            "tools/call",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
        )
        if (entry := server.get_request_handler(method))
    }

    async def list_tools(ctx: Context, params: types.PaginatedRequestParams) -> Any:
        listed = await own["tools/list"](ctx, params)
        return types.ListToolsResult(tools=[*listed.tools, *fixture_tools()])

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> Any:
        return await call_fixture(ctx, params) or await own["tools/call"](ctx, params)

    async def list_resources(ctx: Context, params: types.PaginatedRequestParams) -> Any:
        listed = await own["resources/list"](ctx, params)
        names = ("static-text", "static-binary")
        fixtures = [types.Resource(name=name, uri=f"test://{name}", description=name) for name in names]
        return types.ListResourcesResult(resources=[*listed.resources, *fixtures])

    async def list_templates(ctx: Context, params: types.PaginatedRequestParams) -> Any:
        listed = await own["resources/templates/list"](ctx, params)
        fixture = types.ResourceTemplate(name="template", uri_template=str(TEMPLATE), description="A template")
        return types.ListResourceTemplatesResult(resource_templates=[*listed.resource_templates, fixture])

    async def read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> Any:
        return read_fixture(str(params.uri)) or await own["resources/read"](ctx, params)

    def watched(method: str) -> Callable[[Context, Any], Awaitable[Any]]:
        async def watch(ctx: Context, params: types.SubscribeRequestParams) -> Any:
            return types.EmptyResult() if str(params.uri).startswith("test://") else await own[method](ctx, params)

        return watch

    async def list_prompts(ctx: Context, params: types.PaginatedRequestParams) -> Any:
        listed = await own["prompts/list"](ctx, params)
        return types.ListPromptsResult(prompts=[*listed.prompts, *PROMPTS])

    async def get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> Any:
        if params.name == conformance_input.PROMPT:
            asked = conformance_input.ask(ctx, params, conformance_input.PROMPT_ROUNDS)
            message = types.PromptMessage(role="user", content=types.TextContent(text=str(asked)))
            return types.GetPromptResult(messages=[message]) if isinstance(asked, str) else asked
        return get_fixture(params.name, params.arguments or {}) or await own["prompts/get"](ctx, params)

    async def set_level(ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        return types.EmptyResult()

    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="conformance"))
    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.add_request_handler("resources/list", types.PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, list_templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read_resource)
    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, watched("resources/subscribe"))
    server.add_request_handler(
        "resources/unsubscribe", types.UnsubscribeRequestParams, watched("resources/unsubscribe")
    )
    server.add_request_handler("prompts/list", types.PaginatedRequestParams, list_prompts)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get_prompt)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)


class RememberedEvents(EventStore):
    """All events in memory, for clients that come back."""

    def __init__(self) -> None:
        self._events: list[tuple[StreamId, types.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: StreamId, message: types.JSONRPCMessage | None) -> EventId:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        last = int(last_event_id)
        stream = self._events[last - 1][0]
        for position, (stream_id, message) in enumerate(self._events[last:], start=last + 1):
            if stream_id == stream and message is not None:
                await send_callback(EventMessage(message, str(position)))
        return stream


async def serve(data_dir: Path) -> None:
    settings = Settings(data_dir=data_dir, embedding=EmbeddingSettings(model="none"))
    async with open_services(settings) as services:

        async def opened() -> Any:
            return services

        server = build_server(settings, CATALOGUE, opened)
        add_fixtures(server)
        app = server.streamable_http_app(event_store=RememberedEvents(), retry_interval=50)
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        http = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
        serving = asyncio.create_task(http.serve(sockets=[listener]))
        print(listener.getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.read)
        http.should_exit = True
        await serving


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
