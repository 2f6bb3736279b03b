"""Proper names in English text: runs of capitalised words, with what they are told by the words in and around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from uniko_mcp.extract import gazetteer
from uniko_mcp.extract.verbs import verb_form
from uniko_mcp.extract.wordlist import words

_CAPITAL = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪĮİĶĹĻĽŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŲŹŻŽ"
_WORD = rf"[{_CAPITAL}](?:[\w]|[&'’-](?=\w))*"
_RUN: Final = re.compile(
    rf"(?<![\w@#/.$-])(?:(?:Mr|Mrs|Ms|Dr|Prof|St|Mt)\. )?{_WORD}"
    rf"(?:(?: |-)(?:(?:of(?: the)?|the|de|la|van|von|der|den|del|di|da|al|bin|&) )?(?:[{_CAPITAL}]\.(?= )|{_WORD}))*"
    r"(?: \d{1,4}(?:\.\d+)*(?![\w%:/]|[.,-]\d))?"
)
_QUOTED: Final = re.compile(
    r"""(?:"(?P<a>[^"\n]{2,80})"|“(?P<b>[^”\n]{2,80})”
    |«\s?(?P<c>[^»\n]{2,80}?)\s?»|「(?P<d>[^」\n]{2,40})」
    |『(?P<e>[^』\n]{2,40})』|„(?P<f>[^“\n]{2,80})“
    |(?<!\w)['‘](?P<g>[A-Z][^'’\n]{1,60}(?:['’]\w[^'’\n]{0,30})?)['’](?!\w)
    )""",
    re.VERBOSE,
)
_STARTS: Final = ".!?…:;\n\r。！？—–•|>"
_SKIPPED: Final = " \t\"'“‘«([*_#"
_SMALL: Final = words("a an and as at but by de for from in into la le nor of on or the to up with van von vs")
_PLACE_BEFORE: Final = re.compile(
    r"\b(?:(?:live[sd]?|living|moved?|moving|born|grew up|grow up|travel\w*|trips?|flew|fly(?:ing)?|flights?|based"
    r"|located|back|going|went|go|headed|vacation|holidays?|relocat\w+|office|home|stay(?:ed|ing)?|arrived?)(?: \w+)?"
    r" (?:to|in|from|at|near)"
    r"|visit(?:ed|ing|s)?)(?: the)? $"
)
_KIN_BEFORE: Final = re.compile(rf"\b(?:{'|'.join(sorted(gazetteer.KIN))}),? (?:named |called )?$", re.IGNORECASE)
_VOCATIVE_BEFORE: Final = re.compile(r"\b(?:hey|hi|hello|thanks|bye|congrats|dear|thank you),? $", re.IGNORECASE)
_PERSONAL_VERB: Final = words(
    """
    said says told asked asks lives lived wants wanted thinks thought likes liked loves loved hates hated moved
    moves went came wrote writes joined joins married met invited invites gave agreed agrees prefers preferred
    bought studies studied teaches taught visited visits helped feels felt knows knew believes suggested suggests
    recommended mentioned graduated
    """
)
_NEXT_WORD: Final = re.compile(r" ([a-z]+)")
_SMALL_WORD: Final = re.compile(r"(?<![\w.`_/@-])[a-z]{2,}(?![\w`_/(@-]|\.\w)")
_LONGEST_ACRONYM: Final = 6  # letters; longer words in capitals are mostly shouted
_VERSIONED: Final = re.compile(r" \d[\d.]*$")
_POSSESSIVE: Final = re.compile(r"['’]s$|(?<=s)['’]$")


class Name(NamedTuple):
    """A proper name at `text[start:end]`."""

    name: str
    entity_type: str
    start: int
    end: int


def proper_names(text: str, start: int, end: int, ordinary: frozenset[str]) -> Iterator[Name]:
    """The proper names in `text[start:end]`, running English text, in order.

    A capitalised word that begins a sentence is a name only when something else than its capital says so, and none
    that is among the `ordinary` words, those that the whole text also writes small.
    """
    runs = [part for match in _RUN.finditer(text, start, end) for part in _parts(text, match)]
    mid_sentence = {text[first:last] for first, last in runs if not _begins_sentence(text, first)}
    for first, last in runs:
        name = text[first:last]
        if (name in mid_sentence or _is_name_by_itself(text, name, last)) and not _is_ordinary(name, ordinary):
            yield Name(name, _type(text, name, first, last), first, last)


def ordinary_words(text: str, start: int, end: int) -> frozenset[str]:
    """The words that `text[start:end]` writes in small letters, without those in code and in dotted or joined names."""
    return frozenset(_SMALL_WORD.findall(text, start, end))


def quoted_names(text: str, start: int = 0, end: int | None = None) -> Iterator[Name]:
    """Titles in quotation marks: "The Great Gatsby", but not quoted speech."""
    for match in _QUOTED.finditer(text, start, len(text) if end is None else end):
        group = match.lastgroup or "a"
        content = match.group(group)
        if content.strip() == content and _is_title(content):
            yield Name(content, "title", match.start(group), match.end(group))


def _parts(text: str, match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The run cut at words that are no names ("The", "I'm"), without possessives and dangling small words."""
    first: int | None = None
    last = match.start()
    for word in re.finditer(r"\S+", text[match.start() : match.end()]):
        bare = _POSSESSIVE.sub("", word.group())
        begin, stop = match.start() + word.start(), match.start() + word.start() + len(bare)
        if _is_no_name(bare, word.group(), first is None):
            if first is not None:
                yield first, last
            first = None
            continue
        if bare.lower() in _SMALL and bare.islower():
            continue
        if first is None:
            if bare[0].isdigit():
                continue
            first = begin
        last = stop
        if bare != word.group():
            yield first, last
            first = None
        elif word.start() == 0 and _hails(text, match):
            first = None
    if first is not None:
        yield first, last


def _hails(text: str, run: re.Match[str]) -> bool:
    """Whether the run begins a sentence with a word of greeting or joy before a given name: "Woohoo Ana"."""
    head, _, rest = run.group().partition(" ")
    known = head in gazetteer.GIVEN_NAMES or head.rstrip(".") in gazetteer.TITLES
    return not known and rest.split(" ")[0] in gazetteer.GIVEN_NAMES and _begins_sentence(text, run.start())


def _is_no_name(bare: str, surface: str, first: bool) -> bool:
    """At the head of a run, a word that is no name cuts it; inside only pronouns do ("Ana I")."""
    lower = surface.lower().replace("’", "'")
    if len(bare) < 2 and not bare.isdigit() and not surface.endswith("."):
        return True
    if lower in gazetteer.NEVER_NAMES or bare.lower() in gazetteer.NEVER_NAMES:
        return first or "'" in lower
    return False


def _is_ordinary(name: str, ordinary: frozenset[str]) -> bool:
    """Whether the name is an ordinary word written large: one that the text also has small, a verb, or a shout."""
    head, _, rest = name.partition(" ")
    lower = head.lower()
    if head in gazetteer.GIVEN_NAMES or head in gazetteer.PLACES:
        return False
    if name.isupper():
        return len(head) > _LONGEST_ACRONYM or verb_form(lower) is not None or lower in gazetteer.NEVER_NAMES
    return (not rest or rest[0].isdigit()) and (lower in ordinary or verb_form(lower) is not None)


def _begins_sentence(text: str, position: int) -> bool:
    index = position - 1
    while index >= 0 and text[index] in _SKIPPED:
        index -= 1
    return index < 0 or text[index] in _STARTS or not (text[index].isalnum() or text[index] in ",')]&%’-")


def _is_name_by_itself(text: str, name: str, end: int) -> bool:
    tokens = name.split()
    head = tokens[0].rstrip(".")
    if name in gazetteer.PLACES or head in gazetteer.GIVEN_NAMES or head in gazetteer.TITLES:
        return True
    if len(name) > 1 and name.isupper() and name.isalpha():
        return True
    if len(tokens) > 1:
        return verb_form(tokens[0].lower()) is None and not tokens[0].lower().endswith(("ing", "ly"))
    following = _NEXT_WORD.match(text, end)
    return bool(following and following.group(1) in _PERSONAL_VERB and not name.endswith(("ing", "ly", "s")))


def _type(text: str, name: str, start: int, end: int) -> str:
    tokens = name.split()
    before = text[max(0, start - 40) : start]
    if _VERSIONED.search(name):
        return "product"
    if name in gazetteer.PLACES:
        return "place"
    if not gazetteer.ORGANIZATION_WORDS.isdisjoint(tokens):
        return "organization"
    if len(tokens) > 1 and (
        tokens[-1] in gazetteer.PLACE_ENDINGS or tokens[0].rstrip(".") in gazetteer.PLACE_BEGINNINGS
    ):
        return "place"
    if tokens[0] in gazetteer.GIVEN_NAMES or tokens[0].rstrip(".") in gazetteer.TITLES:
        return "person"
    if _KIN_BEFORE.search(before) or _VOCATIVE_BEFORE.search(before):
        return "person"
    following = _NEXT_WORD.match(text, end)
    if following and following.group(1) in _PERSONAL_VERB and not name.isupper():
        return "person"
    return "place" if _PLACE_BEFORE.search(before) and not name.isupper() else "name"


def _is_title(content: str) -> bool:
    tokens = content.split()
    if not content[0].isascii() and not content[0].isupper():
        return len(content) <= 20 and content[0].isalpha() and not content.endswith(("。", "！", "？", ".", "!", "?"))
    if len(tokens) > 8 or not (content[0].isupper() or content[0].isdigit()) or content[-1] in ".,?;:":
        return False
    weighty = [token for token in tokens if token.lower() not in _SMALL and token[0].isalpha()]
    return (
        bool(weighty) and all(token[0].isupper() for token in weighty) and content.lower() not in gazetteer.NEVER_NAMES
    )
