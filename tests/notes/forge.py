"""Making events outside of the notes: honest ones of another machine, and every kind of dishonest one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nostr_sdk

APP_TAG = ["app", "didactyl"]


class Forge:
    """Holds a key that the notes of every machine of a test are given too."""

    def __init__(self, folder: Path) -> None:
        self.keys = nostr_sdk.Keys.generate()
        self.npub = self.keys.public_key().to_bech32()
        self.nsec = self.keys.secret_key().to_bech32()
        self._folder = folder

    def give_key_to(self, machine: str = "data") -> None:
        """Make the key that of a machine's data directory."""
        (self._folder / machine).mkdir(mode=0o700, exist_ok=True)
        path = self.key_file(machine)
        path.touch(mode=0o600)
        path.write_text(self.nsec + "\n", encoding="utf-8")

    def key_file(self, machine: str = "data") -> Path:
        """Where a machine keeps its key."""
        return self._folder / machine / "identity.key"

    def event(
        self,
        content: str,
        *,
        age: float = 0,
        at: int | None = None,
        keys: nostr_sdk.Keys | None = None,
        reader: nostr_sdk.PublicKey | None = None,
        kind: int = 30_078,
        tags: list[list[str]] | None = None,
        cipher: str | None = None,
    ) -> dict[str, Any]:
        """A signed event, `age` seconds old or of the Unix time `at`, as a relay would send it."""
        keys = keys or self.keys
        cipher = cipher or keys.nip44_encrypt(reader or keys.public_key(), content)
        tags = tags if tags is not None else [["d", "short_term_memory"], APP_TAG]
        builder = nostr_sdk.EventBuilder(nostr_sdk.Kind(kind), cipher)
        builder = builder.tags([nostr_sdk.Tag.parse(tag) for tag in tags])
        builder = builder.custom_created_at(nostr_sdk.Timestamp.from_secs(at or int(time.time() - age)))
        return json.loads(builder.finalize(keys).as_json())

    def text_of(self, event: dict[str, Any]) -> str:
        """The plain text of an event that the notes made."""
        return self.keys.nip44_decrypt(self.keys.public_key(), event["content"])


LIES: dict[str, Callable[[Forge], dict[str, Any]]] = {
    "another author": lambda forge: forge.event("lie", keys=forge.keys.generate()),
    "another kind": lambda forge: forge.event("lie", kind=1),
    "no d tag": lambda forge: forge.event("lie", tags=[APP_TAG]),
    "another d tag": lambda forge: forge.event("lie", tags=[["d", "tasks"], APP_TAG]),
    "two d tags": lambda forge: forge.event("lie", tags=[["d", "short_term_memory"], ["d", "tasks"], APP_TAG]),
    "two equal d tags": lambda forge: forge.event("lie", tags=[["d", "short_term_memory"], ["d", "short_term_memory"]]),
    "a wrong signature": lambda forge: {**forge.event("lie"), "sig": forge.event("other")["sig"]},
    "another content": lambda forge: {**forge.event("lie"), "content": forge.event("other")["content"]},
    "a wrong id": lambda forge: {**forge.event("lie"), "id": "0" * 64},
    "a future date": lambda forge: forge.event("lie", age=-1_000),
}
"""Events that a relay may send and that are no version of a note of the forge's key."""
