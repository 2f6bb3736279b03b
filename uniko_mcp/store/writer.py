"""The writer: one thread that plans, journals, acknowledges and applies, so that concurrent writes share a commit."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from uniko_mcp.errors import StoreClosedError, StoreError
from uniko_mcp.models.changes import ChangeSet
from uniko_mcp.store.draft import Draft, KnownNodes
from uniko_mcp.store.journal import Entry, Journal
from uniko_mcp.store.status import Commit
from uniko_mcp.store.transaction import Transaction, UncommittedError
from uniko_mcp.store.view import View

if TYPE_CHECKING:
    from uniko_mcp.store.graph import Graph

T = TypeVar("T")
Listener: TypeAlias = Callable[[Commit], None]

_log = logging.getLogger(__name__)

_PLANS_PER_COMMIT: Final = 256
_IDLE_SECONDS: Final = 2.0
_CLOSING_SECONDS: Final = 1.0

RETRY_SECONDS: Final = 5.0
"""How long a repair that failed is left alone: each try may build the whole graph, and calls wait for it."""

# What may stand in Kuzu's log, and so in memory: after an idle moment, and at most.
_IDLE_LOG_BYTES: Final = 256 << 10
_LOG_BYTES: Final = 16 << 20
_CHECKPOINT_PATIENCE_SECONDS: Final = 0.05  # readers that come meanwhile wait as long


@dataclass(frozen=True, slots=True)
class _Request:
    """A plan of a change set; with `alone`, a task for the writer thread that runs between two commits."""

    run: Callable[[Any], Any]
    future: Future[Any]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class _Planned:
    """A plan that succeeded, and the change set that still has to become durable."""

    future: Future[Any]
    result: Any
    changes: ChangeSet


class Writer:
    """Owns the journal and the graph of an open store.

    A write is acknowledged as soon as its line is on disk. The graph follows at once, and whoever reads waits for it.
    """

    def __init__(
        self,
        journal: Journal,
        graph: Graph,
        repair: Callable[[], None],
        when_idle: Callable[[], None],
        *,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        """Start the thread.

        Args:
            journal: The open journal.
            graph: The open graph, which holds all of the journal.
            repair: Makes the graph hold all of the journal when it could not apply a change set.
            when_idle: Called on the writer thread after a pause in writing.
            retry_seconds: How long a repair that failed is left alone before a call has it tried again.
        """
        self.journal: Final = journal
        self.graph: Final = graph
        self.failure: StoreError | None = None
        self.sequence = max(journal.last, graph.sequence)
        self._repair = repair
        self._when_idle = when_idle
        self._retry_seconds = retry_seconds
        self._retry_at = 0.0
        self._known = KnownNodes()
        self._log_limit = _LOG_BYTES
        self._listeners: list[Listener] = []
        self._waiting: deque[_Request] = deque()
        self._arrived = threading.Condition()
        self._followed = threading.Condition()
        self._closing_until: float | None = None
        self._thread = threading.Thread(target=self._run, name="uniko-store-writer", daemon=True)
        self._thread.start()

    def submit(self, plan: Callable[[Draft], T]) -> Future[T]:
        """Queue a plan. Its future is done once the change set is durable, or fails with nothing written.

        While the graph cannot be repaired every plan fails: what it would read is not what was acknowledged.
        """
        return self._enqueue(_Request(plan, Future()))

    def between_commits(self, task: Callable[[], T]) -> Future[T]:
        """Queue a task for the writer thread; it runs when everything before it is in the graph."""
        return self._enqueue(_Request(lambda _: task(), Future(), alone=True))

    def read(self, query: Callable[[View], T]) -> T:
        """Run a query in the calling thread. It sees every write that was acknowledged before the call.

        Raises:
            StoreError: The graph does not hold them, and could not be repaired.
        """
        wanted = self.sequence
        with self._followed:
            self._followed.wait_for(lambda: self.graph.sequence >= wanted or self.failure)
        if self.failure and self._retry_is_due:
            self.between_commits(self._retry).result()
        if failure := self.failure:
            raise failure
        return self.graph.read(query)

    def on_commit(self, listener: Listener) -> Callable[[], None]:
        """Call the listener on the writer thread after each change set; the answer ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def announce(self, commits: Iterable[Commit]) -> None:
        """Tell the listeners. Called on the writer thread; the fault of one is logged and keeps from nothing."""
        for commit in commits:
            for listener in tuple(self._listeners):
                try:
                    listener(commit)
                except Exception:
                    _log.exception("a listener failed on change set %d", commit.sequence)

    def close(self) -> None:
        """Finish what was submitted, as far as a second allows, then end the thread."""
        with self._arrived:
            if self._closing_until is None:
                self._closing_until = time.monotonic() + _CLOSING_SECONDS
            self._arrived.notify()
        self._thread.join()

    def _enqueue(self, request: _Request) -> Future[Any]:
        with self._arrived:
            if self._closing_until is not None:
                raise StoreClosedError("the store is closed")
            self._waiting.append(request)
            self._arrived.notify()
        return request.future

    def _run(self) -> None:
        pause: float | None = _IDLE_SECONDS
        while True:
            if not self._wait(pause):
                self._tend()
                pause = None
                continue
            requests = self._take()
            if not requests:
                return
            pause = _IDLE_SECONDS
            if requests[0].alone:
                _settle(requests[0])
                self._known.forget()
                self.sequence = max(self.sequence, self.graph.sequence)
            else:
                self._commit(requests)
            self._relieve(self._log_limit)

    def _wait(self, pause: float | None) -> bool:
        with self._arrived:
            return self._arrived.wait_for(lambda: bool(self._waiting) or self._closing_until is not None, pause)

    def _take(self) -> list[_Request]:
        """The plans that wait, or the one task that is next; nothing when the writer is to end."""
        with self._arrived:
            if self._closing_until is not None and time.monotonic() > self._closing_until:
                while self._waiting:
                    _refuse(
                        self._waiting.popleft().future, StoreClosedError("the store was closed before this call ran")
                    )
            taken: list[_Request] = []
            while self._waiting and len(taken) < _PLANS_PER_COMMIT and not (taken and self._waiting[0].alone):
                taken.append(self._waiting.popleft())
                if taken[-1].alone:
                    break
            return taken

    def _tend(self) -> None:
        if self.failure:
            return
        self._relieve(_IDLE_LOG_BYTES)
        try:
            self._when_idle()
        except OSError as error:
            _log.warning("the data directory cannot be looked after: %s", error)

    def _relieve(self, limit: int) -> None:
        """Checkpoint when Kuzu's log is longer than the limit; while a long query runs, not at each commit anew.

        A checkpoint that fails costs nothing: the log is kept, and the graph's file without its seal is not trusted.
        """
        length = self.graph.log_bytes
        if length <= limit:
            return
        try:
            done = self.graph.checkpoint(_CHECKPOINT_PATIENCE_SECONDS)
        except (StoreError, OSError) as error:
            _log.warning("the graph could not be checkpointed: %s", error)
            done = False
        self._log_limit = _LOG_BYTES if done else length + _LOG_BYTES // 4

    def _commit(self, requests: list[_Request]) -> None:
        self._retry()
        transaction = self.graph.transaction()
        planned = self._plan_all(requests, transaction)
        changed = [done for done in planned if len(done.changes)]
        recorded_at = time.time_ns() // 1000
        commits = [Commit(self.sequence + i, done.changes, recorded_at) for i, done in enumerate(changed, 1)]
        try:
            if commits:
                self.journal.append([Entry.of(each.sequence, each.recorded_at, each.changes) for each in commits])
        except OSError as error:
            transaction.rollback()
            self._known.forget()
            for done in planned:
                _refuse(done.future, _journal_failure(self.journal.path, error))
            return
        self.sequence += len(commits)
        for done in planned:
            done.future.set_result(done.result)
        if commits:
            self._follow(transaction)
            self.announce(commits)
        else:
            transaction.rollback()

    def _plan_all(self, requests: list[_Request], transaction: Transaction) -> list[_Planned]:
        """Run the plans up to the first that needs those before it committed; it and the rest go back to the queue."""
        planned: list[_Planned] = []
        for position, request in enumerate(requests):
            try:
                done = self._plan(request, transaction)
            except UncommittedError:
                with self._arrived:
                    self._waiting.extendleft(reversed(requests[position:]))
                break
            if done:
                planned.append(done)
        return planned

    def _plan(self, request: _Request, transaction: Transaction) -> _Planned | None:
        """Run one plan; None when it was cancelled before, or failed."""
        if not request.future.running() and not request.future.set_running_or_notify_cancel():
            return None
        if self.failure:
            request.future.set_exception(self.failure)
            return None
        draft = Draft(transaction.query, transaction.lookup, self._known)
        try:
            result = request.run(draft)
        except UncommittedError:
            raise
        except BaseException as error:  # whatever it is belongs to the caller; the thread serves the others
            request.future.set_exception(error)
            return None
        changes = draft.change_set()
        transaction.add(changes, draft.fresh)
        self._known.learn(draft)
        return _Planned(request.future, result, changes)

    def _follow(self, transaction: Transaction) -> None:
        """Bring the graph to what is acknowledged, by repair if need be."""
        try:
            transaction.commit(self.sequence)
        except Exception as error:  # whatever it is, the change sets are durable and the thread has to go on
            _log.warning("the graph could not apply a change set and is rebuilt: %s", error)
            self._known.forget()
            self._mend()
        with self._followed:
            self._followed.notify_all()

    @property
    def _retry_is_due(self) -> bool:
        return time.monotonic() >= self._retry_at

    def _retry(self) -> None:
        """Try the repair that failed before again, when it was left alone for long enough."""
        if self.failure and self._retry_is_due:
            self._mend()

    def _mend(self) -> None:
        """Repair the graph; what keeps from it stands as the failure until a later try succeeds."""
        try:
            self._repair()
        except Exception as failure:
            self._retry_at = time.monotonic() + self._retry_seconds
            self.failure = StoreError(
                f"the graph cannot follow the journal: {_reason(failure)}",
                next_step="Nothing acknowledged is lost. Free disk space or memory, then try again",
            )
            _log.error("%s", self.failure)
        else:
            self.failure = None


def _settle(request: _Request) -> None:
    """Run a task and hand over what comes of it."""
    if not request.future.set_running_or_notify_cancel():
        return
    try:
        request.future.set_result(request.run(None))
    except BaseException as error:
        request.future.set_exception(error)


def _refuse(future: Future[Any], error: Exception) -> None:
    if future.running() or future.set_running_or_notify_cancel():
        future.set_exception(error)


def _reason(failure: Exception) -> str:
    return failure.message if isinstance(failure, StoreError) else str(failure)


def _journal_failure(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"cannot write {path}: {error.strerror or error}",
        next_step="Nothing of this call was written. Free disk space or mend the permissions, then try again",
    )
