"""Snapshots: complete, verified, portable, and harmless when they fail."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import pytest

from tests.store.reference import content
from uniko_mcp.errors import StoreError
from uniko_mcp.models.changes import PutEdge, PutNode
from uniko_mcp.store import Commit, Store
from uniko_mcp.store.snapshot import read_snapshot, snapshots, verify_snapshot

pytestmark = pytest.mark.anyio


async def fill(store: Store) -> None:
    await store.write(lambda draft: [draft.put("Topic", f"t{n}", name=f"topic {n}") for n in range(3)] and None)
    await store.write(lambda draft: draft.link("PART_OF", ("Topic", "t1"), ("Topic", "t0")))


async def test_the_file_is_as_documented(store: Store, tmp_path: Path) -> None:
    await fill(store)
    path = await store.export_snapshot(tmp_path / "backups" / "first.jsonl.gz")
    header, *records, trailer = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    assert header.pop("created_at") > 0
    assert header == {"format": "uniko-snapshot", "version": 1, "schema_version": 1, "sequence": 2}
    assert sorted(map(str, records)) == sorted(
        [str({"node": "Topic", "id": f"t{n}", "properties": {"name": f"topic {n}"}}) for n in range(3)]
        + [str({"edge": "PART_OF", "from": ["Topic", "t1"], "to": ["Topic", "t0"], "properties": {}})]
    )
    assert trailer.pop("crc32")
    assert trailer == {"end": True, "nodes": 3, "edges": 1}


async def test_a_snapshot_shortens_the_journal_and_two_are_kept(store: Store, directory: Path) -> None:
    for _ in range(3):
        await fill(store)
        taken = await store.snapshot()
        assert store.status().journal_entries == 0
    assert snapshots(directory) == store.status().snapshots
    assert snapshots(directory)[0] == taken
    assert len(snapshots(directory)) == 2


async def test_writes_go_on_while_a_snapshot_is_taken_and_stay_in_the_journal(store: Store) -> None:
    await fill(store)
    written: list[None] = []

    def write_once(done: int, total: int) -> None:
        if not written:
            store_write = store._writer.submit(lambda draft: draft.put("Topic", "meanwhile"))  # pyright: ignore
            written.append(store_write.result())

    path = await store.snapshot(write_once)
    assert PutNode("Topic", "meanwhile", {}) not in list(read_snapshot(path))
    assert store.status().journal_entries == 1
    assert await store.read(lambda view: view.existing("Topic", ["meanwhile"])) == {"meanwhile"}


async def test_progress_is_told_up_to_the_end(store: Store) -> None:
    await fill(store)
    told: list[tuple[int, int]] = []
    await store.snapshot(lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)


async def test_restoring_replaces_the_memory_and_tells_the_listeners(store: Store, tmp_path: Path) -> None:
    await fill(store)
    backup = await store.export_snapshot(tmp_path / "backup.jsonl.gz")
    expected = await store.read(content)
    told: list[Commit] = []
    store.on_commit(told.append)
    await store.write(lambda draft: draft.delete("Topic", "t0"))
    await store.restore_snapshot(backup)
    assert await store.read(content) == expected
    assert [(commit.sequence, len(commit.changes)) for commit in told] == [(3, 1), (4, 0)]
    await store.write(lambda draft: draft.link("PART_OF", ("Topic", "t2"), ("Topic", "t0")))


@pytest.mark.parametrize("position", [0.01, 0.3, 0.6, 0.99])
async def test_a_damaged_backup_leaves_the_memory_as_it_was(store: Store, tmp_path: Path, position: float) -> None:
    """C5."""
    await fill(store)
    backup = await store.export_snapshot(tmp_path / "backup.jsonl.gz")
    damaged = bytearray(gzip.decompress(backup.read_bytes()))
    damaged[int(len(damaged) * position)] ^= 1
    backup.write_bytes(gzip.compress(bytes(damaged)))
    await store.write(lambda draft: draft.put("Topic", "newer than the backup"))
    before = await store.read(content)
    with pytest.raises(StoreError):
        await store.restore_snapshot(backup)
    assert await store.read(content) == before


async def test_a_restore_that_fails_half_way_leaves_the_memory_as_it_was(store: Store, tmp_path: Path) -> None:
    """C5: the file is sound but names a node twice, which the graph refuses only while it is being loaded."""
    await fill(store)
    backup = tmp_path / "backup.jsonl.gz"
    await store.export_snapshot(backup)
    write_records(backup, [*read_snapshot(backup), PutNode("Topic", "t1", {})])
    verify_snapshot(backup)
    before = await store.read(content)
    with pytest.raises(StoreError):
        await store.restore_snapshot(backup)
    assert await store.read(content) == before
    await store.write(lambda draft: draft.put("Topic", "still writable"))


@pytest.mark.parametrize("change", [{"version": 2}, {"schema_version": 99}])
async def test_a_snapshot_of_a_newer_version_says_to_upgrade(
    store: Store, tmp_path: Path, change: dict[str, int]
) -> None:
    backup = await store.export_snapshot(tmp_path / "backup.jsonl.gz")
    header, rest = gzip.decompress(backup.read_bytes()).split(b"\n", 1)
    backup.write_bytes(gzip.compress(json.dumps(json.loads(header) | change).encode() + b"\n" + rest))
    with pytest.raises(StoreError, match="Upgrade"):
        await store.restore_snapshot(backup)


@pytest.mark.parametrize("text", [b"", b"not gzip", gzip.compress(b""), gzip.compress(b"{}\n")])
async def test_another_file_is_refused(store: Store, tmp_path: Path, text: bytes) -> None:
    other = tmp_path / "other.jsonl.gz"
    other.write_bytes(text)
    with pytest.raises(StoreError):
        await store.restore_snapshot(other)


def write_records(path: Path, records: list[PutNode | PutEdge]) -> None:
    """Write a snapshot of these records whose checksum is right."""
    header = gzip.decompress(path.read_bytes()).split(b"\n", 1)[0]
    nodes = [record for record in records if isinstance(record, PutNode)]
    edges = [record for record in records if isinstance(record, PutEdge)]
    lines = [
        header,
        *(json.dumps({"node": n.kind, "id": n.id, "properties": dict(n.properties)}).encode() for n in nodes),
        *(
            json.dumps(
                {"edge": e.kind, "from": [e.from_kind, e.from_id], "to": [e.to_kind, e.to_id], "properties": {}}
            ).encode()
            for e in edges
        ),
    ]
    body = b"".join(line + b"\n" for line in lines)
    trailer = {"end": True, "nodes": len(nodes), "edges": len(edges), "crc32": f"{zlib.crc32(body):08x}"}
    path.write_bytes(gzip.compress(body + json.dumps(trailer).encode() + b"\n"))
