// An independent implementation of what the notes do: reads a request as JSON on stdin, answers as JSON on stdout.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

// The packages are installed in the working directory, not beside this file.
const require = createRequire(join(process.cwd(), "package.json"));
const { finalizeEvent, getPublicKey, verifyEvent } = require("nostr-tools/pure");
const { v2: nip44 } = require("nostr-tools/nip44");
const nip19 = require("nostr-tools/nip19");
const nip49 = require("nostr-tools/nip49");

const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const ownKey = (secret) => nip44.utils.getConversationKey(bytes(secret), getPublicKey(bytes(secret)));

const actions = {
  read: ({ secret, event }) => ({
    signed: verifyEvent(event),
    author: getPublicKey(bytes(secret)) === event.pubkey,
    text: nip44.decrypt(event.content, ownKey(secret)),
  }),
  write: ({ secret, kind, tags, created_at, text }) =>
    finalizeEvent({ kind, tags, created_at, content: nip44.encrypt(text, ownKey(secret)) }, bytes(secret)),
  names: ({ secret }) => ({
    npub: nip19.npubEncode(getPublicKey(bytes(secret))),
    nsec: nip19.nsecEncode(bytes(secret)),
  }),
  open_export: ({ exported, password }) =>
    Buffer.from(nip49.decrypt(exported, password)).toString("hex"),
  encrypt: ({ cases }) =>
    cases.map(({ conversation_key, nonce, plaintext }) =>
      nip44.encrypt(plaintext, bytes(conversation_key), nonce ? bytes(nonce) : undefined),
    ),
  decrypt: ({ cases }) =>
    cases.map(({ sec1, pub2, payload }) => nip44.decrypt(payload, nip44.utils.getConversationKey(bytes(sec1), pub2))),
};

const { action, ...request } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(actions[action](request)));
