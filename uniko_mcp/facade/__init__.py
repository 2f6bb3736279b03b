"""The memory as a Python library: the operations of the catalogue as typed methods, without MCP.

    async with uniko_mcp.open("~/memory") as memory:
        agent = memory.agent("assistant")
        goal = await agent.goals().create(title="Ship the beta")
        await agent.goals().complete(goal.goal_id, {"users": 12})

Every call goes through the same validation as a tool call. Times may be given as datetimes, dates (which cover their
day) or text; datetimes without a zone are taken in the configured one. Times in results are integer microseconds since
1970 UTC, of which `uniko_mcp.models.time.to_datetime` makes datetimes.

Every method may raise `UnikoError`: `InvalidArgumentsError` for a wrong argument, `IdConflictError` for an id that was
used for something else, `ReadOnlyError` for a write to a memory opened read-only, `StoreError` when the disk fails.
"""

from uniko_mcp.facade.agent import Agent
from uniko_mcp.facade.caller import MessageInput, When
from uniko_mcp.facade.goals import Goals
from uniko_mcp.facade.memory import Memory, open_memory

__all__ = ["Agent", "Goals", "Memory", "MessageInput", "When", "open_memory"]
