"""JSON schemas of params and results in the subset that every known client takes.

No `$ref`, `$defs`, `anyOf`, `oneOf`, `allOf`, type lists, boolean schemas or exclusive bounds; every property has a
type, every array has `items`; optional means absent from `required`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from pydantic import BaseModel

from uniko_mcp.operations.catalogue import AnyOperation

JsonSchema = dict[str, Any]

_KEPT: Final = (
    "type",
    "description",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "default",
)


def params_schema(operation: AnyOperation) -> JsonSchema:
    """The schema of what a client sends; unknown arguments are closed off."""
    return _portable(operation.params, mode="validation", closed=True)


def result_schema(operation: AnyOperation) -> JsonSchema:
    """The schema of what a client gets; open, so that a later version may answer more."""
    return _portable(operation.result, mode="serialization", closed=False)


def _portable(model: type[BaseModel], *, mode: Literal["validation", "serialization"], closed: bool) -> JsonSchema:
    schema = model.model_json_schema(mode=mode)
    return _simplify(schema, schema.get("$defs", {}), closed=closed)


def _simplify(schema: Mapping[str, Any], definitions: Mapping[str, Any], *, closed: bool) -> JsonSchema:
    schema = _resolve(schema, definitions)
    kept = {key: schema[key] for key in _KEPT if key in schema and not (key == "default" and schema[key] is None)}
    if "const" in schema:
        kept["enum"] = [schema["const"]]
    if schema.get("type") == "array":
        kept["items"] = _simplify(schema.get("items", {"type": "string"}), definitions, closed=closed)
    if schema.get("type") == "object":
        kept |= _object(schema, definitions, closed=closed)
    return kept


def _object(schema: Mapping[str, Any], definitions: Mapping[str, Any], *, closed: bool) -> JsonSchema:
    properties = cast(Mapping[str, Mapping[str, Any]], schema.get("properties", {}))
    if not properties and schema.get("additionalProperties") not in (None, False):
        return {}  # an object of the caller's own shape
    simplified = {name: _simplify(inner, definitions, closed=closed) for name, inner in properties.items()}
    result: JsonSchema = {"properties": simplified}
    if required := [name for name in schema.get("required", ()) if "default" not in simplified[name]]:
        result["required"] = required
    if closed:
        result["additionalProperties"] = False
    return result


def _resolve(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references and take the one branch of an optional; what the outer level says wins."""
    outer = dict(schema)
    if reference := outer.pop("$ref", None):
        return _resolve({**definitions[reference.rpartition("/")[2]], **outer}, definitions)
    branches = [branch for branch in outer.pop("anyOf", ()) if branch.get("type") != "null"]
    if not branches:
        return outer
    if len(branches) > 1:
        raise TypeError(f"a union has no portable schema: {schema}")
    return _resolve({**branches[0], **outer}, definitions)
