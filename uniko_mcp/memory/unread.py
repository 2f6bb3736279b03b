"""What no language model has read yet: which messages come next, and how the claims found in them are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from uniko_mcp.extract.claims import SILENT_ROLES, Claim
from uniko_mcp.extract.summary import Turn
from uniko_mcp.memory.entities import Mention, link_entities
from uniko_mcp.memory.reading import observation_id, put_observation
from uniko_mcp.memory.visibility import shared
from uniko_mcp.models.names import fold
from uniko_mcp.store import Draft, View

MOST_MESSAGES: Final = 12
"""Messages that are read at once."""

MOST_CHARS: Final = 6_000
"""Characters of them all, about 2,000 tokens. Of a single message that is longer, its beginning is read."""

_BEFORE: Final = 4
_BEFORE_CHARS: Final = 500

_SPEAKS: Final = "m.forgotten_at IS NULL AND (m.role IS NULL OR NOT m.role IN $silent)"
_UNREAD: Final = f"m.llm_read_at IS NULL AND {_SPEAKS} AND NOT m.message_id IN $without"
_OF_SESSION: Final = "MATCH (:Session {session_id: $session})<-[:IN_SESSION]-(m:Message)"
_SILENT: Final = sorted(SILENT_ROLES)


@dataclass(frozen=True, slots=True)
class Portion:
    """Messages of one session that are read at once, in order; and some of those before them, for what they refer to.

    `known` holds what has been observed in each of them already, in the form of `wording`.
    """

    message_ids: tuple[str, ...]
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]
    known: tuple[frozenset[str], ...]


def count_unread(view: View) -> int:
    """How many messages no language model has read. What programs said and what is forgotten need not be read."""
    row = view.row(f"MATCH (m:Message) WHERE {_UNREAD} RETURN count(*) AS n", silent=_SILENT, without=[])
    return row["n"] if row else 0


def next_portion(view: View, *, most: int = MOST_MESSAGES, without: Collection[str] = ()) -> Portion | None:
    """What to read next, at most so many messages and none of those `without`; None when nothing is unread.

    The session with the latest message comes first, since what is talked about now is asked for next; within it the
    messages come in order, so that what was said before them is known.

    Step by step, since each is a lookup or the scan of a column; one query for all of it reads every message's edges,
    and takes 0.2 s at 20,000 messages.
    """
    session = _latest_session(view, list(without))
    if session is None:
        return None
    unread = view.rows(
        f"{_OF_SESSION} WHERE {_UNREAD} RETURN m.message_id AS id, m.ordinal AS ordinal"
        f" ORDER BY ordinal, id LIMIT {most}",
        session=session,
        silent=_SILENT,
        without=list(without),
    )
    before = view.rows(
        f"{_OF_SESSION} WHERE {_SPEAKS} AND m.ordinal < $ordinal RETURN m.message_id AS id, m.ordinal AS ordinal"
        f" ORDER BY ordinal DESC LIMIT {_BEFORE}",
        session=session,
        silent=_SILENT,
        ordinal=unread[0]["ordinal"],
    )
    turns = _turns(view, [row["id"] for row in (*before, *unread)])
    ids = _fitting([row["id"] for row in unread], turns)
    return Portion(
        message_ids=tuple(ids),
        turns=tuple(turns[id] for id in ids),
        before=tuple(_shortened(turns[row["id"]]) for row in reversed(before)),
        known=_known(view, ids),
    )


def _latest_session(view: View, without: list[str]) -> str | None:
    """The session of the latest message that is unread."""
    latest = view.row(
        f"MATCH (m:Message) WHERE {_UNREAD} RETURN m.message_id AS id ORDER BY m.timestamp DESC, id DESC LIMIT 1",
        silent=_SILENT,
        without=without,
    )
    if latest is None:
        return None
    session = view.row(
        "MATCH (:Message {message_id: $id})-[:IN_SESSION]->(s:Session) RETURN s.session_id AS id", id=latest["id"]
    )
    assert session is not None
    return session["id"]


def _turns(view: View, ids: Sequence[str]) -> dict[str, Turn]:
    rows = view.rows_for(
        "MATCH (m:Message)-[:SENT_BY]->(p:Participant) WHERE m.message_id AMONG $ids"
        " RETURN m.message_id AS id, left(m.content, $chars) AS text, m.timestamp AS at, m.role AS role,"
        " coalesce(p.name, p.participant_id) AS speaker",
        ids,
        chars=MOST_CHARS,
    )
    return {row["id"]: Turn(row["speaker"], row["text"], row["at"], row["role"]) for row in rows}


def _fitting(ids: Sequence[str], turns: Mapping[str, Turn]) -> list[str]:
    """The first of them, as many as may be read at once; one in any case."""
    sizes = accumulate(len(turns[id].text) for id in ids)
    return list(ids[: max(1, sum(size <= MOST_CHARS for size in sizes))])


def _shortened(turn: Turn) -> Turn:
    return replace(turn, text=turn.text[:_BEFORE_CHARS])


def _known(view: View, ids: Sequence[str]) -> tuple[frozenset[str], ...]:
    """What has been observed in each message. What an agent keeps private keeps nobody from saying the same."""
    rows = view.rows_for(
        f"MATCH (o:Observation)-[:OBSERVED_IN]->(m:Message) WHERE m.message_id AMONG $ids AND {shared('o')}"
        " RETURN m.message_id AS id, o.content AS text",
        ids,
    )
    return tuple(frozenset(wording(row["text"]) for row in rows if row["id"] == id) for id in ids)


def wording(text: str) -> str:
    """A claim without what makes no difference to it: case, accents, white space and the stop at its end."""
    return fold(text).rstrip(".!… ")


def keep_claims(
    draft: Draft, portion: Portion, claims: Sequence[Sequence[Claim]], *, method: str, agent_id: str, now: int
) -> None:
    """Keep the new ones of the claims of each message, and that it was read, in one change set.

    A message that was forgotten or read meanwhile is passed over. `method` is the name of the model.
    """
    messages = draft.nodes("Message", portion.message_ids)
    mentions: list[Mention] = []
    for id, turn, known, found in zip(portion.message_ids, portion.turns, portion.known, claims, strict=True):
        message = messages.get(id)
        if message is None or message["forgotten_at"] is not None or message["llm_read_at"] is not None:
            continue
        draft.set("Message", id, llm_read_at=now)
        for claim in _new(draft, id, found, known):
            mentions.append(put_observation(draft, id, claim, at=turn.at, method=method, agent_id=agent_id, now=now))
    link_entities(draft, mentions)


def _new(draft: Draft, message_id: str, found: Sequence[Claim], known: frozenset[str]) -> list[Claim]:
    """Those of the claims found in a message that nobody has observed in it, each once."""
    distinct = {wording(claim.text): claim for claim in reversed(found)}
    by_id = {observation_id(message_id, claim): claim for words, claim in distinct.items() if words not in known}
    taken = draft.existing("Observation", by_id)
    return [claim for id, claim in by_id.items() if id not in taken]
