"""Small integers for the texts that many documents share: kinds, sessions, senders, roles, owners."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Literal, TypeAlias, cast

from uniko_mcp.store.index.columns import NOWHERE
from uniko_mcp.store.index.tokens import fold

Space: TypeAlias = Literal["kind", "session", "sender", "sender_name", "role", "owner"]


class Labels:
    """The codes in use. Names are never dropped, so a code means the same for as long as the index lives."""

    def __init__(self, rows: Iterable[tuple[int, Space, str]]) -> None:
        self._codes: dict[Space, dict[str, int]] = {}
        self._names: dict[int, str] = {}
        for code, space, name in rows:
            self._remember(code, space, name)

    def code(self, space: Space, name: str) -> int:
        """The code of a name; NOWHERE when no document carries it."""
        return self._codes.get(space, {}).get(name, NOWHERE)

    def codes(self, space: Space, names: Iterable[str]) -> list[int]:
        """The codes of those names that documents carry."""
        return [code for name in names if (code := self.code(space, name)) != NOWHERE]

    def alike(self, space: Space, names: Iterable[str]) -> list[int]:
        """The codes of all names that differ from one of these in nothing but case and accents."""
        wanted = {fold(name) for name in names}
        return [code for code, name in self.in_space(space) if fold(name) in wanted]

    def name(self, code: int) -> str:
        """The name behind a code; empty for NOWHERE."""
        return self._names.get(code, "")

    def in_space(self, space: Space) -> list[tuple[int, str]]:
        """All (code, name) pairs of a space, in order of first use."""
        return [(code, name) for name, code in list(self._codes.get(space, {}).items())]

    def assign(self, connection: sqlite3.Connection, space: Space, name: str) -> int:
        """The code of a name, given one in the open transaction when it is new. The empty name has none."""
        if not name:
            return NOWHERE
        code = self.code(space, name)
        if code == NOWHERE:
            cursor = connection.execute("INSERT INTO label (space, name) VALUES (?, ?)", (space, name))
            code = cast("int", cursor.lastrowid)
            self._remember(code, space, name)
        return code

    def _remember(self, code: int, space: Space, name: str) -> None:
        self._codes.setdefault(space, {})[name] = code
        self._names[code] = name
