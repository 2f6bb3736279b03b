"""Atomic claims: what a message says is so, each as a sentence that is complete by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from uniko_mcp.extract import gazetteer, speech
from uniko_mcp.extract.blocks import looks_like_code
from uniko_mcp.extract.clauses import clauses
from uniko_mcp.extract.dates import DateMention
from uniko_mcp.extract.sentences import Stretch, sentences
from uniko_mcp.extract.speaker import named
from uniko_mcp.extract.triples import Frame, continued, frame, predicate_words
from uniko_mcp.extract.verbs import third_person

SILENT_ROLES: Final = frozenset({"system", "tool", "function", "developer"})
"""Roles whose messages claim nothing about the world: instructions and the output of programs."""

_CONFIDENCE: Final = {
    "speaker": 0.9,
    "implied": 0.75,
    "group": 0.85,
    "addressee": 0.6,
    "named": 0.85,
    "phrase": 0.7,
    "bare": 0.5,
    "person": 0.7,
    "thing": 0.6,
}
"""How far a claim about such a subject can be relied on, before what its wording takes away. Judged by hand."""

_WITHOUT_FRAME: Final = 0.4
_ASSISTANT: Final = 0.7  # a factor: what a model says of its work is less sure than what a person says of a life
_WITHOUT_OBJECT: Final = 0.9
_INCOMPLETE: Final = 0.7  # a factor: the claim holds a pronoun that only the talk around it explains
_FEWEST_WORDS: Final = 3
_FIRST_PERSON: Final = re.compile(r"\b(?:I|I'm|I've|my|me|we|our|us)\b")
_REPORT: Final = re.compile(r"^(?:I|We)(?:'ve| have| had)? (?:\w+ly |just |also |already )?(?P<verb>\w+)")
_LOOSE_START: Final = re.compile(
    r"(?:my|our|the|a|an|one|some|when|while|after|before|since|as|for|in|on|at|during|with|without|if|although|though"
    r"|last|next|every|\w{3,}ing)\b",
    re.IGNORECASE,
)
_EMPTY_OBJECT: Final = re.compile(
    r"(?:it|them)\b|(?:this|that|these|those|so|you|there|here|one|though|too|well|a lot|alright|something|anything"
    r"|everything)"
    r"(?:$| (?:for|to|without|with|by|at|about|of|now|too|again|then|when)\b)",
    re.IGNORECASE,
)
_SECOND_PERSON: Final = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_SHARED_PICTURE: Final = re.compile(r"^\s*\[")
_ARTICLE: Final = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_RELATIVE: Final = re.compile(
    rf"^(?P<owner>.+'s) (?:\w+ )?(?P<kin>{'|'.join(sorted(gazetteer.KIN))}),? (?:named |called )?"
    r"(?P<name>[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*),?$"
)
_SYMBOLS: Final = re.compile(r"[{}<>=|\\^~;$#/\[\]]")
_TOO_MANY_SYMBOLS: Final = 0.06  # as a share of the characters; prose in the samples read stays below 0.03
_BE: Final = re.compile(r"(?:['’]s|is|was|isn['’]t|wasn['’]t)(?:\s|$)", re.IGNORECASE)
_WE_ARE: Final = re.compile(r"^(['’])re\b")
_ENDS_OPEN: Final = re.compile(r"(?:^|\s)(?:is|was|are|were|be|to|for|on|in|at|until|till|by|since)$")
_UNRESOLVED: Final = re.compile(r"\b(?:they|them|he|him|she|her|it|their|his)\b", re.IGNORECASE)
_UNSAID: Final = {"been": "have ", "gonna": "am "}
"""The auxiliary that a sentence without subject leaves out too."""
_ABOUT: Final = frozenset({"at", "since", "by"})


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. `text` is a whole sentence with names for pronouns and dates for words like "yesterday".

    `source[start:end]` is the sentence it was made in; all that was read where no more is known. `about_from`,
    `about_to` is the half-open interval in microseconds UTC that it is dated to, None when the sentence names no time.
    `confidence` is in (0, 1].
    """

    text: str
    subject: str
    predicate: str | None
    object: str | None
    confidence: float
    start: int
    end: int
    about_from: int | None = None
    about_to: int | None = None


@dataclass(frozen=True, slots=True)
class _Talk:
    text: str
    speaker: str
    addressee: str | None
    assistant: bool
    dates: Sequence[DateMention]

    def dates_in(self, clause: Stretch) -> list[DateMention]:
        return [date for date in self.dates if clause.start <= date.start and date.end <= clause.end]

    def about(self, clause: Stretch) -> DateMention | None:
        return date_of_claim(self.dates_in(clause))

    def dated(self, clause: Stretch) -> str:
        """The clause, without bold marks, with its dates resolved."""
        return with_resolved(self.text, self.dates_in(clause), clause).replace("**", "")


def date_of_claim(dates: Sequence[DateMention]) -> DateMention | None:
    """The one of a claim's dates that says when what it claims was so."""
    return next((date for date in dates if date.relation in _ABOUT), None)


def with_resolved(text: str, dates: Sequence[DateMention], stretch: Stretch) -> str:
    """The stretch of the text with the resolved date in brackets behind each of its `dates` that needs it."""
    pieces: list[str] = []
    position = stretch.start
    for date in dates:
        if date.relative:
            end = date.end + 2 * text.startswith(("'s", "’s"), date.end)
            pieces += [text[position:end], f" [{date.label}]"]
            position = end
    return "".join([*pieces, text[position : stretch.end]])


def find_claims(
    text: str, dates: Sequence[DateMention], *, speaker: str, role: str | None = None, addressee: str | None = None
) -> tuple[Claim, ...]:
    """The claims that a message in English makes, in order; for other languages the rules mean nothing.

    `dates` are those found in the same text. Questions, requests, orders, greetings, thanks, code, tables, headings,
    pictures, and an assistant's advice and talk about its own answer make no claim. Neither does a sentence whose
    subject is a pronoun that the sentences before it do not explain.
    """
    if role in SILENT_ROLES or not speaker:
        return ()
    talk = _Talk(text, speaker, addressee, role == "assistant", dates)
    found: list[Claim] = []
    for sentence in sentences(text):
        if _is_prose(text[sentence.start : sentence.end]):
            found += _sentence_claims(talk, sentence, found)
    unique = {claim.text: claim for claim in reversed(found)}
    return tuple(claim for claim in found if unique[claim.text] is claim)


def _is_prose(sentence: str) -> bool:
    if _SHARED_PICTURE.match(sentence) or looks_like_code(sentence):
        return False
    return len(_SYMBOLS.findall(sentence)) <= max(2, _TOO_MANY_SYMBOLS * len(sentence))


def _sentence_claims(talk: _Talk, sentence: Stretch, before: Sequence[Claim]) -> list[Claim]:
    found: list[Claim] = []
    if talk.assistant and speech.is_boilerplate(talk.text[sentence.start : sentence.end]):
        return found
    for clause in clauses(talk.text, sentence):
        found += _clause_claims(talk, sentence, clause, [*before, *found])
    return found


def _clause_claims(talk: _Talk, sentence: Stretch, clause: Stretch, before: Sequence[Claim]) -> Iterator[Claim]:
    surface = talk.text[clause.start : clause.end]
    if len(surface.split()) < _FEWEST_WORDS or speech.asks(surface) or speech.is_social(surface):
        return
    dates = talk.dates_in(clause)
    cuts = frozenset(date.start for date in dates)
    parts = frame(talk.text, clause, cuts=cuts)
    if parts is None:
        if claim := _loose_claim(talk, sentence, clause):
            yield claim
        return
    if parts.person != "implied" and parts.subject.start == clause.start and speech.orders(surface):
        return
    subject = _subject(talk, parts, before)
    if subject is None:
        return
    yield from _framed_claims(talk, sentence, clause, parts, subject)


def _framed_claims(talk: _Talk, sentence: Stretch, clause: Stretch, parts: Frame, subject: str) -> Iterator[Claim]:
    """The claim of each predicate, and what the subject's own words say about who it is."""
    lead = talk.text[clause.start : parts.subject.start]
    while True:
        whole = Stretch(clause.start, _before_and(talk.text, parts.further) if parts.further else clause.end)
        if _is_worth_keeping(talk, parts, whole):
            claim = _framed_claim(talk, sentence, whole, parts, subject, lead)
            yield claim
            if not lead and (relation := _relation(claim, _phrase(talk, parts))):
                yield relation
        if parts.further is None:
            return
        clause = Stretch(parts.further, clause.end)
        cuts = frozenset(date.start for date in talk.dates_in(clause))
        lead, parts = "", continued(talk.text, parts, clause, cuts=cuts)


def _before_and(text: str, further: int) -> int:
    """The end of the words before the "and" that a further predicate follows."""
    return len(text[:further].rstrip().removesuffix("and").rstrip(" ,"))


def _framed_claim(talk: _Talk, sentence: Stretch, clause: Stretch, parts: Frame, subject: str, lead: str) -> Claim:
    surface = talk.text[clause.start : clause.end]
    about = talk.about(clause)
    obj = _object(talk, parts)
    factor = speech.certainty(surface) * _completeness(talk, parts, clause) * (1 if obj else _WITHOUT_OBJECT)
    return Claim(
        text=_claim_text(talk, clause, parts, subject, lead),
        subject=_known_as(_phrase(talk, parts), subject),
        predicate=_predicate(talk, parts),
        object=obj,
        confidence=round(_CONFIDENCE[parts.person] * factor, 3),
        start=sentence.start,
        end=sentence.end,
        about_from=about.from_us if about else None,
        about_to=about.to_us if about else None,
    )


def _completeness(talk: _Talk, parts: Frame, clause: Stretch) -> float:
    rest = talk.text[parts.predicate.end : clause.end]
    open_pronoun = _UNRESOLVED.search(rest) or (talk.addressee is None and _SECOND_PERSON.search(rest))
    return (_INCOMPLETE if open_pronoun else 1) * (_ASSISTANT if talk.assistant else 1)


def _claim_text(talk: _Talk, clause: Stretch, parts: Frame, subject: str, lead: str) -> str:
    text = talk.dated(clause)
    if clause.start > parts.subject.end:  # a further predicate, whose subject stands before the clause
        own_words = parts.person not in {"person", "thing", "implied"}
        start = talk.text[parts.subject.start : parts.subject.end] if own_words else ""
        start = start or ("I" if parts.person == "implied" else _mentioned(parts, subject))
        text = f"{start} {text}"
    elif parts.person == "implied":
        text = f"I {_UNSAID.get(text.split(maxsplit=1)[0].lower(), '')}{text[:1].lower()}{text[1:]}"
    elif parts.person in {"person", "thing"} and not lead.strip():
        text = _replaced(text, parts.subject.end - parts.subject.start, _mentioned(parts, subject))
    return _sentence(named(text, talk.speaker, talk.addressee), talk.speaker)


def _mentioned(parts: Frame, subject: str) -> str:
    return f"the {subject}" if parts.person == "thing" else subject


def _loose_claim(talk: _Talk, sentence: Stretch, clause: Stretch) -> Claim | None:
    """A statement about the speaker whose parts the rules cannot tell apart."""
    surface = talk.text[clause.start : clause.end]
    if talk.assistant or not _FIRST_PERSON.search(surface) or not _LOOSE_START.match(surface) or speech.orders(surface):
        return None
    if len(surface.split()) < 2 * _FEWEST_WORDS or _SECOND_PERSON.search(surface):
        return None
    about = talk.about(clause)
    return Claim(
        text=_sentence(named(talk.dated(clause), talk.speaker, talk.addressee), talk.speaker),
        subject=talk.speaker,
        predicate=None,
        object=None,
        confidence=round(_WITHOUT_FRAME * speech.certainty(surface), 3),
        start=sentence.start,
        end=sentence.end,
        about_from=about.from_us if about else None,
        about_to=about.to_us if about else None,
    )


def _phrase(talk: _Talk, parts: Frame) -> str:
    return named(talk.text[parts.subject.start : parts.subject.end], talk.speaker, talk.addressee)


def _subject(talk: _Talk, parts: Frame, before: Sequence[Claim]) -> str | None:
    """Who or what the clause is about, None when that cannot be told."""
    match parts.person:
        case "speaker" | "group" | "implied":
            return talk.speaker
        case "addressee":
            return talk.addressee
        case "person":
            return _last_person(talk, before)
        case "thing":
            return None if _judges(talk, parts) else _last_thing(before)
        case "named" | "phrase" | "bare":
            return _ARTICLE.sub("", _phrase(talk, parts))


def _last_person(talk: _Talk, before: Sequence[Claim]) -> str | None:
    """The person that "she" or "he" means: the one other person the message has made claims about last."""
    others = [claim.subject for claim in before if claim.subject not in {talk.speaker, talk.addressee}]
    people = [subject for subject in others if subject[:1].isupper()]
    return people[-1] if people and people[-1] == others[-1] else None


def _last_thing(before: Sequence[Claim]) -> str | None:
    """The thing that "it" means: the subject of the claim right before, when that is a thing."""
    subject = before[-1].subject if before else ""
    return subject if subject[:1].islower() else None


def _judges(talk: _Talk, parts: Frame) -> bool:
    """Whether the predicate is a form of "be": "it was wonderful" is as often about all that was told before."""
    return bool(_BE.match(talk.text[parts.predicate.start : parts.predicate.end].strip()))


def _is_worth_keeping(talk: _Talk, parts: Frame, clause: Stretch) -> bool:
    if talk.assistant and not _reports(talk.text[clause.start : clause.end]):
        return False
    if parts.object is None:
        return parts.predicate.end - parts.predicate.start > 2
    rest = talk.text[parts.object.start : parts.object.end]
    about_you = talk.addressee is None and parts.person != "addressee" and _SECOND_PERSON.match(rest) is not None
    return not about_you and _EMPTY_OBJECT.match(rest) is None


def _reports(surface: str) -> bool:
    """Whether an assistant's clause tells what it did: "I deployed v2 to staging"."""
    match = _REPORT.match(surface.replace("’", "'"))
    return bool(
        match
        and third_person(match["verb"].lower()) == match["verb"].lower()
        and match["verb"].lower() not in {"am", "can"}
    )


def _predicate(talk: _Talk, parts: Frame) -> str:
    surface = talk.text[parts.predicate.start : parts.predicate.end]
    if parts.person in {"speaker", "group", "implied"}:
        surface = _WE_ARE.sub(r"\1m", surface)
        marked = named(f"I{'' if surface[:1] in {chr(39), '’'} else ' '}{surface.strip()}", "\0")
        surface = _uncontracted(marked.replace("\0", "", 1))
    elif surface[:2] in {"'s", "’s"}:
        surface = "is" + surface[2:]
    else:
        surface = _uncontracted(named(surface, talk.speaker, talk.addressee))
    return predicate_words(" ".join(surface.split()))


def _uncontracted(surface: str) -> str:
    plain = surface.replace("’", "'").replace("can't", "cannot").replace("won't", "will not")
    plain = plain.replace("n't", " not")
    return re.sub(r"'(re|ve|ll)\b", lambda match: {"re": " are", "ve": " has", "ll": " will"}[match.group(1)], plain)


def _object(talk: _Talk, parts: Frame) -> str | None:
    if parts.object is None:
        return None
    whole = next(
        (date for date in talk.dates if parts.object.start >= date.start and parts.object.end <= date.end), None
    )
    if whole:  # "adopted last year" has no object, "is last Friday" and "moved to Friday" do
        return whole.label if _ENDS_OPEN.search(_predicate(talk, parts)) else None
    surface = talk.text[parts.object.start : parts.object.end].rstrip(".!…")
    if surface.count('"') % 2 or surface.count("`") % 2:
        return None
    return named(surface, talk.speaker, talk.addressee) or None


def _relation(claim: Claim, phrase: str) -> Claim | None:
    """From "Alex's sister Ana lives in Porto" also that Ana is Alex's sister."""
    match = _RELATIVE.match(phrase)
    if match is None:
        return None
    bond = f"{match['owner']} {match['kin']}"
    return replace(
        claim,
        text=f"{match['name']} is {bond}.",
        subject=match["name"],
        predicate="is",
        object=bond,
        about_from=None,
        about_to=None,
    )


def _known_as(phrase: str, subject: str) -> str:
    match = _RELATIVE.match(phrase)
    return match["name"] if match else subject


def _replaced(text: str, length: int, subject: str) -> str:
    """The text with its first `length` characters, a pronoun, replaced by the subject; "she's" becomes "Ana is"."""
    rest = text[length:]
    if rest[:2] in {"'s", "’s"}:
        rest = " is" + rest[2:]
    return f"{subject}{rest}"


def _sentence(text: str, speaker: str) -> str:
    """The text as one line that begins with a capital, or a name as it is, and ends with a stop."""
    line = " ".join(text.split()).rstrip(".!…,;: ")
    return f"{line}." if line.startswith(speaker) else f"{line[:1].upper()}{line[1:]}."
