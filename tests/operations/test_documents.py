"""Documents: what is kept of them, what a second ingest changes, and which files may be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.client import MemoryClient
from tests.pdf import pdf
from uniko_mcp.config import DocumentSettings, EmbeddingSettings, Settings
from uniko_mcp.errors import (
    DocumentError,
    IdConflictError,
    InvalidArgumentsError,
    LimitExceededError,
    NotFoundError,
)
from uniko_mcp.memory import document_files, documents
from uniko_mcp.models.time import parse_instant
from uniko_mcp.operations.call import Call, open_services
from uniko_mcp.operations.dispatch import dispatch
from uniko_mcp.operations.documents import ingest_document

pytestmark = pytest.mark.anyio

GUIDE = """# Setup

Install the service with `pip install billing`. Ana Souza maintains it in Lisbon.

## Database

It needs PostgreSQL 16 on port 5432. Do not use the port 5433.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "allowed docs"
    place.mkdir()
    return place


@pytest.fixture
def settings(tmp_path: Path, folder: Path) -> Settings:
    return Settings(
        data_dir=tmp_path / "memory",
        documents=DocumentSettings(folders=(folder,)),
        embedding=EmbeddingSettings(model="none"),
    )


async def neighbours(memory: MemoryClient, id: str, relation: str, direction: str = "out") -> list[dict[str, Any]]:
    found = (await memory("get_memory", id=id))["provenance"]
    return [p for p in found if (p["relation"], p["direction"]) == (relation, direction)]


async def test_a_document_is_kept_with_chunks_headings_positions_and_what_they_mention(memory: MemoryClient) -> None:
    await memory("record_messages", session_id="s", messages=[{"sender": "ana", "content": "Here.", "message_id": "m"}])
    text = GUIDE + "\n" + "The cache is warmed at start. " * 40
    done = await memory(
        "ingest_document",
        content=text,
        mime="text/markdown",
        artifact_id="guide",
        source="https://example.org/guide.md",
        revision="1",
        session_id="s",
        message_id="m",
    )
    assert done == {
        "artifact_id": "guide",
        "created": True,
        "title": "Setup",
        "chunks": done["chunks"],
        "superseded": [],
        "skipped_links": [],
        "notes": [],
    }
    assert done["chunks"] >= 2
    artifact = (await memory("get_memory", id="guide"))["memory"]
    assert (artifact["kind"], artifact["mime"], artifact["title"]) == ("document", "text/markdown", "Setup")
    assert (artifact["source_id"], artifact["revision"]) == ("https://example.org/guide.md", "1")
    assert [p["id"] for p in await neighbours(memory, "guide", "IN_SESSION")] == ["s"]
    assert [p["id"] for p in await neighbours(memory, "guide", "ATTACHED_TO")] == ["m"]
    assert [p["id"] for p in await neighbours(memory, "guide", "RECORDED_BY")] == ["assistant"]
    for index in range(done["chunks"]):
        chunk = (await memory("get_memory", id=f"guide-{index}"))["memory"]
        assert text[chunk["start"] : chunk["end"]] == chunk["text"]
        assert chunk["heading"].startswith("Setup")
    mentioned = {p["text"] for p in await neighbours(memory, "guide-0", "MENTIONS")}
    assert {"Ana Souza", "Lisbon"} <= mentioned


async def test_equal_contents_are_stored_once(memory: MemoryClient) -> None:
    first = await memory("ingest_document", content=GUIDE, title="One")
    other = await memory("ingest_document", content=GUIDE, title="Two")
    assert first["artifact_id"] != other["artifact_id"]
    counts = (await memory("memory_status"))["counts"]
    assert (counts["Artifact"], counts["ArtifactContent"]) == (2, 1)


async def test_without_ids_the_same_content_and_title_are_the_same_document(memory: MemoryClient) -> None:
    """W6"""
    first = await memory("ingest_document", content=GUIDE)
    again = await memory("ingest_document", content=GUIDE)
    assert (again["artifact_id"], again["created"]) == (first["artifact_id"], False)
    assert again["chunks"] == first["chunks"]
    assert (await memory("memory_status"))["counts"]["Artifact"] == 1


async def test_an_own_id_is_the_identity(memory: MemoryClient) -> None:
    await memory("ingest_document", content=GUIDE, artifact_id="guide")
    again = await memory("ingest_document", content=GUIDE, artifact_id="guide", title="Another title")
    assert (again["artifact_id"], again["created"]) == ("guide", False)
    with pytest.raises(IdConflictError, match="artifact 'guide' exists with other content"):
        await memory("ingest_document", content="Something else.", artifact_id="guide")
    second = await memory("ingest_document", content=GUIDE, artifact_id="copy")
    assert second["created"] is True


async def test_a_new_content_of_a_source_supersedes_the_old_one_and_the_same_is_a_no_op(memory: MemoryClient) -> None:
    first = await memory("ingest_document", content="The port is 8080.", source="wiki/ports")
    same = await memory("ingest_document", content="The port is 8080.", source="wiki/ports")
    memory.at = "2126-05-01T00:00:00Z"
    second = await memory("ingest_document", content="The port is 8443.", source="wiki/ports")
    assert (same["artifact_id"], same["created"]) == (first["artifact_id"], False)
    assert second["superseded"] == [first["artifact_id"]]
    old = (await memory("get_memory", id=first["artifact_id"]))["memory"]
    assert old["superseded_at"] == "2126-05-01T00:00:00Z"
    assert [p["id"] for p in await neighbours(memory, second["artifact_id"], "SUPERSEDES")] == [first["artifact_id"]]

    memory.at = "2126-05-02T00:00:00Z"
    back = await memory("ingest_document", content="The port is 8080.", source="wiki/ports")
    assert (back["created"], back["superseded"]) == (True, [second["artifact_id"]])


async def test_recall_finds_the_passage_with_its_document_and_only_the_latest_revision(memory: MemoryClient) -> None:
    filler = "The cache is warmed at start. " * 40
    await memory("ingest_document", content=f"# Old\n\n{filler}\n\n## Ports\n\nPort 8080.", source="wiki/ports")
    second = await memory(
        "ingest_document", content=f"# New\n\n{filler}\n\n## Ports\n\nPort 8443.", source="wiki/ports"
    )
    found = await memory("recall", query="which port", kinds=["chunk"])
    assert found["items"][0]["sources"] == [{"artifact_id": second["artifact_id"]}]
    assert "8443" in found["items"][0]["text"]
    assert not any("8080" in item["text"] for item in found["items"])
    older = await memory("recall", query="which port", kinds=["chunk"], include_superseded=True)
    assert any("8080" in item["text"] for item in older["items"])


async def test_a_revision_is_one_content(memory: MemoryClient) -> None:
    first = await memory("ingest_document", content="Draft.", source="spec", revision="1")
    second = await memory("ingest_document", content="Draft.", source="spec", revision="2")
    assert second["superseded"] == [first["artifact_id"]]
    late = await memory("ingest_document", content="Draft.", source="spec", revision="1")
    assert (late["artifact_id"], late["created"]) == (first["artifact_id"], False)
    with pytest.raises(IdConflictError, match="revision '1' of 'spec' exists with other content"):
        await memory("ingest_document", content="Changed.", source="spec", revision="1")
    with pytest.raises(IdConflictError):
        await memory("ingest_document", content="Changed.", source="spec", revision="2", artifact_id="own")


@pytest.mark.parametrize(("first", "second", "late"), [("1", "3", "2"), ("2025-01", "2025-03", "2025-02-14")])
async def test_an_older_revision_that_comes_late_does_not_take_the_place_of_the_current_one(
    memory: MemoryClient, first: str, second: str, late: str
) -> None:
    for revision in (first, second):
        await memory(
            "ingest_document", content=f"Port {revision}.", source="spec", revision=revision, artifact_id=revision
        )
    done = await memory("ingest_document", content=f"Port {late}.", source="spec", revision=late, artifact_id=late)
    assert (done["created"], done["superseded"], done["superseded_by"]) == (True, [], second)
    assert "superseded_at" not in (await memory("get_memory", id=second))["memory"]
    assert {p["id"] for p in await neighbours(memory, second, "SUPERSEDES")} == {first, late}
    assert {item["text"] for item in (await memory("recall", query="port", kinds=["chunk"]))["items"]} == {
        f"Port {second}."
    }
    again = await memory("ingest_document", content=f"Port {late}.", source="spec", revision=late)
    assert (again["artifact_id"], again["created"]) == (late, False)


async def test_of_revisions_without_an_order_the_later_to_come_is_the_current_one(memory: MemoryClient) -> None:
    await memory("ingest_document", content="One.", source="spec", revision="9f8e7d6", artifact_id="first")
    done = await memory("ingest_document", content="Two.", source="spec", revision="1a2b3c4")
    assert done["superseded"] == ["first"]
    assert "superseded_by" not in done


async def test_a_link_to_an_unknown_message_is_reported(memory: MemoryClient) -> None:
    done = await memory("ingest_document", content=GUIDE, message_id="nowhere")
    assert done["skipped_links"] == [{"parameter": "message_id", "id": "nowhere", "reason": "there is no such Message"}]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "give either content or path"),
        ({"content": GUIDE, "path": "guide.md"}, "give either content or path"),
        ({"content": " \n"}, "content: is blank"),
        ({"path": " "}, "path: is blank"),
    ],
)
async def test_exactly_one_of_content_and_path_is_wanted_and_not_blank(
    memory: MemoryClient, arguments: dict[str, Any], says: str
) -> None:
    """I2"""
    with pytest.raises(InvalidArgumentsError, match=says):
        await memory("ingest_document", **arguments)


async def test_a_document_without_text_is_refused(memory: MemoryClient, folder: Path) -> None:
    (folder / "blank.txt").write_text(" \n\t", encoding="utf-8")
    with pytest.raises(DocumentError, match="holds no text"):
        await memory("ingest_document", path="blank.txt")
    with pytest.raises(DocumentError, match="holds no text"):
        await memory("ingest_document", content="<html><body><img src='x'></body></html>", mime="text/html")


async def test_a_document_over_the_limit_is_refused_before_it_is_cut_up(memory: MemoryClient) -> None:
    with pytest.raises(LimitExceededError, match="2,000,001 characters, and one document may hold 2,000,000"):
        await memory("ingest_document", content="x" * (documents.MAX_CHARACTERS + 1))


# Files


async def test_a_file_is_read_by_its_type_and_is_its_own_source(memory: MemoryClient, folder: Path) -> None:
    file = folder / "Preisliste ü.csv"
    file.write_text("item,price\ncable,4\nscreen,300\n", encoding="utf-8")
    first = await memory("ingest_document", path=str(file))
    stored = (await memory("get_memory", id=first["artifact_id"]))["memory"]
    assert (stored["mime"], stored["path"], stored["source_id"]) == ("text/csv", str(file), str(file))
    assert (await memory("ingest_document", path=file.name))["created"] is False
    file.write_text("item,price\ncable,5\nscreen,300\n", encoding="utf-8")
    assert (await memory("ingest_document", path=file.name))["superseded"] == [first["artifact_id"]]


PAGE = """<html><head><title>Ports</title><script>bad()</script></head>
<body><nav>Home</nav><h1>Ports of the gateway</h1><p>The gateway listens on port 8443.</p></body></html>"""
CODE = '''"""The gateway."""

def start(port: int = 8443) -> None:
    """Listen on the port of the gateway."""
    listen(port)
'''


@pytest.mark.parametrize(
    ("name", "content", "mime", "heading"),
    [
        ("ports.html", PAGE.encode(), "text/html", "Ports of the gateway"),
        ("ports.json", b'{"gateway": {"port": 8443}, "name": "edge"}', "application/json", "gateway"),
        ("gateway.py", CODE.encode(), "text/x-py", "start"),
        ("ports.pdf", pdf("Contents", "The gateway has port 8443"), "application/pdf", "Page 2"),
        ("ports.csv", b"service,port\ngateway,8443\n", "text/csv", ""),
        ("ports.txt", b"The gateway has port 8443.", "text/plain", ""),
    ],
)
async def test_a_file_of_each_type_is_kept_and_its_passage_recalled(
    memory: MemoryClient, folder: Path, name: str, content: bytes, mime: str, heading: str
) -> None:
    (folder / name).write_bytes(content)
    done = await memory("ingest_document", path=name)
    assert (done["created"], done["notes"]) == (True, [])
    assert (await memory("get_memory", id=done["artifact_id"]))["memory"]["mime"] == mime
    [item, *_] = (await memory("recall", query="gateway port 8443", kinds=["chunk"]))["items"]
    assert "8443" in item["text"]
    assert "bad()" not in item["text"]
    assert item["sources"] == [{"artifact_id": done["artifact_id"]}]
    assert heading in (await memory("get_memory", id=item["id"]))["memory"].get("heading", "")
    again = await memory("ingest_document", path=name)
    assert (again["artifact_id"], again["created"]) == (done["artifact_id"], False)


async def test_content_that_is_sent_is_read_by_its_type_too(memory: MemoryClient) -> None:
    page = await memory("ingest_document", content=PAGE, mime="text/html", source="https://example.org/ports")
    assert (page["title"], page["created"]) == ("Ports", True)
    config = await memory("ingest_document", content='{"gateway": {"port": 8443}}', source="https://example.org/c.json")
    assert (await memory("get_memory", id=config["artifact_id"]))["memory"]["mime"] == "application/json"
    found = await memory("recall", query="gateway port 8443", kinds=["chunk"])
    assert {item["text"] for item in found["items"]} >= {"gateway.port: 8443"}


async def test_a_file_elsewhere_is_refused_with_the_way_to_allow_it(
    memory: MemoryClient, folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read", encoding="utf-8")
    (folder / "link.txt").symlink_to(secret)
    (folder / "sub").symlink_to(tmp_path)
    (tmp_path / "allowed docs too").mkdir()
    (tmp_path / "allowed docs too" / "x.txt").write_text("a folder with the same beginning", encoding="utf-8")
    for path in (
        str(secret),
        "../secret.txt",
        f"{folder}/../secret.txt",
        "link.txt",
        "sub/secret.txt",
        "/etc/hostname",
        "../missing",
        "../allowed docs too/x.txt",
        "~nobody-of-this-name/x",
        "a\0b",
    ):
        with pytest.raises(InvalidArgumentsError, match=r"under no folder.*documents\.folders"):
            await memory("ingest_document", path=path)


async def test_the_memory_s_own_folder_is_never_read(tmp_path: Path) -> None:
    """Not even when the configuration names a folder above it: the key lies there."""
    settings = Settings(
        data_dir=tmp_path / "memory",
        embedding=EmbeddingSettings(model="none"),
        documents=DocumentSettings(folders=(tmp_path,)),
    )
    async with open_services(settings) as services:
        memory = MemoryClient(services, "assistant")
        await memory("memory_save", type="short_term", content="x")
        (tmp_path / "alias").symlink_to(settings.data_dir / "identity.key")
        for path in ("memory/identity.key", "alias", "memory/journal.jsonl"):
            with pytest.raises(InvalidArgumentsError, match="under no folder that may be read"):
                await memory("ingest_document", path=path)


async def test_a_link_that_stays_inside_is_followed(memory: MemoryClient, folder: Path) -> None:
    (folder / "real.md").write_text(GUIDE, encoding="utf-8")
    (folder / "alias.md").symlink_to(folder / "real.md")
    done = await memory("ingest_document", path="alias.md")
    stored = (await memory("get_memory", id=done["artifact_id"]))["memory"]
    assert stored["path"] == str(folder / "real.md")


async def test_what_is_no_readable_file_is_refused(memory: MemoryClient, folder: Path) -> None:
    (folder / "inner").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "picture.bin").write_bytes(b"\x89PNG\0\0")
    (folder / "huge.txt").touch()
    os.truncate(folder / "huge.txt", document_files.MAX_FILE_BYTES + 1)
    with pytest.raises(NotFoundError, match=r"there is no file 'absent\.md'"):
        await memory("ingest_document", path="absent.md")
    with pytest.raises(DocumentError, match="'inner' "):
        await memory("ingest_document", path="inner")
    with pytest.raises(DocumentError, match="'pipe' is not a file"):
        await memory("ingest_document", path="pipe")
    with pytest.raises(DocumentError, match="binary"):
        await memory("ingest_document", path="picture.bin")
    with pytest.raises(LimitExceededError, match="50,000,001 bytes"):
        await memory("ingest_document", path="huge.txt")
    assert "Artifact" not in (await memory("memory_status"))["counts"]


async def test_without_folders_no_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello", encoding="utf-8")
    async with open_services(Settings(data_dir=tmp_path / "closed")) as services:
        with pytest.raises(InvalidArgumentsError, match=r"documents\.folders"):
            await MemoryClient(services, "assistant")("ingest_document", path=str(tmp_path / "x.txt"))


# While it runs


async def test_it_reports_each_chunk_and_stops_when_the_call_is_cancelled(memory: MemoryClient) -> None:
    parts = (f"# Part {number}\n\n{'A sentence about Lisbon. ' * 30}" for number in range(20))
    reports: list[tuple[float, float, str]] = []
    scope = anyio.CancelScope()

    def progress(done: float, total: float, message: str) -> None:
        reports.append((done, total, message))
        if done == 3:
            anyio.from_thread.run_sync(scope.cancel)

    call = Call("assistant", memory.services.settings, parse_instant("2026-01-01"), progress)
    with scope:
        await dispatch(memory.services, call, ingest_document, {"content": "\n\n".join(parts)})
    assert scope.cancelled_caught
    assert [done for done, _, _ in reports] == [1, 2, 3]
    assert {message for _, _, message in reports} == {"reading the document"}
    assert "Artifact" not in (await memory("memory_status"))["counts"]
