"""`LocalRelay` of nostr_sdk: the client's own code base on the other side, with its events in an LMDB folder."""

from __future__ import annotations

from pathlib import Path

import nostr_sdk


class LocalRelay:
    """Keeps port and events over a restart."""

    def __init__(self, folder: Path, port: int, *, authentication: bool = False) -> None:
        self.url = f"ws://127.0.0.1:{port}"
        self._folder = folder
        self._port = port
        self._authentication = authentication
        self._database: nostr_sdk.NostrLmdb | None = None
        self._relay: nostr_sdk.LocalRelay | None = None

    async def start(self) -> None:
        self._database = self._database or await nostr_sdk.NostrLmdb.open(str(self._folder))
        builder = nostr_sdk.LocalRelayBuilder().addr("127.0.0.1").port(self._port).database(self._database)
        if self._authentication:
            mode = nostr_sdk.LocalRelayBuilderNip42Mode.BOTH
            builder = builder.nip42(nostr_sdk.LocalRelayBuilderNip42(mode=mode))
        self._relay = builder.build()
        await self._relay.run()

    async def stop(self) -> None:
        if self._relay:
            self._relay.shutdown()
            self._relay = None

    async def forget(self) -> None:
        """Lose every event, as a relay may."""
        assert self._database is not None
        await self._database.wipe()
