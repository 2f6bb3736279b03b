"""The command `reindex`: the index that recall searches, built anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from uniko_mcp.cli.options import with_settings
from uniko_mcp.cli.run import run_with_services
from uniko_mcp.errors import ModelUnavailableError

if TYPE_CHECKING:
    from uniko_mcp.config import Settings
    from uniko_mcp.memory.indexer import Rebuilding
    from uniko_mcp.memory.recollection import RecollectionStatus
    from uniko_mcp.operations.call import Services


@click.command(short_help="Build the search index anew.")
@with_settings
def reindex(settings: Settings) -> None:
    """Build the index that recall searches anew from the memory, and give everything its vector."""

    def progress(rebuilding: Rebuilding) -> None:
        click.echo(f"{rebuilding.done:,} of about {rebuilding.total:,} indexed", err=True)

    async def run(services: Services) -> RecollectionStatus:
        documents = await services.recollection.reindex(progress)
        click.echo(f"{documents:,} indexed, now their vectors", err=True)
        await services.recollection.embedded()
        return await services.recollection.status()

    status = run_with_services(settings, run)
    click.echo(f"{status.documents:,} memories are indexed, {status.vectors.embedded:,} of them with a vector.")
    if status.vectors.state == "unavailable":
        raise ModelUnavailableError(f"They are found by their words alone: {status.vectors.reason}")
