"""The options that say which memory is meant. They may stand before or after the command; the later one wins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from uniko_mcp.config import Settings

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class Given:
    """What stood on the command line: the configuration file, and the settings by name."""

    config_file: str | None = None
    settings: dict[str, Any] = field(default_factory=dict[str, Any])


def settings_options(command: Callable[P, R]) -> Callable[P, R]:
    """Let a command take the options of the settings."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def with_settings(command: Callable[Concatenate[Settings, P], R]) -> Callable[P, R]:
    """Call a command with the settings that its options, the environment and the file make."""

    @settings_options
    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return command(_load(), *args, **kwargs)

    return run


def _load() -> Settings:
    from uniko_mcp.settings_sources import load_settings

    given = _given()
    return load_settings(given.settings, config_file=given.config_file)


def _given() -> Given:
    return click.get_current_context().find_root().ensure_object(Given)


def _remember(_: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value in (None, False):
        return
    if parameter.name == "config_file":
        _given().config_file = value
    else:
        _given().settings[parameter.name] = value


def _option(flag: str, setting: str, purpose: str, **attributes: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(flag, setting, help=purpose, expose_value=False, callback=_remember, **attributes)


_OPTIONS: Final = (
    _option("--data-dir", "data_dir", "The folder that holds the memory.", metavar="FOLDER"),
    _option("--config", "config_file", "A configuration file (JSON with comments).", metavar="FILE"),
    _option("--agent", "agent_id", "The agent to remember for.", metavar="ID"),
    _option("--read-only", "read_only", "Leave out everything that writes.", is_flag=True),
    _option("--tools", "tools", "Tools or families of tools to offer, with commas between.", metavar="NAMES"),
    _option("--log-level", "log_level", "What is logged to stderr: debug, info, warning or error.", metavar="LEVEL"),
)
