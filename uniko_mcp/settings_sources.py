"""Where the settings come from: command line, environment, file and defaults, the first of them winning."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, cast, get_args

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from uniko_mcp.config import Section, Settings, split
from uniko_mcp.errors import ConfigError
from uniko_mcp.models.nearest import nearest

PREFIX: Final = "UNIKO_"
CONFIG_VARIABLE: Final = "UNIKO_CONFIG"
"""Names the configuration file, for clients that can set variables but no arguments."""

_HERE: Final = Path()
_SECRET_FILE: Final = "file:"


@dataclass(frozen=True, slots=True)
class _Given:
    """A value that somebody set, and where."""

    value: Any
    origin: str


def load_settings(
    options: Mapping[str, Any] | None = None,
    *,
    config_file: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """The settings from `options` (nested by setting), then the environment, then the file, then the defaults.

    Relative paths start from the working directory, those in the file from the folder of the file. An empty variable
    counts as not set. Without `config_file`, the variable UNIKO_CONFIG may name one.

    Raises:
        ConfigError: A name is unknown (the nearest known one is named), or a value cannot be used; the message names
            the setting, the value unless it is secret, and where it was set.
    """
    file = config_file or environ.get(CONFIG_VARIABLE)
    given = _from_file(Path(file)) if file else {}
    given |= _from_environment(environ)
    given |= _from_options(options or {})
    try:
        settings = Settings.model_validate(_nested(given))
    except ValidationError as error:
        faults = "; ".join(_explain(fault, given) for fault in error.errors(include_url=False))
        raise ConfigError(faults) from None
    if settings.extraction.llm and settings.llm.model is None:
        raise ConfigError(
            f"extraction.llm True ({given['extraction.llm'].origin}): needs llm.model, the language model that reads",
            next_step="Name one, or leave extraction.llm out",
        )
    return settings


def variable_of(name: str) -> str:
    """The environment variable that sets a setting, such as UNIKO_NOSTR__RELAYS for nostr.relays."""
    return PREFIX + name.upper().replace(".", "__")


@cache
def setting_fields() -> Mapping[str, FieldInfo]:
    """Every setting by its dotted name."""
    return dict(_leaves(Settings))


def _leaves(section: type[Section], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for key, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from _leaves(field.annotation, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", field


def _from_options(options: Mapping[str, Any]) -> dict[str, _Given]:
    return {name: _given(name, value, "option", _HERE) for name, value in _flatten(options, "the options")}


def _from_environment(environ: Mapping[str, str]) -> dict[str, _Given]:
    names = {variable_of(name): name for name in setting_fields()}
    given: dict[str, _Given] = {}
    for variable, text in environ.items():
        if not variable.upper().startswith(PREFIX) or variable == CONFIG_VARIABLE or not text.strip():
            continue
        if variable not in names:
            raise _unknown(f"environment variable {variable}", variable.upper(), [*names, CONFIG_VARIABLE])
        name = names[variable]
        given[name] = _given(name, _decode(name, text, variable), variable, _HERE)
    return given


def _from_file(path: Path) -> dict[str, _Given]:
    path = _resolve(path, _HERE, "--config")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise ConfigError(f"the configuration file {path} cannot be read: {reason}") from error
    content = _parse(text, str(path))
    if not isinstance(content, dict):
        raise ConfigError(f"{path} does not hold an object", next_step='Begin with {, as in {"agent_id": "assistant"}')
    settings = {key: value for key, value in cast(dict[str, Any], content).items() if key != "$schema"}
    return {
        name: _given(name, value, str(path), path.parent, literal_secrets=False)
        for name, value in _flatten(settings, str(path))
    }


def _parse(text: str, origin: str) -> Any:
    """JSONC: JSON with comments and trailing commas."""
    import json5

    try:
        return json5.loads(text, allow_duplicate_keys=False)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{origin} is not valid JSON: {str(error).removeprefix('<string>:')}") from None


def _decode(name: str, text: str, origin: str) -> Any:
    """Lists and objects may be written as JSON in a variable; everything else is text that the model reads."""
    if text.lstrip().startswith(("[", "{")) and not _holds(name, SecretStr):
        return _parse(text, origin)
    return text


def _flatten(values: Mapping[str, Any], origin: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        name = f"{prefix}{key}"
        if name in setting_fields():
            yield name, value
        elif any(known.startswith(f"{name}.") for known in setting_fields()):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{name} in {origin} must be an object")
            yield from _flatten(cast(Mapping[str, Any], value), origin, f"{name}.")
        else:
            raise _unknown(f"setting {name} in {origin}", name, setting_fields())


def _unknown(what: str, name: str, known: Iterable[str]) -> ConfigError:
    return ConfigError(f"unknown {what}", next_step=nearest(name, known))


def _given(name: str, value: Any, origin: str, folder: Path, *, literal_secrets: bool = True) -> _Given:
    if _holds(name, Path) and isinstance(value, (str, Path)):
        value = _resolve(value, folder, origin)
    if _holds(name, tuple[Path, ...]):
        value = _resolve_all(split(value), folder, origin)
    if _holds(name, SecretStr) and isinstance(value, (str, SecretStr)):
        value = _secret(name, value, origin, folder, literal=literal_secrets)
    return _Given(value, origin)


def _secret(name: str, value: str | SecretStr, origin: str, folder: Path, *, literal: bool) -> SecretStr:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if not text.startswith(_SECRET_FILE):
        if literal:
            return SecretStr(text.strip())
        raise ConfigError(
            f"{name} in {origin} is written out, and a secret does not belong in a configuration file",
            next_step=f"Put it into a file of its own and write file: and its path, or set {variable_of(name)}",
        )
    path = _resolve(text.removeprefix(_SECRET_FILE), folder, origin)
    try:
        return SecretStr(path.read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"{name} ({origin}) names the file {path}, which cannot be read") from None


def _resolve(path: str | Path, folder: Path, origin: str) -> Path:
    try:
        resolved = (folder / Path(path).expanduser()).resolve()
        str(resolved).encode("utf-8")  # it is shown in results, which are JSON
        return resolved
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"{str(path)!r} ({origin}) is not a usable path: {error}") from None


def _resolve_all(paths: Any, folder: Path, origin: str) -> Any:
    if not isinstance(paths, (list, tuple)):
        return paths
    items = cast(Sequence[Any], paths)
    return tuple(_resolve(path, folder, origin) if isinstance(path, (str, Path)) else path for path in items)


def _holds(name: str, kind: Any) -> bool:
    annotation: object = setting_fields()[name].annotation
    return annotation == kind or annotation == kind | None


def _nested(given: Mapping[str, _Given]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, setting in given.items():
        *groups, key = name.split(".")
        branch = tree
        for group in groups:
            branch = branch.setdefault(group, {})
        branch[key] = setting.value
    return tree


def _explain(fault: ErrorDetails, given: Mapping[str, _Given]) -> str:
    path = ".".join(str(step) for step in fault["loc"])
    name = next(name for name in given if path == name or path.startswith(f"{name}."))
    shown = "" if _holds(name, SecretStr) else f" {fault['input']!r}"
    return f"{path}{shown} ({given[name].origin}): {_problem(fault, name)}"


def _problem(fault: ErrorDetails, name: str) -> str:
    match fault["type"]:
        case "extra_forbidden":
            return f"is not a known key. {nearest(str(fault['loc'][-1]), _keys_of_items(name))}"
        case "missing":
            return "is required"
        case "string_too_short":
            return "is blank"
        case "string_unicode":
            return "is not valid UTF-8"
        case _:
            return fault["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)


def _keys_of_items(name: str) -> Iterable[str]:
    """The keys that each object may have in a setting that is a list of objects."""
    items = cast(tuple[type[Section], ...], get_args(setting_fields()[name].annotation))
    return items[0].model_fields
