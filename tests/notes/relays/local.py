"""`LocalRelay` of nostr_sdk: the client's own code base on the other side, with its events in an LMDB folder."""

from __future__ import annotations

import asyncio
import sys

import nostr_sdk

from tests.notes.relays.process import RelayProcess


class LocalRelay(RelayProcess):
    """Open to everyone, unless it is told to authenticate who reads or writes (NIP-42)."""

    ready = b"listening"
    authenticate = False

    def arguments(self) -> list[str]:
        serve = "from tests.notes.relays.local import main; main()"
        return ["-c", serve, str(self._folder), str(self._port), "authenticate" if self.authenticate else "open"]


class AuthenticatingRelay(LocalRelay):
    """Serves nobody who has not authenticated."""

    authenticate = True


async def serve(folder: str, port: int, *, authenticate: bool) -> None:
    """Run the relay until the process is killed."""
    nostr_sdk.uniffi_set_event_loop(asyncio.get_running_loop())
    builder = nostr_sdk.LocalRelayBuilder().addr("127.0.0.1").port(port)
    builder = builder.database(await nostr_sdk.NostrLmdb.open(folder))
    if authenticate:
        mode = nostr_sdk.LocalRelayBuilderNip42Mode.BOTH
        builder = builder.nip42(nostr_sdk.LocalRelayBuilderNip42(mode=mode))
    relay = builder.build()
    await relay.run()
    print("listening", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    folder, port, mode = sys.argv[1:]
    asyncio.run(serve(folder, int(port), authenticate=mode == "authenticate"))
