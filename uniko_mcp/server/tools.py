"""Tools: every operation of the catalogue as an MCP tool."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from uniko_mcp.errors import UnikoError
from uniko_mcp.models.nearest import nearest
from uniko_mcp.operations.catalogue import Catalogue
from uniko_mcp.server.descriptions import describe
from uniko_mcp.server.failures import named
from uniko_mcp.server.progress import watched
from uniko_mcp.server.rendering import render
from uniko_mcp.server.runner import OperationRunner
from uniko_mcp.server.sampling import SamplingRequiredError, client_model

ERROR_META: Final = "uniko-mcp/error"
"""Where a failed call carries {code, message, next_step}. Not in the structured content: clients validate that against
the tool's output schema even when the call failed."""


class Tools:
    """The tools of one server: those operations that its settings select."""

    def __init__(self, runner: OperationRunner, selected: Catalogue) -> None:
        self._runner = runner
        self._selected = selected

    async def list_tools(
        self, ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """All tools, on one page."""
        return self._listed

    async def call_tool(
        self, ctx: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """The result of a tool, in text and structured; a failure is a result too, for the model to read.

        Raises:
            MCPError: There is no such tool.
        """
        operation = self._selected.get(params.name)
        if operation is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}. {nearest(params.name, self._selected)}")
        ask_client = client_model(ctx, params, patience=self._runner.settings.llm.timeout)
        async with watched(ctx) as progress:
            try:
                content = await self._runner.run(
                    operation.name, params.arguments or {}, progress=progress, ask_client=ask_client
                )
            except SamplingRequiredError as required:
                return InputRequiredResult(input_requests=required.requests)
            except Exception as error:
                return _failed(named(error, operation.name))
        return CallToolResult(content=[TextContent(text=render(content))], structured_content=content)

    @cached_property
    def _listed(self) -> ListToolsResult:
        return ListToolsResult(tools=[describe(operation) for operation in self._selected.values()])


def _failed(failure: UnikoError) -> CallToolResult:
    details = {"code": failure.code, "message": failure.message, "next_step": failure.next_step}
    return CallToolResult(content=[TextContent(text=str(failure))], is_error=True, _meta={ERROR_META: details})
