"""Reading arguments: forgive what clients are known to get wrong, and teach in one line what cannot be forgiven."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, tzinfo
from types import NoneType
from typing import Any, Final, TypeGuard, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from uniko_mcp.errors import InvalidArgumentsError
from uniko_mcp.models.nearest import nearest
from uniko_mcp.operations.catalogue import AnyOperation, Params

_NULLS: Final = frozenset({"null", "none", "undefined"})
_MAX_SHOWN: Final = 80


def read_arguments(operation: AnyOperation, arguments: Mapping[str, Any], *, zone: tzinfo = UTC) -> Params:
    """The operation's params from what a client sent.

    Raises:
        InvalidArgumentsError: With one clause per fault, each naming its field and what would be right.
    """
    decoded = _decode_model(operation.params, arguments)
    try:
        return operation.params.model_validate(decoded, context={"zone": zone})
    except ValidationError as error:
        faults = "; ".join(_explain(operation.params, fault) for fault in error.errors(include_url=False))
        raise InvalidArgumentsError(f"Invalid arguments for {operation.name}: {faults}") from None


def _decode_model(model: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    fields = model.model_fields
    return {
        name: _decode(value, fields[name].annotation, required=fields[name].is_required()) if name in fields else value
        for name, value in arguments.items()
        if not (name in fields and _is_null(value, fields[name].annotation) and not fields[name].is_required())
    }


def _is_null(value: Any, annotation: Any) -> bool:
    """Null for an optional field means that it was left out; so does the word, where text is not what is wanted."""
    if value is None:
        return True
    return isinstance(value, str) and value.strip().lower() in _NULLS and _base(annotation) is not str


def _decode(value: Any, annotation: Any, *, required: bool) -> Any:
    """Arrays and objects may arrive as JSON text, numbers and booleans as words, one element without its list."""
    wanted = _base(annotation)
    if isinstance(value, str) and wanted is not str:
        value = _from_text(value, wanted)
    if wanted is list:
        element = next(iter(get_args(_strip(annotation))), str)
        elements = cast(list[Any], value) if isinstance(value, list) else [value]
        return [_decode(item, element, required=True) for item in elements]
    if _is_model(wanted) and isinstance(value, Mapping):
        return _decode_model(wanted, value)  # pyright: ignore[reportUnknownArgumentType]
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if wanted is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _is_model(wanted: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(wanted, type) and issubclass(wanted, BaseModel)


def _from_text(text: str, wanted: Any) -> Any:
    if wanted not in (list, dict, int, float, bool) and not (
        isinstance(wanted, type) and issubclass(wanted, BaseModel)
    ):
        return text
    try:
        decoded = json.loads(text)
    except ValueError:
        return {"true": True, "false": False}.get(text.strip().lower(), text) if wanted is bool else text
    return cast(Any, decoded) if wanted is not list or isinstance(decoded, list) else text


def _strip(annotation: Any) -> Any:
    """The annotation without `Annotated` and `| None`."""
    while True:
        if hasattr(annotation, "__metadata__"):
            annotation = get_args(annotation)[0]
        elif NoneType in (arguments := get_args(annotation)) and len(arguments) == 2:
            annotation = next(argument for argument in arguments if argument is not NoneType)
        else:
            return annotation


def _base(annotation: Any) -> Any:
    stripped = _strip(annotation)
    return get_origin(stripped) or stripped


def _explain(model: type[BaseModel], fault: ErrorDetails) -> str:
    path = ".".join(str(step) for step in fault["loc"]) or "arguments"
    if fault["type"] == "extra_forbidden":
        *outer, name = fault["loc"]
        return f"{path}: is not a parameter. {nearest(str(name), _model_at(model, outer).model_fields)}"
    if fault["type"] == "missing":
        return f"{path}: is required"
    if fault["type"] == "value_error":
        return f"{path}: {fault['msg'].removeprefix('Value error, ')}{_shown(fault)}"
    return f"{path}: {_plain(fault)}{_shown(fault)}"


def _plain(fault: ErrorDetails) -> str:
    bounds = fault.get("ctx", {})
    match fault["type"]:
        case "literal_error":
            return f"must be one of {bounds['expected']}"
        case "string_type":
            return "must be text"
        case "list_type":
            return "must be a list"
        case "dict_type" | "model_type":
            return "must be an object"
        case "int_type" | "int_from_float":
            return "must be a whole number"
        case "float_type" | "finite_number":
            return "must be a number"
        case "bool_type":
            return "must be true or false"
        case "greater_than_equal":
            return f"must be at least {bounds['ge']}"
        case "less_than_equal":
            return f"must be at most {bounds['le']}"
        case "string_too_long":
            return f"must have at most {bounds['max_length']} characters"
        case "string_too_short" | "too_short":
            return "must not be empty"
        case "too_long":
            return f"must have at most {bounds['max_length']} items"
        case _:
            return fault["msg"]


def _shown(fault: ErrorDetails) -> str:
    """The offending value where it is short and says something; texts of a memory are never shown whole."""
    value = fault["input"]
    if isinstance(value, (bool, int, float)) or (isinstance(value, str) and 0 < len(value.strip()) <= _MAX_SHOWN):
        return f" (got {ascii(value) if not _printable(value) else repr(value)})"
    return ""


def _printable(value: object) -> bool:
    return not isinstance(value, str) or value.isprintable()


def _model_at(model: type[BaseModel], path: list[int | str]) -> type[BaseModel]:
    for step in path:
        if isinstance(step, str):
            annotation = _strip(model.model_fields[step].annotation)
            inner = next(iter(get_args(annotation)), annotation)
            model = _strip(inner)
    return model
