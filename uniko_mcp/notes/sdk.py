"""The one import of `nostr_sdk`, which has no type stubs, with what its types leave out."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import nostr_sdk  # pyright: ignore[reportMissingTypeStubs]

SdkError = cast(type[Exception], nostr_sdk.NostrSdkError)
"""The base of all errors of the library; generated code hides that it is an exception."""

_loops_in_use = 0


@contextmanager
def callbacks_on_this_loop() -> Generator[None]:
    """Have the library run our callbacks on this event loop; it calls from threads of its own, and has one setting."""
    global _loops_in_use
    set_event_loop = cast(Any, nostr_sdk.uniffi_set_event_loop)
    _loops_in_use += 1
    set_event_loop(asyncio.get_running_loop())
    try:
        yield
    finally:
        _loops_in_use -= 1
        if not _loops_in_use:
            set_event_loop(None)
