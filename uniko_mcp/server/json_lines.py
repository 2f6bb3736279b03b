"""The codec of the wire: one JSON-RPC message as one line of UTF-8, and the answer to a line that is none."""

from __future__ import annotations

import json
from typing import Any, cast

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError


class MalformedLineError(Exception):
    """A line that is no message; `answer` says so to the client."""

    def __init__(self, code: int, message: str, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.answer = JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))


def decode(line: bytes) -> JSONRPCMessage:
    """The message of one line.

    A lone surrogate (`\\ud800`) passes: it is the arguments' reader that can say in which of them it is.

    Raises:
        MalformedLineError: It is not JSON, or no JSON-RPC message.
    """
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _decode_slowly(line)


def _decode_slowly(line: bytes) -> JSONRPCMessage:
    try:
        value: Any = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise MalformedLineError(PARSE_ERROR, "Parse error: the line is not JSON in UTF-8") from None
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        raise MalformedLineError(
            INVALID_REQUEST, "Invalid request: the line is JSON, but not one JSON-RPC 2.0 message", _id_of(value)
        ) from None


def _id_of(value: Any) -> RequestId | None:
    request_id = cast("dict[str, Any]", value).get("id") if isinstance(value, dict) else None
    return request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None


def encode(message: JSONRPCMessage) -> bytes:
    """The message as one line. What UTF-8 cannot hold is escaped."""
    fields = message.model_dump(mode="python", by_alias=True, exclude_unset=True)
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(fields, separators=(',', ':'))}\n".encode()
