"""Which memories a query may see: permissions and filters, decided before anything is ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uniko_mcp.models import time
from uniko_mcp.recall.query import RecallQuery, Window
from uniko_mcp.store.index.columns import NOWHERE, UNKNOWN_TIME, Columns
from uniko_mcp.store.index.labels import Labels


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows a query may use, as masks over all rows.

    `readable` passes every filter but that of kinds: chunks vouch for their message even when only messages are wanted.
    `wanted` may be returned. `windowed` tells that a phrase like "last week" narrowed both.
    """

    columns: Columns
    readable: NDArray[np.bool_]
    wanted: NDArray[np.bool_]
    windowed: bool


def find_scope(query: RecallQuery, windows: Sequence[Window], columns: Columns, labels: Labels) -> Scope:
    """The scope of a query. A relative window filters unless nothing was said in it."""
    records = columns.records
    readable: NDArray[np.bool_] = records["alive"] & _visible(records, query.viewer, labels)
    if not query.include_superseded:
        moment = time.now() if query.reference_time is None else query.reference_time
        readable &= ~records["superseded"] & _true_at(moment, records, labels)
    if query.session_ids is not None:
        readable &= np.isin(records["session"], labels.codes("session", query.session_ids))
    if query.participants:
        readable &= _said_by(records, query.participants, labels)
    if query.since is not None:
        readable &= records["timestamp"] >= query.since
    if query.until is not None:
        readable &= records["timestamp"] < query.until
    wanted = readable
    if query.kinds:
        wanted = readable & np.isin(records["kind"], labels.codes("kind", query.kinds))
    inside = in_windows(columns, [window for window in windows if window.relative])
    windowed = bool((wanted & inside).any())
    if windowed:
        readable, wanted = readable & inside, wanted & inside
    return Scope(columns, readable, wanted, windowed)


def in_windows(columns: Columns, windows: Sequence[Window]) -> NDArray[np.bool_]:
    """For each row, whether it was said in one of the windows or is about a time in it."""
    records = columns.records
    inside = np.zeros(len(records), dtype=bool)
    for window in windows:
        said, start, end = records["timestamp"], records["about_from"], records["about_to"]
        inside |= (said >= window.start) & (said < window.end)
        inside |= (start != UNKNOWN_TIME) & (start < window.end) & ((end == UNKNOWN_TIME) | (end > window.start))
    return inside


def _visible(records: NDArray[np.void], viewer: str, labels: Labels) -> NDArray[np.bool_]:
    public = records["owner"] == NOWHERE
    own = labels.code("owner", viewer)
    return public if own == NOWHERE else public | (records["owner"] == own)


def _true_at(moment: int, records: NDArray[np.void], labels: Labels) -> NDArray[np.bool_]:
    """False for facts that hold only before or after the moment: valid time is [about_from, about_to)."""
    start, end = records["about_from"], records["about_to"]
    holds = ((start == UNKNOWN_TIME) | (start <= moment)) & ((end == UNKNOWN_TIME) | (end > moment))
    return holds | (records["kind"] != labels.code("kind", "Fact"))


def _said_by(records: NDArray[np.void], participants: Sequence[str], labels: Labels) -> NDArray[np.bool_]:
    by_id = np.isin(records["sender"], labels.codes("sender", participants))
    return by_id | np.isin(records["sender_name"], labels.codes("sender_name", participants))
