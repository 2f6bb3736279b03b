"""The catalogue: what an operation is, and the list that tools, facade, command line and schemas derive from."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

from uniko_mcp.errors import UnknownOperationError
from uniko_mcp.models.nearest import nearest
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.store import Draft, View


class Params(BaseModel):
    """Base of all parameter models: unknown arguments are refused, values are not coerced across types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def values(self) -> dict[str, Any]:
        """The validated values by name, as they are inside."""
        return dict(self)


class Result(BaseModel):
    """Base of all result models."""

    model_config = ConfigDict(frozen=True)

    def as_json(self) -> dict[str, Any]:
        """What a client sees: fields that are None are left out; a null inside the caller's own object stays."""
        return self.model_dump(mode="json", exclude_none=True)


P = TypeVar("P", bound=Params)
R = TypeVar("R", bound=Result)
Family: TypeAlias = Literal["notes", "goals", "record", "conversation", "recall", "curate"]


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may assume of a call, as in the tool annotations of MCP."""

    read_only: bool
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False


READS: Final = Hints(read_only=True)
ADDS: Final = Hints(read_only=False, idempotent=False)
CHANGES: Final = Hints(read_only=False)
REMOVES: Final = Hints(read_only=False, destructive=True)


@dataclass(frozen=True, slots=True)
class Query(Generic[P, R]):
    """A handler that reads one snapshot of the graph."""

    run: Callable[[View, Call, P], R]


@dataclass(frozen=True, slots=True)
class Plan(Generic[P, R]):
    """A handler that plans one change set. It may run twice, so it has no effect but on its draft."""

    run: Callable[[Draft, Call, P], R]


@dataclass(frozen=True, slots=True)
class Service(Generic[P, R]):
    """A handler that works with more than the graph: notes, the rank index, a language model."""

    run: Callable[[Services, Call, P], Awaitable[R]]


@dataclass(frozen=True, slots=True)
class Operation(Generic[P, R]):
    """One thing the memory can do: its name, models, description for a model to read, hints and handler.

    `own_id` names the parameter that carries the caller's own id. When the caller leaves it out it is decided before
    anything else happens, so that a retry on the way is recognised. `prepare` does the same for ids inside of lists.
    """

    name: str
    title: str
    description: str
    family: Family
    params: type[P]
    result: type[R]
    hints: Hints
    handler: Query[P, R] | Plan[P, R] | Service[P, R]
    own_id: str | None = None
    prepare: Callable[[P], P] | None = None


AnyOperation: TypeAlias = Operation[Any, Any]


def reads(title: str, family: Family) -> Callable[[Callable[[View, Call, P], R]], Operation[P, R]]:
    """Make an operation of a function that reads the graph. Its docstring is the description."""

    def make(run: Callable[[View, Call, P], R]) -> Operation[P, R]:
        return _operation(run, Query(run), title=title, family=family, hints=READS)

    return make


def writes(
    title: str,
    family: Family,
    hints: Hints = ADDS,
    *,
    own_id: str | None = None,
    prepare: Callable[[Any], Any] | None = None,
) -> Callable[[Callable[[Draft, Call, P], R]], Operation[P, R]]:
    """Make an operation of a function that plans a change set. Its docstring is the description."""

    def make(run: Callable[[Draft, Call, P], R]) -> Operation[P, R]:
        return _operation(run, Plan(run), title=title, family=family, hints=hints, own_id=own_id, prepare=prepare)

    return make


def serves(
    title: str,
    family: Family,
    hints: Hints = READS,
    *,
    own_id: str | None = None,
    prepare: Callable[[Any], Any] | None = None,
) -> Callable[[Callable[[Services, Call, P], Awaitable[R]]], Operation[P, R]]:
    """Make an operation of an async function that works with the services. Its docstring is the description."""

    def make(run: Callable[[Services, Call, P], Awaitable[R]]) -> Operation[P, R]:
        return _operation(run, Service(run), title=title, family=family, hints=hints, own_id=own_id, prepare=prepare)

    return make


def _operation(
    run: Callable[..., Any],
    handler: Query[P, R] | Plan[P, R] | Service[P, R],
    *,
    title: str,
    family: Family,
    hints: Hints,
    own_id: str | None = None,
    prepare: Callable[[P], P] | None = None,
) -> Operation[P, R]:
    annotations = inspect.get_annotations(run, eval_str=True)
    return Operation(
        name=run.__name__,
        title=title,
        description=inspect.cleandoc(run.__doc__ or ""),
        family=family,
        params=annotations["params"],
        result=annotations["return"],
        hints=hints,
        handler=handler,
        own_id=own_id,
        prepare=prepare,
    )


class Catalogue(Mapping[str, AnyOperation]):
    """All operations by name, in the order in which a client is shown them."""

    def __init__(self, operations: Iterable[AnyOperation]) -> None:
        self._operations = {operation.name: operation for operation in operations}

    def __getitem__(self, name: str) -> AnyOperation:
        return self._operations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._operations)

    def __len__(self) -> int:
        return len(self._operations)

    def find(self, name: str) -> AnyOperation:
        """The operation of that name.

        Raises:
            UnknownOperationError: There is none; the message names the nearest.
        """
        if operation := self._operations.get(name):
            return operation
        raise UnknownOperationError(f"there is no operation {name!r}", next_step=nearest(name, self._operations))

    def select(self, names: Iterable[str], *, read_only: bool = False) -> Catalogue:
        """The operations of these names or families, in this catalogue's order; all of them when `names` is empty.

        Raises:
            UnknownOperationError: A name is neither an operation nor a family.
        """
        wanted = list(names)
        families = {operation.family for operation in self.values()}
        for name in wanted:
            if name not in families:
                self.find(name)
        return Catalogue(
            operation
            for operation in self.values()
            if (not wanted or operation.name in wanted or operation.family in wanted)
            and (operation.hints.read_only or not read_only)
        )
