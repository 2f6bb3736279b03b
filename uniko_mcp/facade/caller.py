"""How the facade calls an operation, and the types in which it takes arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, Required, TypeAlias, TypedDict, TypeVar, cast

from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import Operation, Params, Result
from uniko_mcp.operations.dispatch import dispatch

P = TypeVar("P", bound=Params)
R = TypeVar("R", bound=Result)

When: TypeAlias = datetime | date | str
"""A moment, or a day as a whole; as text RFC 3339."""

JsonObject: TypeAlias = Mapping[str, Any]
GoalPhase: TypeAlias = Literal["active", "planned", "completed", "abandoned"]
TaskPhase: TypeAlias = Literal["active", "planned", "blocked", "completed"]
NoteType: TypeAlias = Literal["short_term", "long_term"]
Visibility: TypeAlias = Literal["shared", "private"]


class MessageInput(TypedDict, total=False):
    """A message to record."""

    sender: Required[str]
    content: Required[str]
    role: str
    message_id: str
    timestamp: When
    addressed_to: Sequence[str]


@dataclass(frozen=True, slots=True)
class Caller:
    """An agent's way to the operations."""

    services: Services
    agent_id: str

    async def run(self, operation: Operation[P, R], /, **arguments: Any) -> R:
        """The result of an operation; arguments that are None count as left out."""
        self.services.reader.wake()  # a program is at work, for longer than one call
        call = Call(self.agent_id, self.services.settings)
        given = {name: _plain(value) for name, value in arguments.items() if value is not None}
        return cast(R, await dispatch(self.services, call, operation, given))


def _plain(value: Any) -> Any:
    """A value as a client would send it: any mapping as an object, any sequence as a list, times as text."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in cast(Mapping[str, Any], value).items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in cast(Sequence[Any], value)]
    return value.isoformat() if isinstance(value, date) else value
