"""The channel of links: activation that spreads from the query's entities over the documents that mention them.

Spreading activation after Collins and Loftus, "A Spreading-Activation Theory of Semantic Processing" (1975): from an
entity to the documents that mention it or are about it, from these to the messages that they rest on, and over the
entities that they share with others to further documents. An entity passes on the less, the more documents mention it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from uniko_mcp.recall.scope import Scope
from uniko_mcp.store.index.columns import NOWHERE
from uniko_mcp.store.index.rank_index import RankIndex
from uniko_mcp.store.index.writer import MESSAGE

SECOND_STEP: Final = 0.3
"""What reaches a document over one further entity, as a share of what reaches it at once."""
EVIDENCE: Final = 0.5
"""What reaches a message that a document rests on, as a share of what reaches the document."""
_MOST_SEEDS: Final = 8
_MOST_HUBS: Final = 50
"""Documents whose further entities are followed."""


def spread_activation(index: RankIndex, scope: Scope, entities: Sequence[str]) -> dict[int, float]:
    """The activation of each readable row that is reached, the highest being 1."""
    seeds = index.known_entities(entities)[:_MOST_SEEDS]
    first = _step(index, scope, dict.fromkeys(seeds, 1.0))
    if not first:
        return {}
    records = scope.columns.records
    hubs = sorted(first, key=lambda row: (-first[row], -records["timestamp"][row], records["tie"][row]))[:_MOST_HUBS]
    evidence = _evidence(index, scope, {row: first[row] for row in hubs})
    further: dict[str, float] = defaultdict(float)
    for row, mentioned in index.entities_of(hubs).items():
        for entity in mentioned:
            if entity not in seeds:
                further[entity] += first[row]
    strongest = sorted(further, key=lambda entity: (-further[entity], entity))[:_MOST_SEEDS]
    peak = max((further[entity] for entity in strongest), default=1.0)
    second = _step(index, scope, {entity: SECOND_STEP * further[entity] / peak for entity in strongest})
    steps = (first, evidence, second)
    rows = first.keys() | evidence.keys() | second.keys()
    reached = {row: sum(step.get(row, 0.0) for step in steps) for row in rows}
    top = max(reached.values())
    return {row: reached[row] / top for row in sorted(reached)}


def _step(index: RankIndex, scope: Scope, activation: Mapping[str, float]) -> dict[int, float]:
    reached: dict[int, float] = defaultdict(float)
    for entity, energy in activation.items():
        rows = index.mentions(entity)
        for row in rows:
            if row < len(scope.readable) and scope.readable[row]:
                reached[row] += energy / (1 + len(rows)) ** 0.5
    return dict(reached)


def _evidence(index: RankIndex, scope: Scope, activation: Mapping[int, float]) -> dict[int, float]:
    """What reaches the messages that documents rest on: that of which they are a piece, or those they name."""
    records = scope.columns.records
    parents = {row: int(records["parent"][row]) for row in activation}
    message = index.labels.code("kind", MESSAGE)
    loose = [row for row, parent in parents.items() if parent == NOWHERE and records["kind"][row] != message]
    named = index.evidence_of(loose)
    reached: dict[int, float] = {}
    for row, energy in activation.items():
        for evidence in named.get(row, [parents[row]]):
            if 0 <= evidence < len(scope.readable) and scope.readable[evidence]:
                reached[evidence] = max(reached.get(evidence, 0.0), EVIDENCE * energy)
    return reached
