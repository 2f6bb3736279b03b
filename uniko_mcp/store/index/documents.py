"""What the rank index holds: one flat document for each memory that can be recalled, and where it comes from."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Final, TypeAlias

DocumentKey: TypeAlias = tuple[str, str]
"""Kind and id of a memory, as in the graph."""

EVERYONE: Final = ""
"""The owner of a document that every agent may see."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory comes from: the message that says it, or the document it was read in.

    `sender` is the participant who said it, `said_at` when, in microseconds UTC; None is the memory's own time.
    """

    message_id: str | None = None
    session_id: str | None = None
    sender: str | None = None
    artifact_id: str | None = None
    said_at: int | None = None


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """A memory as the rank index sees it. Times are microseconds UTC.

    `timestamp` is when it was first said or recorded, [`about_from`, `about_to`) the time that it is about, or in which
    a fact holds, as far as that is known. From `superseded_at` on another document has its place.
    `sender` is the name of who said it, `sender_id` the participant. Messages of one session are neighbours, in the
    order of (timestamp, ordinal). `parent_id` is the message or artifact that a chunk is a piece of, or the message
    that an observation was made in; with `shares_vector` its meaning is that of its parent, and it gets no vector of
    its own. `owner` is the only agent that may see it. `entities` names what it mentions.
    """

    kind: str
    id: str
    text: str
    timestamp: int
    sender: str = ""
    sender_id: str = ""
    role: str = ""
    session_id: str = ""
    ordinal: int = 0
    topic: str = ""
    heading: str = ""
    parent_id: str = ""
    shares_vector: bool = False
    owner: str = EVERYONE
    entities: tuple[str, ...] = ()
    about_from: int | None = None
    about_to: int | None = None
    sources: tuple[Source, ...] = ()
    superseded_at: int | None = None

    @property
    def key(self) -> DocumentKey:
        return (self.kind, self.id)

    def to_json(self) -> str:
        """All fields but the text, in the form the index stores."""
        values = {name: getattr(self, name) for name in _FIELDS}
        return json.dumps(values, default=asdict, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, fields: str, text: str) -> IndexDocument:
        """The document that `to_json` wrote."""
        values = json.loads(fields)
        values["entities"] = tuple(values["entities"])
        values["sources"] = tuple(Source(**source) for source in values["sources"])
        return cls(text=text, **values)


_FIELDS: Final = tuple(field.name for field in fields(IndexDocument) if field.name != "text")
