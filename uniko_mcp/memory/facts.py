"""Facts: bitemporal statements. Asserting reinforces or adds, invalidating closes, and nothing is ever deleted.

Valid time [valid_from, valid_to) is when a fact is true in the world; transaction time starts at `recorded_at`. Closing
a fact brings its end forward and stamps `retracted_at`. Whether a fact is open, contradicts another or can be closed
follows from its interval alone: one that ends in 2035 is open until then, however it came by that end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from uniko_mcp.errors import InvalidArgumentsError, NotFoundError
from uniko_mcp.memory.entities import Mention, link_entities
from uniko_mcp.memory.fact_time import ends_after, holds, holds_in, revise
from uniko_mcp.memory.links import OptionalLinks
from uniko_mcp.memory.participants import ensure_agent
from uniko_mcp.memory.resend import is_own_resend, request_hash
from uniko_mcp.memory.visibility import DEFAULT, Visibility, is_visible, visible
from uniko_mcp.models import json_text
from uniko_mcp.models.domain import Fact, SkippedLink
from uniko_mcp.models.names import digest, entity_id, normalise
from uniko_mcp.models.time import END_OF_TIME, Span, format_instant
from uniko_mcp.store import Draft, View

ABOUT_SUBJECT: Final = "MATCH (n:Fact)-[:ABOUT]->(:Entity {entity_id: $entity_id})"
"""Facts by their subject, through its entity: Kuzu has an index on keys only."""

_SUPERSEDED: Final = "superseded"

_REMEMBERED_REINFORCEMENTS: Final = 64
"""Retries come soon. Remembering every reinforcement would rewrite an ever longer list with each one."""


@dataclass(frozen=True, slots=True)
class NewFact:
    """What a fact is asserted with; `confidence` is in [0, 1]. A `valid_to` of a day includes that day."""

    fact_id: str
    subject: str
    predicate: str
    object: str | None = None
    confidence: float | None = None
    valid_from: Span | None = None
    valid_to: Span | None = None
    supporting_observation_ids: tuple[str, ...] = ()
    supersede: bool = False
    visibility: Visibility | None = None

    @property
    def triple(self) -> tuple[str, str, str]:
        """Subject, predicate and object as they are compared."""
        return normalise(self.subject), normalise(self.predicate), normalise(self.object or "")

    @property
    def end(self) -> int | None:
        """The first microsecond at which it is no longer true; None when it has no end."""
        if self.valid_to is None:
            return None
        return self.valid_to.start if self.valid_to.granularity == "instant" else self.valid_to.end


@dataclass(frozen=True, slots=True)
class Assertion:
    """What came of an assertion: the fact, whether it is new, what contradicts it, and the links not made.

    Conflicts that were superseded are shown closed.
    """

    fact: Fact
    created: bool
    conflicts: list[Fact]
    skipped: list[SkippedLink]


def assert_fact(draft: Draft, new: NewFact, *, agent_id: str, now: int) -> Assertion:
    """Reinforce the open fact of this triple, or open a new interval.

    Without `valid_from` a fact holds from its earliest supporting observation on, or from `now`. Superseding closes the
    conflicts, but a private fact closes no shared ones: what all rely on does not end for a reason that none can see.

    Raises:
        InvalidArgumentsError: `valid_to` is not after `valid_from`.
        IdConflictError: The id belongs to a fact that was asserted with other content.
    """
    links = OptionalLinks(draft, ("Fact", new.fact_id))
    known = draft.node("Fact", new.fact_id)
    if known is not None and is_own_resend(known, "fact", new.fact_id, new, agent_id=agent_id):
        return Assertion(to_fact(known), False, [], links.skipped)
    stored = _facts_of_triple(draft, new, agent_id)
    reinforced = next((node for node in stored if new.fact_id in _reinforcements(node)), None)
    if reinforced is not None:
        return Assertion(to_fact(reinforced), False, [], links.skipped)
    evidence = _evidence(draft, new.supporting_observation_ids, agent_id)
    start = new.valid_from.start if new.valid_from else min(map(_since, evidence.values()), default=now)
    if new.end is not None and new.end <= start:
        raise InvalidArgumentsError(
            f"valid_to: {format_instant(new.end)} is not after valid_from, {format_instant(start)}",
            next_step="Give a later valid_to, or an earlier valid_from",
        )
    same = _same_interval(stored, new, start, now)
    node = _reinforce(draft, same, new, start, now) if same else _open(draft, new, start, agent_id=agent_id, now=now)
    links = OptionalLinks(draft, ("Fact", node["fact_id"]))
    links.link(
        "SUPPORTED_BY", "supporting_observation_ids", "Observation", new.supporting_observation_ids, among=evidence
    )
    conflicts = _conflicts(draft, new, start, node["valid_to"], viewer=agent_id)
    if new.supersede:
        conflicts = [_supersede(draft, old, node, start, now) for old in conflicts]
    return Assertion(to_fact(node), same is None, [to_fact(old) for old in conflicts], links.skipped)


def invalidate_fact(
    draft: Draft,
    fact_id: str,
    *,
    replacement_fact_id: str | None,
    reason: str | None,
    at: int | None,
    agent_id: str,
    now: int,
) -> tuple[Fact | None, bool]:
    """Close the fact at `at` (default now); the fact as it then is, and whether that changed anything.

    An unknown id, or one that the agent does not see, answers (None, False). A moment before the fact began means that
    it was never true. A fact that has ended by then already stays as it is.

    Raises:
        NotFoundError: The replacement does not exist; nothing is changed.
        InvalidArgumentsError: The replacement is private and the fact is not.
    """
    node = draft.node("Fact", fact_id)
    if node is None or not is_visible(node, agent_id):
        return None, False
    if replacement_fact_id is not None:
        replacement = draft.node("Fact", replacement_fact_id)
        if replacement is None or not is_visible(replacement, agent_id) or replacement_fact_id == fact_id:
            raise NotFoundError(
                f"replacement_fact_id: there is no other fact {replacement_fact_id!r}",
                next_step="Assert the replacement first. Nothing was changed",
            )
        if not _may_close(replacement, node):
            raise InvalidArgumentsError(
                f"replacement_fact_id: {replacement_fact_id!r} is private and cannot replace a shared fact",
                next_step="Assert the replacement as shared, or leave it out. Nothing was changed",
            )
    moment = now if at is None else at
    if not ends_after(node, moment):
        return to_fact(node), False
    closed = _close(draft, node, moment, now, reason)
    if replacement_fact_id is not None:
        _link_invalidation(draft, replacement_fact_id, fact_id, reason, closed["valid_to"])
    return to_fact(closed), True


def to_fact(node: dict[str, Any]) -> Fact:
    """The node as a fact."""
    return Fact(
        fact_id=node["fact_id"],
        subject=node["subject"],
        predicate=node["predicate"],
        object=node["object"],
        confidence=node["confidence"],
        observation_count=node["observation_count"],
        valid_from=node["valid_from"],
        valid_to=node["valid_to"],
        recorded_at=node["recorded_at"],
        retracted_at=node["retracted_at"],
        retraction_reason=node["retraction_reason"],
        visibility=node["visibility"],
        recorded_by=node["recorded_by"],
    )


def _facts_of_triple(draft: Draft, new: NewFact, agent_id: str) -> list[dict[str, Any]]:
    """The facts of this triple that the assertion may be about: shared ones, or the agent's own private ones."""
    private = (new.visibility or DEFAULT) == "private"
    owner = "n.visibility = 'private' AND n.recorded_by = $viewer" if private else "n.visibility <> 'private'"
    rows = draft.rows(
        f"{ABOUT_SUBJECT} WHERE n.triple_key = $key AND {owner} RETURN n ORDER BY n.fact_id",
        entity_id=entity_id(new.subject),
        key=digest(*new.triple),
        **({"viewer": agent_id} if private else {}),
    )
    return [row["n"] for row in rows]


def _same_interval(stored: list[dict[str, Any]], new: NewFact, start: int, now: int) -> dict[str, Any] | None:
    """The fact that the assertion is about: the same interval, or an open one that it overlaps and does not outlast."""
    until = END_OF_TIME if new.end is None else new.end
    same = (n for n in stored if (n["valid_from"], n["valid_to"]) == (start, new.end))
    opened = (
        n
        for n in stored
        if ends_after(n, now) and holds_in(n, start, until) and (new.end is None or not _outlasts(new.end, n))
    )
    return next(same, None) or next(opened, None)


def _outlasts(end: int, node: dict[str, Any]) -> bool:
    return node["valid_to"] is not None and end > node["valid_to"]


def _reinforcements(node: dict[str, Any]) -> list[str]:
    """The ids of the last assertions that reinforced the fact, so that none of them, sent again, counts twice."""
    return json_text.load(node["reinforced_by"]) or []


def _reinforce(draft: Draft, node: dict[str, Any], new: NewFact, start: int, now: int) -> dict[str, Any]:
    """Count the assertion and take over what it adds: more confidence, an earlier beginning, an end."""
    ends = new.end is not None and new.end != node["valid_to"]
    return revise(
        draft,
        node,
        now,
        observation_count=node["observation_count"] + 1,
        reinforced_by=json_text.dump([*_reinforcements(node), new.fact_id][-_REMEMBERED_REINFORCEMENTS:]),
        confidence=max(node["confidence"], 1.0 if new.confidence is None else new.confidence),
        valid_from=min(node["valid_from"], start),
        valid_to=new.end if ends else node["valid_to"],
        retracted_at=now if ends else node["retracted_at"],
        retraction_reason=None if ends else node["retraction_reason"],
    )


def _open(draft: Draft, new: NewFact, start: int, *, agent_id: str, now: int) -> dict[str, Any]:
    subject, predicate, object = new.triple
    node: dict[str, Any] = {
        "subject": new.subject,
        "predicate": new.predicate,
        "object": new.object,
        "triple_key": digest(*new.triple),
        "subject_key": subject,
        "predicate_key": predicate,
        "object_key": object,
        "confidence": 1.0 if new.confidence is None else new.confidence,
        "observation_count": 1,
        "valid_from": start,
        "valid_to": new.end,
        "granularity": new.valid_from.granularity if new.valid_from else "instant",
        "recorded_at": now,
        "retracted_at": None,
        "retraction_reason": None,
        "revised_at": None,
        "history": None,
        "reinforced_by": None,
        "visibility": new.visibility or DEFAULT,
        "recorded_by": agent_id,
        "request_hash": request_hash(new),
    }
    draft.put("Fact", new.fact_id, **node)
    draft.link("RECORDED_BY", ("Fact", new.fact_id), ensure_agent(draft, agent_id, now=now))
    link_entities(draft, [Mention("ABOUT", ("Fact", new.fact_id), new.subject)])
    return {**node, "fact_id": new.fact_id}


def _conflicts(draft: Draft, new: NewFact, start: int, end: int | None, *, viewer: str) -> list[dict[str, Any]]:
    """The facts with another object for the same subject and predicate that hold at some moment of [start, end)."""
    rows = draft.rows(
        f"{ABOUT_SUBJECT} WHERE n.subject_key = $subject AND n.predicate_key = $predicate AND n.object_key <> $object"
        f" AND {holds('n')} AND {visible('n')} RETURN n ORDER BY n.recorded_at DESC, n.fact_id DESC",
        entity_id=entity_id(new.subject),
        subject=new.triple[0],
        predicate=new.triple[1],
        object=new.triple[2],
        since=start,
        until=END_OF_TIME if end is None else end,
        viewer=viewer,
    )
    return [row["n"] for row in rows]


def _supersede(draft: Draft, old: dict[str, Any], new: dict[str, Any], start: int, now: int) -> dict[str, Any]:
    """The old fact, closed where the new one begins, if the new one may do that."""
    if not _may_close(new, old) or _goes_on_after(old, new):
        return old
    closed = _close(draft, old, start, now, _SUPERSEDED)
    _link_invalidation(draft, new["fact_id"], old["fact_id"], _SUPERSEDED, closed["valid_to"])
    return closed


def _may_close(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether a fact may take the place of another that its agent sees: a private one not of a shared one."""
    return new["visibility"] != "private" or old["visibility"] == "private"


def _goes_on_after(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether the old fact holds after the new one has ended; closing it would leave that time without either."""
    return new["valid_to"] is not None and (old["valid_to"] is None or old["valid_to"] > new["valid_to"])


def _close(draft: Draft, node: dict[str, Any], at: int, now: int, reason: str | None) -> dict[str, Any]:
    end = max(at, node["valid_from"])
    return revise(draft, node, now, valid_to=end, retracted_at=now, retraction_reason=reason)


def _link_invalidation(draft: Draft, new_id: str, old_id: str, reason: str | None, at: int) -> None:
    draft.link("INVALIDATES", ("Fact", new_id), ("Fact", old_id), reason=reason, at=at)


def _evidence(view: View, observation_ids: tuple[str, ...], viewer: str) -> dict[str, dict[str, Any]]:
    """Those of the observations that are there for the viewer, by id."""
    found = view.nodes("Observation", observation_ids)
    return {id: node for id, node in found.items() if is_visible(node, viewer)}


def _since(observation: dict[str, Any]) -> int:
    """When what it says to be about begins, or else when it was made."""
    return observation["observed_at"] if observation["about_from"] is None else observation["about_from"]
