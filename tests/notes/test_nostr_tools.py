"""Cross-check with npm `nostr-tools`, an independent implementation, and with the official NIP-44 vectors.

The vectors are the file whose checksum NIP-44 names, from github.com/paulmillr/nip44 (public domain).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

import nostr_sdk
import pytest

from tests.notes.conftest import OpenNotes
from tests.notes.forge import Forge
from tests.notes.relays.hostile import HostileRelay
from uniko_mcp.notes import NoteKind

HERE: Final = Path(__file__).parent
VECTORS_SHA256: Final = "269ed0f69e4c192512cc779e78c555090cebc7c785b609e338a62afc3ce25040"
LARGEST: Final = 65_408
"""nostr_sdk encrypts no more; the standard goes up to 65,535."""

Peer: TypeAlias = Callable[..., Any]
Vectors: TypeAlias = dict[str, Any]
TEXTS: Final = ["a", "# Notes\n- ship *it*", "🦄👩‍👩‍👧 東京 Привет", "x" * 32_000, "\N{GRINNING FACE}" * 10_240]


@pytest.fixture(scope="session")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Peer:
    """Asks `nostr-tools`: `peer(action, **request)`."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        assert "CI" not in os.environ, "the cross-check must run in CI: install node and npm"
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("node")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "node" / name, folder)
    subprocess.run([npm, "ci", "--silent"], cwd=folder, check=True, timeout=300)

    def ask(action: str, **request: Any) -> Any:
        asked = json.dumps({"action": action, **request}).encode()
        command = [node, str(HERE / "node" / "peer.mjs")]
        answer = subprocess.run(command, cwd=folder, input=asked, stdout=subprocess.PIPE, check=True, timeout=60)
        return json.loads(answer.stdout)

    return ask


@pytest.fixture(scope="session")
def vectors() -> Vectors:
    """The official vectors of NIP-44 version 2."""
    content = (HERE / "nip44.vectors.json").read_bytes()
    assert hashlib.sha256(content).hexdigest() == VECTORS_SHA256
    return json.loads(content)["v2"]


def keys_of(secret: str) -> tuple[nostr_sdk.SecretKey, nostr_sdk.PublicKey]:
    key = nostr_sdk.SecretKey.parse(secret)
    return key, nostr_sdk.Keys(key).public_key()


def encrypt(secret: str, public: nostr_sdk.PublicKey, text: str) -> str:
    return nostr_sdk.nip44_encrypt(nostr_sdk.SecretKey.parse(secret), public, text, nostr_sdk.Nip44Version.V2)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", NoteKind)
async def test_nostr_tools_reads_what_the_notes_write(
    peer: Peer, hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge, kind: NoteKind
) -> None:
    forge.give_key_to()
    notes = await open_notes(hostile_relay.url)
    for text in TEXTS:
        if len(text) > kind.max_characters:
            continue
        await notes.save(kind, text, wait_for_relays=True)
        event = hostile_relay.published[-1]
        read = peer("read", secret=forge.keys.secret_key().to_hex(), event=event)
        assert read == {"signed": True, "author": True, "text": text}
        assert (event["kind"], event["tags"]) == (30_078, [["d", kind.identifier], ["app", "didactyl"]])


@pytest.mark.anyio
@pytest.mark.parametrize("kind", NoteKind)
async def test_the_notes_read_what_nostr_tools_writes(
    peer: Peer, hostile_relay: HostileRelay, open_notes: OpenNotes, forge: Forge, kind: NoteKind
) -> None:
    """A Didactyl agent with the same key on another machine."""
    forge.give_key_to()
    secret = forge.keys.secret_key().to_hex()
    tags = [["d", kind.identifier], ["app", "didactyl"]]
    notes = await open_notes(hostile_relay.url)
    for number, text in enumerate(TEXTS):
        event = peer("write", secret=secret, kind=30_078, tags=tags, created_at=1_700_000_000 + number, text=text)
        hostile_relay.behaviour.events = [event]
        await notes.sync()
        assert (await notes.read(kind)).content == text


@pytest.mark.anyio
async def test_nostr_tools_names_and_opens_the_same_key(peer: Peer, open_notes: OpenNotes, forge: Forge) -> None:
    """NIP-19 and NIP-49"""
    forge.give_key_to()
    notes = await open_notes()
    secret = forge.keys.secret_key().to_hex()
    assert peer("names", secret=secret) == {"npub": (await notes.status()).npub, "nsec": forge.nsec}
    exported = await notes.export_key("päßword")
    assert peer("open_export", exported=exported, password="päßword") == secret


def test_the_official_payloads_are_decrypted_by_both_sides(vectors: Vectors) -> None:
    for case in vectors["valid"]["encrypt_decrypt"]:
        (secret1, public1), (secret2, public2) = keys_of(case["sec1"]), keys_of(case["sec2"])
        assert nostr_sdk.nip44_decrypt(secret1, public2, case["payload"]) == case["plaintext"]
        assert nostr_sdk.nip44_decrypt(secret2, public1, case["payload"]) == case["plaintext"]


def test_the_official_texts_are_exchanged_both_ways(peer: Peer, vectors: Vectors) -> None:
    cases = vectors["valid"]["encrypt_decrypt"]
    assert peer("encrypt", cases=cases) == [case["payload"] for case in cases]
    sent = [
        {
            "sec1": case["sec2"],
            "pub2": keys_of(case["sec1"])[1].to_hex(),
            "payload": encrypt(case["sec1"], keys_of(case["sec2"])[1], case["plaintext"]),
        }
        for case in cases
    ]
    assert peer("decrypt", cases=sent) == [case["plaintext"] for case in cases]


def test_the_official_conversation_keys_are_derived(peer: Peer, vectors: Vectors) -> None:
    """What was encrypted under the key that a vector names opens with the pair it is to be derived from."""
    cases = vectors["valid"]["get_conversation_key"]
    payloads = peer("encrypt", cases=[{**case, "plaintext": "derived"} for case in cases])
    for case, payload in zip(cases, payloads, strict=True):
        secret, public = nostr_sdk.SecretKey.parse(case["sec1"]), nostr_sdk.PublicKey.parse(case["pub2"])
        assert nostr_sdk.nip44_decrypt(secret, public, payload) == "derived"


def test_the_official_padding_is_used(forge: Forge, vectors: Vectors) -> None:
    overhead = 1 + 32 + 2 + 32  # version, nonce, length, MAC
    for length, padded in vectors["valid"]["calc_padded_len"]:
        if length <= LARGEST:
            payload = forge.keys.nip44_encrypt(forge.keys.public_key(), "x" * length)
            assert len(base64.b64decode(payload)) == padded + overhead, length


def test_the_official_invalid_keys_are_refused(vectors: Vectors) -> None:
    for case in vectors["invalid"]["get_conversation_key"]:
        with pytest.raises(nostr_sdk.NostrSdkError):
            encrypt(case["sec1"], nostr_sdk.PublicKey.parse(case["pub2"]), "x")


def test_the_official_invalid_payloads_are_refused(forge: Forge, vectors: Vectors) -> None:
    for case in vectors["invalid"]["decrypt"]:
        with pytest.raises(nostr_sdk.NostrSdkError):
            forge.keys.nip44_decrypt(forge.keys.public_key(), case["payload"])


@pytest.mark.parametrize("length", [0, LARGEST + 1, 65_536, 100_000])
def test_the_library_refuses_what_the_limits_refuse(forge: Forge, length: int) -> None:
    """N2: so that the documented limit is the real one."""
    with pytest.raises(nostr_sdk.NostrSdkError):
        forge.keys.nip44_encrypt(forge.keys.public_key(), "x" * length)
    assert forge.keys.nip44_encrypt(forge.keys.public_key(), "x" * LARGEST)
