"""The command `demo`: a short agent's day, played through the real server over real stdio in a temporary folder."""

from __future__ import annotations

import json
import os
import signal
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, cast

import click

from uniko_mcp.cli.clients import client_guide, this_program
from uniko_mcp.cli.story import DAY, NEXT_DAY, Scene, Step

if TYPE_CHECKING:
    from mcp import Client

_WIDTH: Final = 96


@click.command(short_help="Watch an agent's day, in a temporary folder.")
def demo() -> None:
    """Play a short agent's day through the real server, over MCP, in a temporary folder.

    It plans, talks, works and learns; the server is killed; and the next day everything is still there.
    """
    import tempfile

    import anyio

    with tempfile.TemporaryDirectory(prefix="uniko-mcp-demo-", ignore_cleanup_errors=True) as folder:
        anyio.run(_play, Path(folder))
    click.echo(client_guide(this_program()))


async def _play(folder: Path) -> None:
    from mcp import Client, StdioServerParameters

    program, *arguments = this_program()
    server = StdioServerParameters(command=program, args=[*arguments, "--data-dir", str(folder)])
    _say("An agent's day with uniko-mcp", bold=True)
    _say(f"Each call below goes to the real server, over MCP. Its memory is in {folder}.")
    started = perf_counter()
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        _say(f"The server offers {len(tools)} tools, and was ready after {perf_counter() - started:.1f} s.")
        await _perform(client, DAY)
        remembered = await _count(client)
        killed = _kill_server(folder)
    _heading("kill -9")
    click.echo()
    _say(f"The server, process {killed}, is gone. It could not save, close or say goodbye.")
    async with Client(server) as client:
        still_there = await _count(client)
        _say(f"It held {remembered} memories. A new server on the same folder holds {still_there}.")
        if still_there < remembered:
            raise click.ClickException(f"{remembered - still_there} memories were lost, which must never happen")
        await _perform(client, NEXT_DAY)
    calls = sum(len(scene.steps) for scene in (*DAY, *NEXT_DAY))
    click.echo()
    _say(f"{calls} calls, all answered; nothing was lost. The folder is removed again.", bold=True)
    click.echo()


async def _perform(client: Client, scenes: Sequence[Scene]) -> None:
    for scene in scenes:
        _heading(scene.title)
        for step in scene.steps:
            await _call(client, step)


async def _call(client: Client, step: Step) -> None:
    click.echo()
    _show_call(step)
    for line in step.answer(await _answer(client, step.tool, step.arguments)):
        _show_answer(line)


async def _count(client: Client) -> int:
    return sum((await _answer(client, "memory_status", {}))["counts"].values())


async def _answer(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    if result.is_error or result.structured_content is None:
        raise click.ClickException(f"{tool} failed: {getattr(result.content[0], 'text', '')}")
    return result.structured_content


def _kill_server(folder: Path) -> int:
    """Kill the server in the one way that no program can prevent. Its lock file says which process it is."""
    from uniko_mcp.store.lock import LOCK_NAME

    pid: int = json.loads((folder / LOCK_NAME).read_text(encoding="utf-8"))["pid"]
    os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows knows only SIGTERM, and kills with it
    return pid


def _heading(title: str) -> None:
    click.echo()
    click.secho(f"── {title} ".ljust(_WIDTH, "─"), fg="cyan")


def _say(text: str, *, bold: bool = False) -> None:
    click.secho(textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False), bold=bold)


def _show_call(step: Step) -> None:
    first, *others = _wrapped(_written(step))
    click.echo("  " + click.style(step.tool, fg="green", bold=True) + first.removeprefix(step.tool))
    for line in others:
        click.echo(f"  {line}")


def _show_answer(line: str) -> None:
    click.echo(textwrap.fill(line, _WIDTH, initial_indent="    → ", subsequent_indent="      ", break_long_words=False))


def _wrapped(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())] + "    "
        yield from textwrap.wrap(line, _WIDTH - 2, subsequent_indent=indent, break_long_words=False)


def _written(step: Step) -> str:
    """The call as a line of code; lists of objects have a line for each."""
    return f"{step.tool}({_pairs(step.arguments)})"


def _pairs(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in fields.items())


def _value(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        objects = cast(list[dict[str, Any]], value)
        return "[\n" + "".join(f"    {{{_pairs(fields)}}},\n" for fields in objects) + "]"
    return json.dumps(value, ensure_ascii=False)
