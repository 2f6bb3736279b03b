"""Checks on single changes against the graph's schema, so that a journaled change set can always be applied."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from uniko_mcp.models.changes import Properties, Scalar
from uniko_mcp.models.graph_schema import EDGES, NODES, ColumnType

# Kuzu stores a column whose values lie 2**63 or more apart wrongly, at its next checkpoint.
_INTEGERS: Final = range(-(2**62), 2**62)


def checked_node(kind: str, id: str, properties: Mapping[str, Any]) -> Properties:
    """The properties of a node as its table holds them.

    Raises:
        ValueError: The kind, the id, a column or a value does not fit the schema.
    """
    table = NODES.get(kind)
    if table is None:
        raise ValueError(f"no node kind {kind!r}")
    checked_id(kind, id)
    return _checked(kind, table.columns, properties)


def checked_edge(kind: str, from_kind: str, to_kind: str, properties: Mapping[str, Any]) -> Properties:
    """The properties of an edge as its table holds them.

    Raises:
        ValueError: The kind, the pair, a column or a value does not fit the schema.
    """
    table = EDGES.get(kind)
    if table is None:
        raise ValueError(f"no edge kind {kind!r}")
    if (from_kind, to_kind) not in table.pairs:
        raise ValueError(f"{kind} cannot join {from_kind} to {to_kind}")
    return _checked(kind, table.columns, properties)


def checked_id(kind: str, id: str) -> None:
    """Raise ValueError unless this can be the key of a node of that kind."""
    if kind not in NODES:
        raise ValueError(f"no node kind {kind!r}")
    if not isinstance(id, str) or not id:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"the id of a {kind} must be a non-empty string")
    _check_text(f"the id of a {kind}", id)


def _checked(kind: str, columns: Mapping[str, ColumnType], properties: Mapping[str, Any]) -> Properties:
    unknown = properties.keys() - columns.keys()
    if unknown:
        raise ValueError(f"{kind} has no column {', '.join(sorted(unknown))}")
    return {name: _value(f"{kind}.{name}", columns[name], value) for name, value in properties.items()}


def _value(place: str, column: ColumnType, value: Any) -> Scalar:
    if value is None:
        return None
    match column:
        case "text" | "json":
            if not isinstance(value, str):
                raise ValueError(f"{place} must be a string, not {type(value).__name__}")
            _check_text(place, value)
            return str(value)
        case "bool":
            if not isinstance(value, bool):
                raise ValueError(f"{place} must be a boolean, not {type(value).__name__}")
            return value
        case "int" | "time":
            if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError(f"{place} must be an integer, not {type(value).__name__}")
            if int(value) not in _INTEGERS:  # of a subclass of int, a range would try every number
                raise ValueError(f"{place} must lie between -2**62 and 2**62 - 1")
            return int(value)
        case "float":
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise ValueError(f"{place} must be a number, not {type(value).__name__}")
            if not math.isfinite(value):
                raise ValueError(f"{place} must be finite")
            return float(value)


def _check_text(place: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{place} holds a lone surrogate at character {error.start}") from None
