"""What of the graph can be recalled, and how each of it reads as one flat document of the rank index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from uniko_mcp.memory.observations import BY_RULES
from uniko_mcp.memory.visibility import shared
from uniko_mcp.models import json_text
from uniko_mcp.models.graph_schema import NODES
from uniko_mcp.store import View
from uniko_mcp.store.index.documents import EVERYONE, DocumentKey, IndexDocument, Source
from uniko_mcp.store.index.passages import PASSAGE_CHARACTERS

BATCH: Final = 500
"""How many nodes one query reads."""

Row = dict[str, Any]

MOST_CONTEXT: Final = 500
"""Characters of a topic, title or heading that are indexed with each of the documents under it."""

_TOPIC: Final = f"left(s.topic, {MOST_CONTEXT}) AS topic"
_SAID: Final = " MATCH (m)-[:SENT_BY]->(p:Participant) MATCH (m)-[:IN_SESSION]->(s:Session)"
_BY_WHOM_AND_WHERE: Final = (
    " m.message_id AS message_id, m.role AS role, p.participant_id AS sender_id, p.name AS sender,"
    f" s.session_id AS session_id, {_TOPIC}"
)
_EVIDENCE: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "Fact": (
        (
            "-[:SUPPORTED_BY]->(o:Observation)-[:OBSERVED_IN]->",
            f"({shared('o')} OR (n.visibility = 'private' AND o.recorded_by = n.recorded_by))",
        ),
    ),
    "Summary": (("-[:DERIVED_FROM]->", "true"),),
    "Topic": (
        ("<-[:BELONGS_TO]-", "true"),
        ("<-[:BELONGS_TO]-(o:Observation)-[:OBSERVED_IN]->", shared("o")),
        (
            "<-[:BELONGS_TO]-(f:Fact)-[:SUPPORTED_BY]->(o:Observation)-[:OBSERVED_IN]->",
            f"{shared('f')} AND {shared('o')}",
        ),
    ),
}
"""The paths by which each kind rests on messages, and when whoever sees the node may see what lies on them."""


def project(view: View, keys: Iterable[DocumentKey]) -> tuple[list[IndexDocument], list[DocumentKey]]:
    """The documents of these memories, and the keys of those that are not there, not any more, or forgotten."""
    ordered = sorted(set(keys))
    documents: list[IndexDocument] = []
    for kind, of_kind in groupby(ordered, key=lambda key: key[0]):
        ids = [id for _, id in of_kind]
        for start in range(0, len(ids), BATCH):
            documents += _PROJECTIONS[kind](view, ids[start : start + BATCH])
    found = {document.key for document in documents}
    return documents, [key for key in ordered if key not in found]


def project_all(view: View) -> Iterator[IndexDocument]:
    """The documents of everything that can be recalled, for building the index anew."""
    for kind, read in _PROJECTIONS.items():
        key = NODES[kind].key
        last = ""
        while rows := view.rows(
            f"MATCH (n:{kind}) WHERE n.{key} > $last RETURN n.{key} AS id ORDER BY id LIMIT {BATCH}", last=last
        ):
            ids = [row["id"] for row in rows]
            yield from read(view, ids)
            last = ids[-1]


def count_recallable(view: View) -> int:
    """About how many documents `project_all` gives: also of what is forgotten, and of what has no text, it counts."""
    counts = (view.row(f"MATCH (n:{kind}) RETURN count(n) AS n") for kind in _PROJECTIONS)
    return sum(row["n"] for row in counts if row)


def _messages(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    rows = view.rows_for(
        f"MATCH (m:Message) WHERE m.message_id AMONG $ids AND m.forgotten_at IS NULL{_SAID}"
        " OPTIONAL MATCH (m)-[:MENTIONS]->(e:Entity)"
        f" RETURN m.message_id AS id, m.content AS text, m.timestamp AS at, m.ordinal AS ordinal,{_BY_WHOM_AND_WHERE},"
        " collect(e.name) AS entities",
        ids,
    )
    return [_document("Message", row) for row in rows]


def _observations(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    """What rules took from a message stands in it, so the vector of a message that is embedded whole tells its meaning
    too: that spares a third of the embedding, and costs a hundredth of LoCoMo's recall@10 (.82 instead of .83)."""
    rows = view.rows_for(
        "MATCH (o:Observation)-[:OBSERVED_IN]->(m:Message)"
        f" WHERE o.observation_id AMONG $ids AND m.forgotten_at IS NULL{_SAID} OPTIONAL MATCH (o)-[:ABOUT]->(e:Entity)"
        " RETURN o.observation_id AS id, o.content AS text, o.observed_at AS at, o.about_from AS about_from,"
        " o.about_to AS about_to, o.visibility AS visibility, o.recorded_by AS recorded_by, o.method AS method,"
        f" size(m.content) AS message_size, m.ordinal AS ordinal,{_BY_WHOM_AND_WHERE}, collect(e.name) AS entities",
        ids,
    )
    return [
        _document(
            "Observation",
            row,
            parent_id=row["message_id"],
            shares_vector=row["method"] == BY_RULES and row["message_size"] <= PASSAGE_CHARACTERS,
            about_from=row["about_from"],
            about_to=row["about_to"],
        )
        for row in rows
    ]


def _facts(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    """A fact was first said when its first evidence was, or else when it was recorded; it holds in its valid time."""
    rows = view.rows_for(
        "MATCH (n:Fact) WHERE n.fact_id AMONG $ids OPTIONAL MATCH (n)-[:ABOUT]->(e:Entity)"
        " RETURN n.fact_id AS id, n.subject AS subject, n.predicate AS predicate, n.object AS object,"
        " coalesce(n.recorded_at, n.valid_from) AS at, n.valid_from AS valid_from, n.valid_to AS valid_to,"
        " n.visibility AS visibility, n.recorded_by AS recorded_by, collect(e.name) AS entities",
        ids,
    )
    evidence = _evidence(view, "Fact", ids)
    return [
        _document(
            "Fact",
            row,
            evidence[row["id"]],
            text=_joined(" ", row["subject"], row["predicate"], row["object"]),
            timestamp=_first_said(evidence[row["id"]], row["at"]),
            about_from=row["valid_from"],
            about_to=row["valid_to"],
        )
        for row in rows
    ]


def _procedures(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    """A procedure rests on the episodes in which it was followed."""
    rows = view.rows_for(
        "MATCH (n:Procedure) WHERE n.procedure_id AMONG $ids"
        " RETURN n.procedure_id AS id, n.name AS name, n.precondition AS precondition, n.steps AS steps",
        ids,
    )
    episodes = view.rows_for(
        "MATCH (n:Procedure)-[:SUPPORTED_BY]->(x:Episode)-[:RECORDED_BY]->(p:Participant)"
        " WHERE n.procedure_id AMONG $ids"
        " OPTIONAL MATCH (x)-[:IN_SESSION]->(s:Session) RETURN DISTINCT n.procedure_id AS id,"
        " x.timestamp AS said_at, p.participant_id AS sender_id, s.session_id AS session_id",
        ids,
    )
    evidence = _sources_of(episodes)
    return [
        _document(
            "Procedure",
            row,
            evidence[row["id"]],
            text=_joined(": ", row["name"], row["precondition"], _steps(row["steps"])),
            timestamp=_first_said(evidence[row["id"]], 0),
        )
        for row in rows
    ]


def _steps(text: str | None) -> str:
    steps = json_text.load(text) or ()
    return "; ".join(step if isinstance(step, str) else str(json_text.dump(step)) for step in steps)


def _topics(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    """A topic is there for all once something shared belongs to it; a forgotten message takes its summary with it."""
    rows = view.rows_for(
        f"MATCH (n:Topic) WHERE n.topic_id AMONG $ids"
        " OPTIONAL MATCH (x:Message:Observation:Fact)-[:BELONGS_TO]->(n)"
        " RETURN n.topic_id AS id, n.name AS name, n.summary AS summary, min(x.recorded_at) AS at, count(x) AS members,"
        f" sum(CASE WHEN {shared('x')} THEN 1 ELSE 0 END) AS shared, count(x.forgotten_at) AS forgotten",
        ids,
    )
    evidence = _evidence(view, "Topic", ids)
    return [
        _document(
            "Topic",
            row,
            evidence[row["id"]],
            text=_joined(": ", row["name"], None if row["forgotten"] else row["summary"]),
            timestamp=_first_said(evidence[row["id"]], row["at"] or 0),
        )
        for row in rows
        if row["shared"] > row["forgotten"] or not row["members"]
    ]


def _summaries(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    """A summary says what its messages say, so it is not recalled while one of them is forgotten."""
    rows = view.rows_for(
        "MATCH (n:Summary) WHERE n.summary_id AMONG $ids OPTIONAL MATCH (n)-[:SUMMARIZES]->(s:Session)"
        " OPTIONAL MATCH (n)-[:DERIVED_FROM]->(m:Message)"
        f" RETURN n.summary_id AS id, n.text AS text, n.created_at AS at, s.session_id AS session_id, {_TOPIC},"
        " count(m.forgotten_at) AS forgotten",
        ids,
    )
    evidence = _evidence(view, "Summary", ids)
    return [_document("Summary", row, evidence[row["id"]]) for row in rows if not row["forgotten"]]


def _episodes(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    rows = view.rows_for(
        "MATCH (n:Episode)-[:RECORDED_BY]->(p:Participant) WHERE n.episode_id AMONG $ids"
        " OPTIONAL MATCH (n)-[:IN_SESSION]->(s:Session) OPTIONAL MATCH (n)-[:MENTIONS]->(e:Entity)"
        " RETURN n.episode_id AS id, n.action_type AS action_type, n.text AS told, n.outcome AS outcome,"
        f" n.timestamp AS at, p.participant_id AS sender_id, s.session_id AS session_id, {_TOPIC},"
        " collect(e.name) AS entities",
        ids,
    )
    return [
        _document("Episode", row, text=_joined(": ", row["action_type"], row["told"], row["outcome"])) for row in rows
    ]


def _chunks(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    return [*_artifact_chunks(view, ids), *_message_chunks(view, ids)]


def _artifact_chunks(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    rows = view.rows_for(
        "MATCH (a:Artifact)-[:HAS_CHUNK]->(c:Chunk) WHERE c.chunk_id AMONG $ids"
        " OPTIONAL MATCH (a)-[:IN_SESSION]->(s:Session)"
        " OPTIONAL MATCH (a)-[:ATTACHED_TO]->(m:Message) WHERE m.forgotten_at IS NULL"
        " OPTIONAL MATCH (c)-[:MENTIONS]->(e:Entity)"
        f" RETURN c.chunk_id AS id, c.text AS text, a.created_at AS at, c.index AS ordinal,"
        f" left(a.title, {MOST_CONTEXT}) AS topic, left(c.heading, {MOST_CONTEXT}) AS heading,"
        " a.artifact_id AS artifact_id, a.superseded_at AS superseded_at,"
        " s.session_id AS session_id, m.message_id AS message_id, collect(e.name) AS entities",
        ids,
    )
    return [_document("Chunk", row, parent_id=row["artifact_id"], superseded_at=row["superseded_at"]) for row in rows]


def _message_chunks(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    rows = view.rows_for(
        f"MATCH (m:Message)-[:HAS_CHUNK]->(c:Chunk) WHERE c.chunk_id AMONG $ids AND m.forgotten_at IS NULL"
        f"{_SAID} RETURN c.chunk_id AS id, c.text AS text, m.timestamp AS at, c.index AS ordinal,"
        f" left(c.heading, {MOST_CONTEXT}) AS heading,{_BY_WHOM_AND_WHERE}",
        ids,
    )
    return [_document("Chunk", row, parent_id=row["message_id"]) for row in rows]


def _artifacts(view: View, ids: Sequence[str]) -> list[IndexDocument]:
    rows = view.rows_for(
        "MATCH (a:Artifact) WHERE a.artifact_id AMONG $ids OPTIONAL MATCH (a)-[:IN_SESSION]->(s:Session)"
        " RETURN a.artifact_id AS id, a.artifact_id AS artifact_id, a.title AS title, a.path AS path,"
        " a.created_at AS at, a.superseded_at AS superseded_at, s.session_id AS session_id",
        ids,
    )
    return [
        _document("Artifact", row, text=_joined(" ", row["title"], row["path"]), superseded_at=row["superseded_at"])
        for row in rows
        if row["title"] or row["path"]
    ]


def _document(kind: str, row: Row, sources: tuple[Source, ...] | None = None, **more: Any) -> IndexDocument:
    """The document of a row, whose columns are named alike in all queries; by itself it is its own source.

    `more` is what only some kinds have, and wins over the row.
    """
    fields: dict[str, Any] = {
        "text": row.get("text"),
        "timestamp": row.get("at"),
        "sender": row.get("sender") or row.get("sender_id") or "",
        "sender_id": row.get("sender_id") or "",
        "role": row.get("role") or "",
        "session_id": row.get("session_id") or "",
        "ordinal": row.get("ordinal") or 0,
        "topic": row.get("topic") or "",
        "heading": row.get("heading") or "",
        "owner": row["recorded_by"] if row.get("visibility") == "private" else EVERYONE,
        "entities": tuple(name for name in row.get("entities") or () if name is not None),  # of nothing, NULL
        "sources": (_source(row),) if sources is None else sources,
    }
    return IndexDocument(kind=kind, id=row["id"], **fields | more)


def _joined(separator: str, *parts: str | None) -> str:
    return separator.join(part for part in parts if part)


def _first_said(sources: Iterable[Source], otherwise: int) -> int:
    """When the first of the sources was said."""
    return min((source.said_at for source in sources if source.said_at is not None), default=otherwise)


def _evidence(view: View, kind: str, ids: Sequence[str]) -> defaultdict[str, tuple[Source, ...]]:
    """The messages that each of the nodes rests on, without what is forgotten, in the order in which they were said."""
    key = NODES[kind].key
    rows: list[Row] = []
    for path, condition in _EVIDENCE[kind]:
        rows += view.rows_for(
            f"MATCH (n:{kind}){path}(m:Message) WHERE n.{key} AMONG $ids AND m.forgotten_at IS NULL AND {condition}"
            f"{_SAID}"
            f" RETURN DISTINCT n.{key} AS id, m.message_id AS message_id, m.timestamp AS said_at,"
            " p.participant_id AS sender_id, s.session_id AS session_id",
            ids,
        )
    return _sources_of(rows)


def _sources_of(rows: Iterable[Row]) -> defaultdict[str, tuple[Source, ...]]:
    """The sources that rows tell of the nodes with their `id`, each once, the oldest first; of other nodes none."""
    found: dict[str, dict[Source, None]] = {}
    for row in sorted(rows, key=lambda row: (row["said_at"], row.get("message_id") or "")):
        found.setdefault(row["id"], {})[_source(row)] = None
    return defaultdict(tuple, {id: tuple(sources) for id, sources in found.items()})


def _source(row: Row) -> Source:
    return Source(
        message_id=row.get("message_id"),
        session_id=row.get("session_id"),
        sender=row.get("sender_id"),
        artifact_id=row.get("artifact_id"),
        said_at=row.get("said_at"),
    )


_PROJECTIONS: Final[dict[str, Callable[[View, Sequence[str]], list[IndexDocument]]]] = {
    "Message": _messages,
    "Observation": _observations,
    "Fact": _facts,
    "Procedure": _procedures,
    "Topic": _topics,
    "Summary": _summaries,
    "Episode": _episodes,
    "Artifact": _artifacts,
    "Chunk": _chunks,
}
"""How the documents of each kind are read; those that others are a piece of come before these."""

RECALLABLE: Final = tuple(_PROJECTIONS)
"""The kinds of nodes that recall finds."""
