"""Identifiers: UUIDv7, so that ids made here sort by the time they were made."""

from __future__ import annotations

import os
import threading
import time
import uuid

_lock = threading.Lock()
_last_ms = 0
_last_sequence = 0

_SEQUENCE_BITS = 12


def new_id() -> str:
    """A UUIDv7 (RFC 9562, section 5.7) that is greater than every one this process made before.

    The 12 bits after the millisecond count up within it (method 1 of section 6.2).
    """
    global _last_ms, _last_sequence
    with _lock:
        milliseconds = max(time.time_ns() // 1_000_000, _last_ms)
        if milliseconds > _last_ms:
            _last_ms, _last_sequence = milliseconds, 0
        elif _last_sequence + 1 < 1 << _SEQUENCE_BITS:
            _last_sequence += 1
        else:
            _last_ms, _last_sequence = _last_ms + 1, 0
        stamp, sequence = _last_ms, _last_sequence
    tail = int.from_bytes(os.urandom(8), "big") >> 2
    value = (stamp << 80) | (0x7 << 76) | (sequence << 64) | (0b10 << 62) | tail
    return str(uuid.UUID(int=value))
