"""Keeping secrets out of logs and errors: key material is replaced before a line is written."""

from __future__ import annotations

import hashlib
import logging
import re
from typing import Final

REDACTED: Final = "[redacted]"

_BECH32_SECRET: Final = re.compile(r"n(?:crypt)?sec1[0-9a-z]+", re.IGNORECASE)
_URI_SECRET: Final = re.compile(r"(?<=[?&]secret=)[^&\s'\"]+", re.IGNORECASE)
_HEX_KEY: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", re.IGNORECASE)

_known_keys: set[bytes] = set()


def register_secret_key(hexadecimal: str) -> None:
    """Have this secret key replaced wherever it shows in hexadecimal.

    Only a digest is kept: public keys and event ids have the same form, so keys can be told apart by value alone.
    """
    _known_keys.add(_digest(hexadecimal))


def redact(text: str) -> str:
    """The text without `nsec1…` and `ncryptsec1…` in any letter case, `secret=` of URIs, and registered keys in hex."""
    text = _BECH32_SECRET.sub(REDACTED, text)
    text = _URI_SECRET.sub(REDACTED, text)
    return _HEX_KEY.sub(_replace_known_key, text)


class RedactingFormatter(logging.Formatter):
    """Formats a record, its traceback included, and redacts the result."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def _replace_known_key(match: re.Match[str]) -> str:
    return REDACTED if _digest(match.group()) in _known_keys else match.group()


def _digest(hexadecimal: str) -> bytes:
    return hashlib.sha256(hexadecimal.lower().encode("ascii")).digest()
