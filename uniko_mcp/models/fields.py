"""Field types that params, results and domain models share: each knows how to validate, print and describe itself."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, tzinfo
from typing import Annotated, Any, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)

from uniko_mcp.models.time import NOT_A_TIME, Span, format_instant, parse_instant, parse_span, to_micros

MAX_ID_CHARS = 512
"""Longer than any id in use; what is longer is a text in the wrong field. Not in the schemas, to keep them short."""

MAX_TEXT_CHARS = 1_000_000
"""More than a day's log; what is longer is a document, which is kept in chunks. Not in the schemas either."""

_CONTROLS = frozenset({"Cc", "Zl", "Zp"})
"""Unicode's categories of control characters and of line and paragraph separators."""


def zone_of(info: ValidationInfo) -> tzinfo:
    """The configured zone for times without an offset, from the validation context; UTC when there is none."""
    context: dict[str, Any] = info.context or {}
    return context.get("zone", UTC)


class Moment(int):
    """The type of a field of params that is given as text and is plain microseconds UTC once it is read."""


def _written(value: Any) -> Any:
    """A result that was written as JSON, read again."""
    return parse_instant(value) if isinstance(value, str) else value


def _moment(value: Any, info: ValidationInfo) -> int:
    """The instant that a text or datetime names. A number is refused: seconds, milliseconds and more are in use."""
    if isinstance(value, datetime):
        return to_micros(value if value.tzinfo else value.replace(tzinfo=zone_of(info)))
    if isinstance(value, str):
        return parse_instant(value, zone_of(info))
    raise ValueError(NOT_A_TIME)


def _span(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, str):
        return parse_span(value, zone_of(info))
    if isinstance(value, datetime):
        start = to_micros(value if value.tzinfo else value.replace(tzinfo=zone_of(info)))
        return Span(start, start + 1, "instant")
    return value


def _clean(text: str) -> str:
    """Refuse what no store or wire can carry: a lone surrogate is not a character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"has a lone surrogate at position {error.start}, which is not a character. Remove it"
        ) from error
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank. Give it at least one character")
    return text


def _not_a_book(text: str) -> str:
    if len(text) > MAX_TEXT_CHARS:
        raise ValueError(
            f"has {len(text):,} characters, and a text at most {MAX_TEXT_CHARS:,}. Split it, or use ingest_document"
        )
    return text


def _not_too_long(id: str) -> str:
    if len(id) > MAX_ID_CHARS:
        raise ValueError(f"has {len(id)} characters, and an id or name at most {MAX_ID_CHARS}. Shorten it")
    return id


def _one_line(id: str) -> str:
    """Refuse what breaks a line or is not shown: where ids and names are listed, one could pose as several."""
    position = next((at for at, char in enumerate(id) if unicodedata.category(char) in _CONTROLS), None)
    if position is not None:
        raise ValueError(
            f"has a line break or control character, U+{ord(id[position]):04X}, at position {position}; an id or name"
            " is one line. Remove it"
        )
    return id


def _json_object(value: dict[str, Any]) -> dict[str, Any]:
    try:
        _not_a_book(_clean(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    except (TypeError, RecursionError) as error:
        raise ValueError("is not plain JSON") from error
    return value


def _as_text(value: Any) -> Any:
    """What is not text yet becomes JSON text; inputs and outputs of tools are often objects."""
    if isinstance(value, (dict, list, bool, int, float)):
        return json.dumps(value, ensure_ascii=False)
    return value  # pyright: ignore[reportUnknownVariableType]


TIME_FORMAT = "RFC 3339, such as 2026-12-31 or 2026-12-31T17:00:00Z"

Text: TypeAlias = Annotated[str, AfterValidator(_clean), AfterValidator(_not_a_book)]
"""Any text that can be stored and sent."""

JsonText: TypeAlias = Annotated[str, BeforeValidator(_as_text), AfterValidator(_clean), AfterValidator(_not_a_book)]
"""Text, or any JSON value, which is kept as JSON text."""

Required: TypeAlias = Annotated[
    str, AfterValidator(_clean), AfterValidator(_not_blank), AfterValidator(_not_a_book), Field(min_length=1)
]
"""Text with at least one visible character."""

DocumentText: TypeAlias = Annotated[str, AfterValidator(_clean), AfterValidator(_not_blank), Field(min_length=1)]
"""The text of a document, which has a limit of its own."""

Identifier: TypeAlias = Annotated[
    str,
    AfterValidator(_clean),
    AfterValidator(_not_blank),
    AfterValidator(_one_line),
    AfterValidator(_not_too_long),
    Field(min_length=1),
]
"""An id or name of the caller's own choosing in one line, or a UUIDv7 made here."""

Instant: TypeAlias = Annotated[
    int,
    BeforeValidator(_written),
    PlainSerializer(format_instant, return_type=str, when_used="json-unless-none"),
    WithJsonSchema({"type": "string"}),
]
"""An instant in a result: microseconds UTC inside, RFC 3339 outside, and read back from that."""

GivenInstant: TypeAlias = Annotated[Moment, PlainValidator(_moment), WithJsonSchema({"type": "string"})]
"""An instant in params: RFC 3339 text; without an offset it is taken in the configured zone."""

TimeSpan: TypeAlias = Annotated[Span, BeforeValidator(_span), WithJsonSchema({"type": "string"})]
"""The interval that a date or timestamp covers; a date covers its day."""

UnitInterval: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number in [0, 1]."""

JsonObject: TypeAlias = Annotated[
    dict[str, Any], AfterValidator(_json_object), WithJsonSchema({"type": "object", "additionalProperties": True})
]
"""A JSON object of the caller's own shape."""
