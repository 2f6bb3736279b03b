"""JSON schemas of params and results in the subset that every known client takes.

No `$ref`, `$defs`, `anyOf`, `oneOf`, `allOf`, type lists, boolean schemas or exclusive bounds; every property has a
type, every array has `items`; optional means absent from `required`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from uniko_mcp.operations.catalogue import AnyOperation

JsonSchema = dict[str, Any]

_KEPT: Final = (
    "type",
    "description",
    "enum",
    "minimum",
    "maximum",
    "maxLength",
    "minItems",
    "maxItems",
)


def params_schema(operation: AnyOperation) -> JsonSchema:
    """The schema of what a client sends, whole; unknown arguments are closed off."""
    return _flatten(operation.params.model_json_schema(mode="validation"))


def result_schema(operation: AnyOperation) -> JsonSchema:
    """The schema of what a client gets: its own fields, and for the objects in them the names of those always there.

    A model reads the whole list of tools in every conversation, and most of what it costs would be the inner schemas of
    results; what a field means stands in the result models and in the tool's description. It is open, so that a later
    version may answer more.
    """
    schema = operation.result.model_json_schema(mode="serialization")
    definitions = schema.get("$defs", {})
    properties = {
        name: _outline(inner, definitions) for name, inner in cast(JsonSchema, schema.get("properties", {})).items()
    }
    return {"type": "object", "properties": properties, "required": _required(schema)}


def _flatten(schema: JsonSchema) -> JsonSchema:
    return _simplify(schema, schema.get("$defs", {}))


def _simplify(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> JsonSchema:
    schema = _resolve(schema, definitions)
    kept = {key: schema[key] for key in _KEPT if key in schema}
    if schema.get("default") is not None and schema["default"] != []:
        kept["default"] = schema["default"]
    if "const" in schema:
        kept["enum"] = [schema["const"]]
    if schema.get("type") == "array":
        kept["items"] = _simplify(schema.get("items", {"type": "string"}), definitions)
    if schema.get("type") == "object" and not _is_free(schema):
        properties = cast(Mapping[str, Mapping[str, Any]], schema.get("properties", {}))
        kept["properties"] = {name: _simplify(inner, definitions) for name, inner in properties.items()}
        if required := _required(schema):
            kept["required"] = required
        kept["additionalProperties"] = False
        kept.pop("description", None)  # a model's docstring; what it is for is said by the field that holds it
    return kept


def _outline(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> JsonSchema:
    """A property of a result, with inner objects described by the names of the fields that are always there."""
    schema = _resolve(schema, definitions)
    outline: JsonSchema = {"type": schema["type"]}
    if schema["type"] == "array":
        outline["items"] = _outline(schema.get("items", {"type": "string"}), definitions)
    elif schema["type"] == "object" and not _is_free(schema):
        outline["description"] = ", ".join(_required(schema))
    return outline


def _required(schema: Mapping[str, Any]) -> list[str]:
    """Fields without a default; a default of None means that a field may be absent."""
    properties = cast(Mapping[str, Mapping[str, Any]], schema.get("properties", {}))
    return [name for name, inner in properties.items() if "default" not in inner]


def _is_free(schema: Mapping[str, Any]) -> bool:
    """Whether it is an object of the caller's own shape."""
    return not schema.get("properties") and schema.get("additionalProperties") not in (None, False)


def _resolve(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references and take the one branch of an optional; what the outer level says wins.

    Raises:
        TypeError: It is a union of several types, for which there is no portable schema.
    """
    outer = dict(schema)
    if reference := outer.pop("$ref", None):
        return _resolve({**definitions[reference.rpartition("/")[2]], **outer}, definitions)
    branches = [branch for branch in outer.pop("anyOf", ()) if branch.get("type") != "null"]
    if not branches:
        return outer
    if len(branches) > 1:
        raise TypeError(f"a union has no portable schema: {schema}")
    return _resolve({**branches[0], **outer}, definitions)
