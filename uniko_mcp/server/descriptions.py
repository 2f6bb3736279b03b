"""Operations as MCP describes them to clients; what is published in files is the same."""

from __future__ import annotations

from mcp_types import Tool, ToolAnnotations

from uniko_mcp.operations.catalogue import AnyOperation
from uniko_mcp.operations.json_schema import params_schema, result_schema


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
