"""Tools: every operation of the catalogue as an MCP tool."""

from __future__ import annotations

import logging
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
    Tool,
    ToolAnnotations,
)

from uniko_mcp.errors import UnikoError
from uniko_mcp.operations.catalogue import AnyOperation, Catalogue
from uniko_mcp.operations.json_schema import params_schema, result_schema
from uniko_mcp.server.fitting import fit
from uniko_mcp.server.nearest import nearest
from uniko_mcp.server.progress import watched
from uniko_mcp.server.rendering import render, structured
from uniko_mcp.server.runner import OperationRunner
from uniko_mcp.server.sampling import SamplingRequiredError, client_model

logger = logging.getLogger(__name__)

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
                result = await self._runner.run(
                    operation.name, params.arguments or {}, progress=progress, ask_client=ask_client
                )
            except SamplingRequiredError as required:
                return InputRequiredResult(input_requests=required.requests)
            except UnikoError as error:
                return _failed(str(error), code=error.code, message=error.message, next_step=error.next_step)
            except Exception:
                logger.exception("%s failed", operation.name)
                return _failed(
                    f"internal_error: {operation.name} failed. The server's log on stderr says where",
                    code="internal_error",
                    message=f"{operation.name} failed",
                    next_step="The server's log on stderr says where",
                )
        content = fit(structured(result), self._runner.settings.output.max_tokens)
        return CallToolResult(content=[TextContent(text=render(content))], structured_content=content)

    @cached_property
    def _listed(self) -> ListToolsResult:
        return ListToolsResult(tools=[describe(operation) for operation in self._selected.values()])


def describe(operation: AnyOperation) -> Tool:
    """An operation as clients are shown it."""
    hints = operation.hints
    return Tool(
        name=operation.name,
        title=operation.title,
        description=operation.description,
        input_schema=params_schema(operation),
        output_schema=result_schema(operation),
        annotations=ToolAnnotations(
            title=operation.title,
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
    )


def _failed(text: str, **details: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=True, _meta={ERROR_META: details})
