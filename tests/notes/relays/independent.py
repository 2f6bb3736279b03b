"""PyPI `nostr-relay`: an independent implementation over SQLite."""

from __future__ import annotations

from typing import Final

from tests.notes.relays.process import RelayProcess

CONFIGURATION: Final = """
DEBUG: false
storage:
  sqlalchemy.url: sqlite+aiosqlite:///{folder}/events.sqlite3
  validators:
    - nostr_relay.validators.is_not_too_large
    - nostr_relay.validators.is_signed
    - nostr_relay.validators.is_recent
max_event_size: 65536
gunicorn:
  bind: 127.0.0.1:{port}
authentication:
  enabled: false
"""


class IndependentRelay(RelayProcess):
    """It keeps versions that were replaced, and takes no event that is dated more than an hour ahead."""

    ready = b"running on"

    def arguments(self) -> list[str]:
        path = self._folder / "relay.yaml"
        path.write_text(CONFIGURATION.format(folder=self._folder, port=self._port), encoding="utf-8")
        return ["-c", "from nostr_relay.cli import main; main()", "-c", str(path), "serve", "--use-uvicorn"]
