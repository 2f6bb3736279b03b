"""Links that are best effort: made where the other end exists, listed as skipped where it does not."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from uniko_mcp.models.domain import SkippedLink
from uniko_mcp.store import Draft


class OptionalLinks:
    """Makes the optional edges of one new node and remembers which could not be made."""

    def __init__(self, draft: Draft, start: tuple[str, str]) -> None:
        self._draft = draft
        self._start = start
        self.skipped: list[SkippedLink] = []

    def link(
        self,
        edge: str,
        parameter: str,
        kind: str,
        ids: Iterable[str | None],
        *,
        among: Collection[str] | None = None,
        reverse: bool = False,
    ) -> None:
        """An edge to each of `ids` that exists as a `kind`; with `reverse`, from it. None is passed over.

        `among` are those that exist for the caller, when that has been found out.
        """
        wanted = list(dict.fromkeys(id for id in ids if id is not None))
        existing = self._draft.existing(kind, wanted) if among is None else among
        for id in wanted:
            if id in existing and (kind, id) != self._start:
                start, end = ((kind, id), self._start) if reverse else (self._start, (kind, id))
                self._draft.link(edge, start, end)
            else:
                self.skipped.append(SkippedLink(parameter=parameter, id=id, reason=f"there is no such {kind}"))
