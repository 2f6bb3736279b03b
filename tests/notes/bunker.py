"""A NIP-46 bunker of the tests' own: holds a key, and answers over a relay who may use it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import nostr_sdk
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

KIND = 24_133


class Bunker:
    """Answers everyone who knows its secret. `asked` lists the methods that were called."""

    def __init__(self, keys: nostr_sdk.Keys, relay: str) -> None:
        self.asked: list[str] = []
        self._keys = keys
        self._relay = relay
        self._own = nostr_sdk.Keys.generate()
        self._task: asyncio.Task[None] | None = None

    @property
    def uri(self) -> str:
        return f"bunker://{self._own.public_key().to_hex()}?relay={self._relay}&secret=s3cr3t"

    async def start(self) -> None:
        connection = await connect(self._relay)
        wanted = {"kinds": [KIND], "#p": [self._own.public_key().to_hex()]}
        await connection.send(json.dumps(["REQ", "bunker", wanted]))
        while json.loads(await connection.recv())[0] != "EOSE":
            pass
        self._task = asyncio.create_task(self._serve(connection))

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _serve(self, connection: ClientConnection) -> None:
        try:
            async for text in connection:
                message = json.loads(text)
                if message[0] == "EVENT":
                    await connection.send(json.dumps(["EVENT", self._reply(message[2])]))
        except ConnectionClosed:
            return
        finally:
            await connection.close()

    def _reply(self, event: dict[str, Any]) -> dict[str, Any]:
        client = nostr_sdk.PublicKey.parse(event["pubkey"])
        request = json.loads(self._own.nip44_decrypt(client, event["content"]))
        self.asked.append(request["method"])
        answer = {"id": request["id"], "result": self._answer(request["method"], request["params"])}
        cipher = self._own.nip44_encrypt(client, json.dumps(answer))
        builder = nostr_sdk.EventBuilder(nostr_sdk.Kind(KIND), cipher)
        builder = builder.tags([nostr_sdk.Tag.parse(["p", client.to_hex()])])
        return json.loads(builder.finalize(self._own).as_json())

    def _answer(self, method: str, params: list[str]) -> str:
        match method:
            case "connect":
                return "ack"
            case "get_public_key":
                return self._keys.public_key().to_hex()
            case "nip44_encrypt":
                return self._keys.nip44_encrypt(nostr_sdk.PublicKey.parse(params[0]), params[1])
            case "nip44_decrypt":
                return self._keys.nip44_decrypt(nostr_sdk.PublicKey.parse(params[0]), params[1])
            case "sign_event":
                return self._sign(json.loads(params[0]))
            case _:
                return "pong"

    def _sign(self, asked: dict[str, Any]) -> str:
        unsigned = {"pubkey": self._keys.public_key().to_hex(), **asked}
        return self._keys.sign_event(nostr_sdk.UnsignedEvent.from_json(json.dumps(unsigned))).as_json()
