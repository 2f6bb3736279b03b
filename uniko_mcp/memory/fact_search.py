"""Searching facts: what is true now, what was true then, and what was believed at an earlier moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uniko_mcp.memory.fact_time import as_known, holds, holds_in
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
    match = "MATCH (n:Fact)"
    if question.subject is not None:
        match, parameters["entity_id"] = ABOUT_SUBJECT, entity_id(question.subject)
    known_at = question.known_at.end - 1 if question.known_at else None
    if known_at is not None:
        conditions.append("n.recorded_at <= $known_at")
        parameters["known_at"] = known_at
    moment = _moment(question, now if known_at is None else known_at)
    if moment is not None:
        conditions.append(_held(view, match, conditions, parameters, moment, known_at))
    listing = Listing(
        kind="Fact",
        match=match,
        condition=" AND ".join(conditions),
        parameters=parameters,
        time="recorded_at",
    )
    return fetch_page(
        view,
        listing,
        lambda nodes: [to_fact(node if known_at is None else as_known(node, known_at)) for node in nodes],
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


def _moment(question: FactQuestion, present: int) -> Span | None:
    """When the facts have to hold; None when that does not matter."""
    if question.as_of is None and question.include_invalidated:
        return None
    return question.as_of or Span(present, present + 1, "instant")


def _held(
    view: View, match: str, conditions: list[str], parameters: dict[str, Any], moment: Span, known_at: int | None
) -> str:
    """The condition under which a fact holds at the moment, as it was known then.

    Facts that were revised since are few; they are looked at one by one, in the version of that time.
    """
    parameters["since"], parameters["until"] = moment.start, moment.end
    if known_at is None:
        return holds("n")
    where = " AND ".join([*conditions, "n.revised_at > $known_at"])
    asked = {name: value for name, value in parameters.items() if name not in ("since", "until")}
    revised = [row["n"] for row in view.stream(f"{match} WHERE {where} RETURN n", **asked)]
    held = [node["fact_id"] for node in revised if holds_in(as_known(node, known_at), moment.start, moment.end)]
    parameters["held"] = held
    return f"(CASE WHEN n.revised_at > $known_at THEN n.fact_id IN $held ELSE {holds('n')} END)"
