"""The program `uniko-mcp`: its commands, and how its failures end."""

from __future__ import annotations

import io
import sys
from typing import Any

import click

from uniko_mcp import __version__
from uniko_mcp.cli.call import call
from uniko_mcp.cli.clients import client_guide, this_program
from uniko_mcp.cli.demo import demo
from uniko_mcp.cli.identity import identity
from uniko_mcp.cli.notes import notes
from uniko_mcp.cli.options import settings_options
from uniko_mcp.cli.prompt import prompt
from uniko_mcp.cli.recall import recall
from uniko_mcp.cli.record import record
from uniko_mcp.cli.reindex import reindex
from uniko_mcp.cli.schemas import schemas
from uniko_mcp.cli.serve import serve
from uniko_mcp.cli.status import status
from uniko_mcp.errors import UnikoError


class Program(click.Group):
    """The group of all commands; `serve` when none is named."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. An error of this package ends it with one line on stderr and the error's exit code."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            cause = _innermost(error)
            if isinstance(cause, UnikoError):
                click.echo(f"uniko-mcp: {' '.join(str(cause).split())}", err=True)
                ctx.exit(cause.exit_code)
            if cause is error:
                raise
            raise cause from error

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show what to paste into a client, as it is."""
        formatter.write("\n" + client_guide(this_program()) + "\n")


def _innermost(error: Exception) -> Exception:
    """The error itself: what leaves a task group comes wrapped in a group of one."""
    match error:
        case ExceptionGroup(exceptions=[Exception() as only]):
            return _innermost(only)
        case _:
            return error


@click.group(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@settings_options
@click.version_option(__version__, prog_name="uniko-mcp", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """A memory for any MCP client: goals, episodes, facts and notes that are still there tomorrow.

    Without a command it serves MCP on stdin and stdout, which is what a client starts.
    """
    _print_utf8()
    if ctx.invoked_subcommand is None:
        ctx.invoke(serve)


def _print_utf8() -> None:
    """Memories hold any script; what is printed must not depend on the code page of the terminal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


for _command in (serve, record, recall, status, call, prompt, notes, identity, reindex, schemas, demo):
    main.add_command(_command)
