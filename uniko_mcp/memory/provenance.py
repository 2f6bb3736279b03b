"""Any memory by its id, with where it comes from and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from uniko_mcp.memory.entities import count_mentions
from uniko_mcp.memory.pages import part_of
from uniko_mcp.memory.visibility import is_visible, visible
from uniko_mcp.models import json_text
from uniko_mcp.models.domain import Provenance
from uniko_mcp.models.graph_schema import EDGES, NODES
from uniko_mcp.models.time import format_instant
from uniko_mcp.store import View

_INTERNAL: Final = frozenset(
    {
        "request_hash",
        "content_hash",
        "covered_hash",
        "triple_key",
        "subject_key",
        "predicate_key",
        "object_key",
        "reinforced_by",
        "revised_at",
        "history",
        "last_episode_id",
        "last_episode_at",
        "last_message_id",
        "last_message_at",
        "llm_read_at",
        "ordinal",
    }
)
_TEXT_COLUMNS: Final = ("content", "title", "text", "name", "action_type", "topic", "subject")
_TIME_COLUMNS: Final = ("timestamp", "observed_at", "recorded_at", "created_at", "started_at")
_PATHS_TO_MESSAGES: Final = {
    "Fact": "-[:SUPPORTED_BY]->(o:Observation)-[:OBSERVED_IN]->",
    "Observation": "-[:OBSERVED_IN]->",
}
_MAX_PER_RELATION: Final = 20
_MAX_TEXT: Final = 300


@dataclass(frozen=True, slots=True)
class Memory:
    """A node: its kind, its properties as a client sees them (times as RFC 3339, JSON decoded), and its neighbours.

    `more_provenance` says that a kind of edge has more neighbours than are listed.
    """

    kind: str
    id: str
    properties: dict[str, Any]
    provenance: list[Provenance]
    more_provenance: bool


@dataclass(frozen=True, slots=True)
class _Relation:
    """A kind of edge at a node, what is at its other end, and how many there are, also of those that few may see."""

    edge: str
    other: str
    outward: bool
    edges: int


def get_memory(view: View, id: str, *, viewer: str, kind: str | None = None) -> Memory | None:
    """The memory of that id and its neighbours in the graph; None when there is none that the viewer sees.

    The same id may name nodes of several kinds; `kind` chooses, otherwise the first in the schema's order counts.
    At most 20 neighbours for each kind of edge are listed.
    """
    for table in NODES.values():
        if kind is not None and table.kind != kind:
            continue
        node = view.node(table.kind, id)
        if node is None or not is_visible(node, viewer):
            continue
        properties = public_properties(table.kind, node)
        if table.kind == "Entity":
            properties["mention_count"] = count_mentions(view, id, viewer)
            if not properties["mention_count"]:
                continue
        provenance, more = _provenance(view, table.kind, id, viewer)
        return Memory(table.kind, id, properties, provenance, more)
    return None


def text_window(properties: dict[str, Any], *, offset: int, max_tokens: int) -> tuple[dict[str, Any], int | None]:
    """The properties with their longest text cut to what fits from `offset` on, and the offset of the rest, if any."""
    texts = {column: value for column, value in properties.items() if isinstance(value, str)}
    longest = max(texts, key=lambda column: len(texts[column]), default=None)
    if longest is None:
        return properties, None
    text, next_offset = part_of(texts[longest], offset=offset, max_tokens=max_tokens)
    return {**properties, longest: text}, next_offset


def public_properties(kind: str, node: dict[str, Any]) -> dict[str, Any]:
    """What a client sees of a node: no bookkeeping, times as RFC 3339, JSON decoded, nothing empty."""
    table = NODES[kind]
    types = {table.key: "text", **table.columns}
    return {
        column: _public(types[column], node[column])
        for column in types
        if column not in _INTERNAL and node.get(column) is not None
    }


def _public(column_type: str, value: Any) -> Any:
    if column_type == "time":
        return format_instant(value)
    return json_text.load(value) if column_type == "json" else value


def _provenance(view: View, kind: str, id: str, viewer: str) -> tuple[list[Provenance], bool]:
    """The evidence first, then the neighbours by kind of edge; and whether any kind has more than are listed."""
    relations = _relations(view, kind, id)
    lists = [
        _evidence(view, kind, id, viewer),
        *(_neighbours(view, kind, id, relation, viewer) for relation in relations),
    ]
    listed = [item for neighbours in lists for item in neighbours[:_MAX_PER_RELATION]]
    return listed, any(len(neighbours) > _MAX_PER_RELATION for neighbours in lists)


def _relations(view: View, kind: str, id: str) -> list[_Relation]:
    """The edges that the node has, in the order of the schema. Two queries find out; one for each kind were a dozen."""
    possible = [
        _Relation(edge.kind, other, outward, 0)
        for edge in EDGES.values()
        for start, end in edge.pairs
        for outward, here, other in ((True, start, end), (False, end, start))
        if here == kind
    ]
    counts: dict[tuple[str, str, bool], int] = {}
    for outward in (True, False):
        edges = "|".join(dict.fromkeys(relation.edge for relation in possible if relation.outward == outward))
        if not edges:
            continue
        arrow = f"-[e:{edges}]->" if outward else f"<-[e:{edges}]-"
        rows = view.rows(
            f"MATCH (n:{kind} {{{NODES[kind].key}: $id}}){arrow}(o)"
            " RETURN label(e) AS edge, label(o) AS other, count(*) AS edges",
            id=id,
        )
        counts |= {(row["edge"], row["other"], outward): row["edges"] for row in rows}
    found = (replace(each, edges=counts.get((each.edge, each.other, each.outward), 0)) for each in possible)
    return [relation for relation in found if relation.edges]


def _evidence(view: View, kind: str, id: str, viewer: str) -> list[Provenance]:
    """The messages that a fact or an observation rests on: who said it, when, in which session."""
    if kind not in _PATHS_TO_MESSAGES:
        return []
    through = kind == "Fact"
    seen = f" WHERE {visible('o')}" if through else ""
    rows = view.rows(
        f"MATCH (n:{kind} {{{NODES[kind].key}: $id}}){_PATHS_TO_MESSAGES[kind]}(m:Message){seen}"
        " OPTIONAL MATCH (m)-[:SENT_BY]->(p:Participant) OPTIONAL MATCH (m)-[:IN_SESSION]->(s:Session)"
        " RETURN DISTINCT m.message_id AS id, m.content AS text, m.timestamp AS at,"
        f" p.participant_id AS sender, s.session_id AS session_id ORDER BY at, id LIMIT {_MAX_PER_RELATION + 1}",
        id=id,
        **({"viewer": viewer} if through else {}),
    )
    return [
        Provenance(
            relation="EVIDENCE",
            direction="out",
            kind="Message",
            id=row["id"],
            text=_shorten(row["text"]),
            timestamp=row["at"],
            sender=row["sender"],
            session_id=row["session_id"],
        )
        for row in rows
    ]


def _neighbours(view: View, kind: str, id: str, relation: _Relation, viewer: str) -> list[Provenance]:
    edge, other = relation.edge, relation.other
    arrow = f"-[e:{edge}]->" if relation.outward else f"<-[e:{edge}]-"
    key = NODES[other].key
    match = f"MATCH (n:{kind} {{{NODES[kind].key}: $id}}){arrow}(o:{other}) WHERE true"
    parameters: dict[str, Any] = {"id": id}
    if "visibility" in NODES[other].columns:
        match += f" AND {visible('o')}"
        parameters["viewer"] = viewer
    if relation.edges > _MAX_PER_RELATION:  # sorting whole nodes would read every one of them
        order = f"ORDER BY id DESC LIMIT {_MAX_PER_RELATION + 1}"
        newest = view.rows(f"{match} RETURN o.{key} AS id {order}", **parameters)
        match += f" AND o.{key} IN $ids"
        parameters["ids"] = [row["id"] for row in newest]
    properties = "".join(f", e.{column} AS edge_{column}" for column in EDGES[edge].columns)
    rows = view.rows(f"{match} RETURN o{properties} ORDER BY o.{key} DESC", **parameters)
    return [
        Provenance(
            relation=edge,
            direction="out" if relation.outward else "in",
            kind=other,
            id=row["o"][key],
            text=_short_text(other, row["o"]),
            timestamp=next((row["o"][column] for column in _TIME_COLUMNS if row["o"].get(column) is not None), None),
            properties=_edge_properties(edge, row) or None,
        )
        for row in rows
    ]


def _edge_properties(edge: str, row: dict[str, Any]) -> dict[str, Any]:
    columns = EDGES[edge].columns
    return {
        column: _public(columns[column], row[f"edge_{column}"])
        for column in columns
        if row[f"edge_{column}"] is not None
    }


def _short_text(kind: str, node: dict[str, Any]) -> str | None:
    if kind == "Fact":
        return _shorten(" ".join(part for part in (node["subject"], node["predicate"], node["object"]) if part))
    return _shorten(next((node[column] for column in _TEXT_COLUMNS if node.get(column)), None))


def _shorten(text: str | None) -> str | None:
    return text if text is None or len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
