"""The MCP server of this product, put together from its parts; every transport serves this one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp_types import PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability

from uniko_mcp import __version__
from uniko_mcp.config import Settings
from uniko_mcp.operations.call import Services
from uniko_mcp.operations.catalogue import Catalogue
from uniko_mcp.operations.curate import get_memory, memory_status
from uniko_mcp.operations.facts import search_facts
from uniko_mcp.operations.goals import list_goals
from uniko_mcp.operations.notes import memory_short_term_read, my_memory
from uniko_mcp.operations.recall import recall
from uniko_mcp.operations.tasks import goal_context
from uniko_mcp.server.completions import Completions
from uniko_mcp.server.instructions import Briefing, guide
from uniko_mcp.server.prompts import Prompts
from uniko_mcp.server.resources import Resources
from uniko_mcp.server.runner import OperationRunner
from uniko_mcp.server.subscriptions import Subscriptions
from uniko_mcp.server.tools import Tools

_HOUR_MS: Final = 3_600_000
_STATIC: Final[tuple[CacheableMethod, ...]] = ("tools/list", "prompts/list", "resources/templates/list")
"""What stays the same as long as the process lives."""

_INTERNAL: Final = (
    memory_short_term_read,
    my_memory,
    list_goals,
    goal_context,
    recall,
    search_facts,
    get_memory,
    memory_status,
)
"""What resources and prompts are read through, though the catalogue may not offer it as a tool."""


class MemoryServer(Server[dict[str, Any]]):
    """The server class of the product: it says in both protocol eras what changes while it runs, and what does not."""

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> ServerCapabilities:
        """Resources can be watched and come and go; tools and prompts stay as they are."""
        capabilities = super().get_capabilities(
            notification_options, experimental_capabilities, extensions, protocol_version=protocol_version
        )
        return capabilities.model_copy(
            update={
                "resources": ResourcesCapability(subscribe=True, list_changed=True),
                "tools": ToolsCapability(list_changed=False),
                "prompts": PromptsCapability(list_changed=False),
            }
        )


def build_server(settings: Settings, catalogue: Catalogue, services: Callable[[], Awaitable[Services]]) -> MemoryServer:
    """The server for these settings. `services` waits until the memory is open: the server can greet a client before.

    Raises:
        UnknownOperationError: `settings.tools` names what is neither a tool nor a family.
        ConfigError: A section of the prompt is to be filled by a tool that does not exist, or that writes.
    """
    runner = OperationRunner(settings, Catalogue([*catalogue.values(), *_INTERNAL]), services)
    selected = catalogue.select(settings.tools, read_only=settings.read_only)
    told = guide(selected)
    tools = Tools(runner, selected)
    subscriptions = Subscriptions(services)
    resources = Resources(runner, subscriptions)
    prompts = Prompts(runner)
    completions = Completions(runner)
    server = MemoryServer(
        "uniko-mcp",
        version=__version__,
        title="Uniko memory",
        description="A memory that outlives the session: goals, episodes, facts with their time, and their sources.",
        instructions=told,
        cache_hints={method: CacheHint(ttl_ms=_HOUR_MS) for method in _STATIC},
        lifespan=subscriptions.announcing,
        on_list_tools=tools.list_tools,
        on_call_tool=tools.call_tool,
        on_list_resources=resources.list_resources,
        on_list_resource_templates=resources.list_templates,
        on_read_resource=resources.read_resource,
        on_subscribe_resource=subscriptions.subscribe,
        on_unsubscribe_resource=subscriptions.unsubscribe,
        on_subscriptions_listen=subscriptions.listen,
        on_list_prompts=prompts.list_prompts,
        on_get_prompt=prompts.get_prompt,
        on_completion=completions.complete,
    )
    server.middleware.append(Briefing(told, services).greet)
    return server
