"""Which memories a query may see: permissions and filters, decided before anything is ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.recall.query import RecallQuery, Window
from uniko_mcp.store.index.columns import NOWHERE, UNKNOWN_TIME, Columns, Records
from uniko_mcp.store.index.labels import Labels


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows a query may use, as masks over all rows.

    `readable` passes every filter but that of kinds: chunks vouch for their message even when only messages are wanted.
    `wanted` may be returned. `windowed` tells that the query names nothing but a time, of which they are: then all that
    is wanted answers it.
    """

    columns: Columns
    readable: NDArray[np.bool_]
    wanted: NDArray[np.bool_]
    windowed: bool = False

    def narrowed(self, inside: NDArray[np.bool_], *, windowed: bool) -> Scope:
        """The part of the scope that is in a mask over all rows."""
        return replace(self, readable=self.readable & inside, wanted=self.wanted & inside, windowed=windowed)


def find_scope(query: RecallQuery, columns: Columns, labels: Labels) -> Scope:
    """The scope of a query, whatever time its words name."""
    records = columns.records
    readable: NDArray[np.bool_] = records["alive"] & _visible(records, query.viewer, labels)
    if query.known_until is not None:
        readable &= records["timestamp"] < query.known_until
    if not query.include_superseded:
        readable &= _in_force(query, records, labels)
    if query.filters_origins:
        readable &= _comes_from(query, columns, labels)
    wanted = readable
    if query.kinds:
        wanted = readable & np.isin(records["kind"], labels.codes("kind", query.kinds))
    return Scope(columns, readable, wanted)


def in_windows(columns: Columns, windows: Sequence[Window], *, said_only: bool = False) -> NDArray[np.bool_]:
    """For each row, whether it was said in one of the windows or, unless `said_only`, is about a time in it.

    What has no known end, such as a fact that holds to this day, is about the time in which it begins: otherwise it
    would be in every window after that.
    """
    records = columns.records
    inside = np.zeros(len(columns), dtype=bool)
    if not windows:
        return inside
    said, start, end = records["timestamp"], records["about_from"], records["about_to"]
    until = np.where(end == UNKNOWN_TIME, start + 1, end)
    for window in windows:
        inside |= (said >= window.start) & (said < window.end)
        if not said_only:
            inside |= (start != UNKNOWN_TIME) & (start < window.end) & (until > window.start)
    return inside


def _visible(records: Records, viewer: str, labels: Labels) -> NDArray[np.bool_]:
    public = records["owner"] == NOWHERE
    own = labels.code("owner", viewer)
    return public if own == NOWHERE else public | (records["owner"] == own)


def _in_force(query: RecallQuery, records: Records, labels: Labels) -> NDArray[np.bool_]:
    """False for what another document had replaced by then, and for facts that hold only before or only after.

    Valid time is [about_from, about_to).
    """
    moment = query.moment
    after = moment + 1 if query.known_until is None else query.known_until
    start, end, superseded = records["about_from"], records["about_to"], records["superseded_at"]
    holds = ((start == UNKNOWN_TIME) | (start < after)) & ((end == UNKNOWN_TIME) | (end > moment))
    holds |= records["kind"] != labels.code("kind", "Fact")
    return holds & ((superseded == UNKNOWN_TIME) | (superseded > moment))


def _comes_from(query: RecallQuery, columns: Columns, labels: Labels) -> NDArray[np.bool_]:
    """Whether a document is of the conversations, people and times asked for, or one source that it rests on is.

    A fact is also of the time at which it begins to hold.
    """
    records, origins = columns.records, columns.origins
    sessions = None if query.session_ids is None else labels.codes("session", query.session_ids)
    senders = _senders(query.participants, records, labels) if query.participants else None

    def matches(of: Records | NDArray[np.void]) -> NDArray[np.bool_]:
        matching = np.ones(len(of["sender"]), dtype=bool)
        if sessions is not None:
            matching &= np.isin(of["session"], sessions)
        if senders is not None:
            matching &= np.isin(of["sender"], senders)
        return matching

    own, others = matches(records), matches(origins)
    if query.since is not None or query.until is not None:
        begins = _within(query, records["about_from"]) & (records["kind"] == labels.code("kind", "Fact"))
        own &= _within(query, records["timestamp"]) | begins
        others &= _within(query, origins["said_at"])
    own[origins["row"][others]] = True
    return own


def _senders(participants: Sequence[str], records: Records, labels: Labels) -> NDArray[np.intp]:
    """The label codes of those whose id is given, or who speak under a name that is."""
    named = np.isin(records["sender_name"], labels.alike("sender_name", participants))
    speaking = np.flatnonzero(np.bincount(records["sender"][named]))
    return np.union1d(speaking, labels.alike("sender", participants)).astype(np.intp)


def _within(query: RecallQuery, times: NDArray[np.int64]) -> NDArray[np.bool_]:
    within = times != UNKNOWN_TIME
    if query.since is not None:
        within &= times >= query.since
    if query.until is not None:
        within &= times < query.until
    return within
