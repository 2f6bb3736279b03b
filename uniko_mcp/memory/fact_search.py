"""Searching facts: what is true now, what was true then, and what was believed at an earlier moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uniko_mcp.memory.facts import ABOUT_SUBJECT, to_fact
from uniko_mcp.memory.pages import Listing, Page, fetch_page
from uniko_mcp.memory.visibility import visible
from uniko_mcp.models.domain import Fact
from uniko_mcp.models.names import entity_id, normalise
from uniko_mcp.models.time import Span, format_instant
from uniko_mcp.store import View


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """Which facts are wanted. `as_of` asks for those true at some moment of the span, `known_at` for what was believed
    at its end; without either, and without `include_invalidated`, for those true now."""

    query: str | None = None
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    as_of: Span | None = None
    known_at: Span | None = None
    include_invalidated: bool = False

    @property
    def scope(self) -> str:
        """In words, which facts are searched."""
        if self.as_of is not None:
            believed = "believed then" if self.known_at else "believed now"
            scope = f"facts true at {format_instant(self.as_of.start)}, {believed}"
        elif self.known_at is not None:
            scope = f"facts believed at {format_instant(self.known_at.start)}"
        else:
            scope = "all facts, also those not true now" if self.include_invalidated else "facts true now"
        parts = [f"{part} {value!r}" for part in ("subject", "predicate", "object") if (value := getattr(self, part))]
        return f"{scope}, with {' and '.join(parts)}" if parts else scope


def search_facts(
    view: View, question: FactQuestion, *, viewer: str, now: int, limit: int, cursor: str | None, max_tokens: int
) -> Page[Fact]:
    """The facts that answer the question, last recorded first."""
    conditions = [visible("n")]
    parameters: dict[str, Any] = {"viewer": viewer}
    _match_triple(question, conditions, parameters)
    known_at = question.known_at.end - 1 if question.known_at else None
    _match_time(question, known_at, now, conditions, parameters)
    match = "MATCH (n:Fact)"
    if question.subject is not None:
        match, parameters["entity_id"] = ABOUT_SUBJECT, entity_id(question.subject)
    listing = Listing(
        match=match,
        condition=" AND ".join(conditions),
        parameters=parameters,
        key="fact_id",
        time="recorded_at",
    )
    return fetch_page(
        view,
        listing,
        lambda nodes: [to_fact(node, known_at=known_at) for node in nodes],
        limit=limit,
        cursor=cursor,
        max_tokens=max_tokens,
    )


def _match_triple(question: FactQuestion, conditions: list[str], parameters: dict[str, Any]) -> None:
    for part in ("subject", "predicate", "object"):
        wanted = getattr(question, part)
        if wanted is not None:
            conditions.append(f"n.{part}_key = ${part}")
            parameters[part] = normalise(wanted)
    for number, word in enumerate(normalise(question.query or "").split()):
        conditions.append(f"contains(n.subject_key + ' ' + n.predicate_key + ' ' + n.object_key, $word{number})")
        parameters[f"word{number}"] = word


def _match_time(
    question: FactQuestion, known_at: int | None, now: int, conditions: list[str], parameters: dict[str, Any]
) -> None:
    """Valid time and transaction time as conditions. What was closed later than `known_at` was still open then."""
    valid_to = "n.valid_to"
    if known_at is not None:
        conditions.append("n.recorded_at <= $known_at")
        parameters["known_at"] = known_at
        valid_to = (
            "(CASE WHEN n.retracted_at IS NOT NULL AND n.retracted_at > $known_at"
            " THEN n.asserted_to ELSE n.valid_to END)"
        )
    if question.include_invalidated and question.as_of is None:
        return
    present = now if known_at is None else known_at
    moment = question.as_of or Span(present, present + 1, "instant")
    never_true = f"{valid_to} <= n.valid_from"  # an empty interval overlaps no span, though its ends may lie within one
    conditions.append(f"n.valid_from < $until AND ({valid_to} IS NULL OR ({valid_to} > $since AND NOT {never_true}))")
    parameters["since"], parameters["until"] = moment.start, moment.end
