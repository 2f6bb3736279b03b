"""When two names mean the same: normal forms for comparison, and ids that follow from a name or a content."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any


def normalise(text: str) -> str:
    """NFKC, case folded, runs of white space as one space: the form in which triples are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def digest(*parts: Any) -> str:
    """A stable hash of JSON values, to compare contents by."""
    canonical = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def entity_id(name: str) -> str:
    """The id of the entity of that name; the same however the name is written."""
    return f"entity-{digest(normalise(name))[:20]}"
