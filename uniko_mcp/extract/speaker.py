"""Putting names in for "I", "we" and "you", so that a sentence stays true when it is read outside of its talk."""

from __future__ import annotations

import re
from typing import Final

from uniko_mcp.extract import grammar
from uniko_mcp.extract.verbs import is_past, third_person, verb_form

_ADVERBS: Final = r"(?:\s+(?:just|also|always|never|still|even|already|often|once|now|then|both|sometimes|\w{2,}ly))*"
_VERB: Final = r"(?!(?:I|we)\b)[A-Za-z]+?(?:n['’]t)?(?![A-Za-z'’])"
_FIRST: Final = re.compile(
    rf"""(?<![\w'’/.-])(?:
        (?P<we>[Ww]e)(?:['’](?P<we_short>re|ve|d|ll))?(?P<we_adverbs>{_ADVERBS})(?:\s+(?P<we_verb>{_VERB}))?(?!['’\w])
        |(?P<i>I|i(?=['’]|\s+[a-z]))(?:['’](?P<short>m|ve|d|ll))?(?P<adverbs>{_ADVERBS})
            (?:\s+(?P<verb>{_VERB}))?
        |(?P<you>[Yy]ou)(?:['’](?P<you_short>re|ve|d|ll))?(?P<you_adverbs>{_ADVERBS})(?:\s+(?P<you_verb>{_VERB}))?
        |(?P<owned>[Mm]y|(?<=of\ )mine|(?<=is\ )mine|(?<=was\ )mine|(?<=are\ )mine|[Oo]ur|[Oo]urs)
        |(?P<self>me|[Mm]yself)|(?P<us>us|ourselves)
        |(?P<yours>[Yy]ours?)|(?P<yourself>[Yy]ourself)
    )(?![\w]|[/.-]\w)""",
    re.VERBOSE,
)
_VERBATIM: Final = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`")
_INVERTED: Final = re.compile(
    r"\b(?:do|does|did|can|could|should|would|will|may|might|must|am|was|have|had|and|or|nor)\s$", re.IGNORECASE
)
_NUMERAL: Final = re.compile(rf"\b(?:{'|'.join(sorted(grammar.NUMBERED))})\s$")
_SHORT_FORMS: Final = {"m": "is", "re": "are", "ve": "has", "ll": "will"}


def named(text: str, speaker: str, addressee: str | None = None) -> str:
    """The text with the speaker's name for the first person and the addressee's, when known, for the second.

    "I'm" becomes "Ana is", "my" "Ana's", "we" "Ana and others"; verbs agree. What stands in quotation marks or
    backticks is someone's own words and stays.
    """
    pieces: list[str] = []
    position = 0
    for verbatim in _VERBATIM.finditer(text):
        pieces += [_named(text[position : verbatim.start()], speaker, addressee), verbatim.group()]
        position = verbatim.end()
    return "".join([*pieces, _named(text[position:], speaker, addressee)])


def _named(text: str, speaker: str, addressee: str | None) -> str:
    def replacement(match: re.Match[str]) -> str:
        if match["we"]:
            return _plural(match, f"{speaker} and others")
        if match["i"]:
            return _singular(text, match, speaker, "")
        if match["owned"]:
            return _possessive(speaker)
        if match["self"]:
            return speaker
        if match["us"]:
            return f"{speaker} and others"
        if addressee is None:
            return match.group()
        if match["you"]:
            return _singular(text, match, addressee, "you_")
        return _possessive(addressee) if match["yours"] else addressee

    return _FIRST.sub(replacement, text)


def _singular(text: str, match: re.Match[str], name: str, group: str) -> str:
    before = text[: match.start()][-20:]
    short, adverbs, verb = (match[group + part] or "" for part in ("short", "adverbs", "verb"))
    if not group and not short and _NUMERAL.search(before):
        return match.group()
    if short:
        return _spaced(name, _long_form(short, verb, plural=False), adverbs, verb)
    agrees = not _INVERTED.search(before)
    return _spaced(name, "", adverbs, _agreeing(verb) if agrees else verb)


def _plural(match: re.Match[str], name: str) -> str:
    short, adverbs, verb = (match["we_" + part] or "" for part in ("short", "adverbs", "verb"))
    return _spaced(name, _long_form(short, verb, plural=True) if short else "", adverbs, verb)


def _long_form(short: str, verb: str, *, plural: bool) -> str:
    if short == "d":
        lower = verb.lower()
        form = verb_form(lower)
        had = lower == "better" or (is_past(lower) and not (form and form.tense == "base"))
        return "had" if had else "would"
    if short == "ve" and plural:
        return "have"
    return "are" if short == "re" and plural else "is" if short == "re" else _SHORT_FORMS[short]


def _agreeing(verb: str) -> str:
    plain = verb.replace("’", "'")
    return third_person(plain.lower()) if plain.lower() != third_person(plain.lower()) else verb


def _spaced(name: str, auxiliary: str, adverbs: str, verb: str) -> str:
    words = (name, auxiliary, adverbs.strip(), verb)
    return " ".join(word for word in words if word)


def _possessive(name: str) -> str:
    return f"{name}'s"
