"""The interval arithmetic of facts: the query and the function say the same, for every order of the ends."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path

import pytest

from uniko_mcp.memory.fact_time import holds, holds_in
from uniko_mcp.store import Draft, Store, View

pytestmark = pytest.mark.anyio

INTERVALS = tuple(product(range(1, 4), (None, *range(1, 6))))
SPANS = tuple((since, until) for since, until in product(range(6), range(1, 7)) if since < until)


def found(view: View, since: int, until: int) -> set[int]:
    rows = view.rows(f"MATCH (n:Fact) WHERE {holds('n')} RETURN n.fact_id AS id", since=since, until=until)
    return {int(row["id"]) for row in rows}


async def test_a_fact_holds_where_its_interval_and_the_span_share_a_moment(tmp_path: Path) -> None:
    def put(draft: Draft) -> None:
        for number, (start, end) in enumerate(INTERVALS):
            draft.put("Fact", str(number), valid_from=start, valid_to=end)

    store = await Store.open(tmp_path)
    try:
        await store.write(put)
        for since, until in SPANS:
            moments = set(range(since, until))
            shared = {number for number, (start, end) in enumerate(INTERVALS) if moments & set(range(start, end or 9))}
            held = {
                number
                for number, (start, end) in enumerate(INTERVALS)
                if holds_in({"valid_from": start, "valid_to": end}, since, until)
            }
            assert held == shared
            assert await store.read(partial(found, since=since, until=until)) == shared
    finally:
        await store.close()
