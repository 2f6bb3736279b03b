"""Subject, predicate and object of a simple English clause, found by the order of its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from uniko_mcp.extract import gazetteer, grammar
from uniko_mcp.extract.grammar import Person
from uniko_mcp.extract.sentences import Stretch
from uniko_mcp.extract.verbs import BE, MODALS, is_past, is_same_in_past, may_be_noun, verb_form


@dataclass(frozen=True, slots=True)
class Frame:
    """The parts of a clause as stretches of the text; an implied subject is empty, an object may be missing.

    `further` is where a second predicate of the same subject begins: "Ana lives in Porto and *works* at Acme".
    """

    person: Person
    subject: Stretch
    predicate: Stretch
    object: Stretch | None
    further: int | None = None


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    lower: str


_WORD: Final = re.compile(r"[^\s,;:()*\"“”!?…]+|[,;:()\"“”!?…]")
_MAX_SUBJECT: Final = 8  # words; a longer stretch before a verb is rarely one noun phrase
_MAX_OBJECT: Final = 18


def frame(text: str, clause: Stretch, *, cuts: frozenset[int] = frozenset()) -> Frame | None:
    """The subject, predicate and object of the clause, None when its words are not in an order understood here.

    The object ends at the offsets in `cuts`, where dates begin, unless it begins there itself.
    """
    tokens = _words(text, clause)
    if len(tokens) < 2:
        return None
    first = _subject_start(tokens)
    if first is None:
        return None
    found = _subject(tokens, first)
    if found is None:
        return None
    person, subject, verb = found
    after = _predicate_end(tokens, verb)
    start = subject.end if person != "implied" else tokens[verb].start
    predicate = Stretch(start, tokens[after - 1].end)
    return Frame(person, subject, predicate, *_object(tokens, after, cuts))


def continued(text: str, first: Frame, clause: Stretch, *, cuts: frozenset[int] = frozenset()) -> Frame:
    """The frame of a further predicate, the words of `clause`, of the subject of `first`."""
    tokens = _words(text, clause)
    verb = 0
    while verb < len(tokens) - 1 and _is_leading_adverb(tokens[verb]):
        verb += 1
    after = _predicate_end(tokens, verb)
    predicate = Stretch(clause.start, tokens[after - 1].end)
    return Frame(first.person, first.subject, predicate, *_object(tokens, after, cuts))


def _words(text: str, clause: Stretch) -> list[_Word]:
    found: list[_Word] = []
    for match in _WORD.finditer(text, *clause):
        word = match.group()
        found.append(_Word(*match.span(), word, word.lower().replace("’", "'")))
    return found


def predicate_words(surface: str) -> str:
    """The predicate in lower case, without adverbs that only colour it: "just really love" is "love"."""
    kept = [word for word in surface.lower().split() if word not in grammar.DROPPED_ADVERBS and not _is_adverb(word)]
    return " ".join(kept) or surface.lower().strip()


def _subject_start(tokens: list[_Word]) -> int | None:
    """The index of the word that the subject begins with, behind phrases of time, place or condition."""
    index = 0
    while index < len(tokens) and _is_leading_adverb(tokens[index]):
        index += 1
    if index >= len(tokens):
        return None
    if not _leads_in(tokens[index].lower):
        return index
    for later in range(index + 1, min(len(tokens), index + 16)):
        word = tokens[later].lower.partition("'")[0]
        behind_comma = tokens[later - 1].text == ","
        if behind_comma and (
            word in grammar.PRONOUNS or word in grammar.DETERMINERS or tokens[later].text[0].isupper()
        ):
            return later
        gerund = tokens[index].lower.endswith("ing")
        if word in {"i", "we"} and later <= index + 6 and not gerund and not _is_conjunction(tokens[index].lower):
            return later
    return index if verb_form(tokens[index].lower) else None


def _is_leading_adverb(word: _Word) -> bool:
    return word.text == "," or word.lower in grammar.LEADING_ADVERBS or _is_adverb(word.lower)


def _leads_in(word: str) -> bool:
    return (
        word in grammar.PREPOSITIONS
        or _is_conjunction(word)
        or word in {"last", "next", "every", "back", "without", "despite"}
        or (word.endswith("ing") and len(word) > 5)
    )


def _is_conjunction(word: str) -> bool:
    return word in grammar.STOPS or word in {"once", "as", "whether", "ever"}


def _subject(tokens: list[_Word], first: int) -> tuple[Person, Stretch, int] | None:
    """The subject and the index of the word the predicate begins with (the contraction itself counts: "I'm")."""
    word = tokens[first]
    head, apostrophe, short = word.lower.partition("'")
    if head in grammar.PRONOUNS:
        end = word.start + len(head)
        if apostrophe:
            return (grammar.PRONOUNS[head], Stretch(word.start, end), first) if short in grammar.SHORT else None
        return _with_verb(grammar.PRONOUNS[head], tokens, first, first + 1, Stretch(word.start, end))
    if word.lower in grammar.NO_SUBJECT or head in grammar.NO_SUBJECT:
        return None
    if _is_implied(tokens, first):
        return "implied", Stretch(word.start, word.start), first
    return _noun_phrase(tokens, first)


def _with_verb(
    person: Person, tokens: list[_Word], first: int, verb: int, subject: Stretch
) -> tuple[Person, Stretch, int] | None:
    while verb < len(tokens) and (tokens[verb].lower in grammar.ADVERBS or _is_adverb(tokens[verb].lower)):
        verb += 1
    if verb >= len(tokens) or not tokens[verb].text[0].isalpha():
        return None
    return person, subject, verb if verb > first else first + 1


def _is_implied(tokens: list[_Word], first: int) -> bool:
    """Diary style: "Went to the beach", "Just finished the report", "Gonna move"."""
    form = verb_form(tokens[first].lower)
    if tokens[first].lower in {"gonna", "been", "haven't", "didn't", "couldn't"}:
        return True
    if form is None or form.tense != "past" or form.lemma in {"be", "have", "do"}:
        return False
    return first + 1 < len(tokens) and tokens[first + 1].lower not in {"by", "and", ","}


def _noun_phrase(tokens: list[_Word], first: int) -> tuple[Person, Stretch, int] | None:
    determined = tokens[first].lower in grammar.DETERMINERS
    for index in range(first + 1, min(len(tokens), first + _MAX_SUBJECT + 1)):
        word = tokens[index]
        if word.text == "I" and tokens[index - 1].text in grammar.NUMBERED:
            continue
        if word.lower == "i" and tokens[index - 1].lower == "and":
            return _with_verb("group", tokens, first, index + 1, Stretch(tokens[first].start, word.end))
        if (
            not word.text[0].isalnum()
            or word.lower in grammar.NEVER_IN_SUBJECT
            or word.lower in grammar.STOPS - {"and"}
        ):
            return None
        head: Person = "phrase" if determined else "named" if _is_name(tokens[first:index]) else "bare"
        if index - first < 1 + determined or not _is_finite(tokens, index, head):
            continue
        last = index - 1
        while last > first and (tokens[last].lower in grammar.ADVERBS or _is_adverb(tokens[last].lower)):
            last -= 1
        if (
            tokens[last].lower in grammar.PREPOSITIONS
            or tokens[last].lower in grammar.DETERMINERS
            or tokens[last].lower == "and"
        ):
            continue
        person: Person = "phrase" if determined else "named" if _is_name(tokens[first : last + 1]) else "bare"
        return person, Stretch(tokens[first].start, tokens[last].end), index
    return None


def _is_name(phrase: list[_Word]) -> bool:
    """Whether the phrase is a proper name; one capital at the start of a clause alone does not say so."""
    head = phrase[0].text.rstrip(".")
    if head in gazetteer.GIVEN_NAMES or head in gazetteer.TITLES or head in gazetteer.PLACES:
        return True
    return all(_capital(word) for word in phrase) and (len(phrase) > 1 or not head[1:].islower())


def _capital(word: _Word) -> bool:
    return (
        word.text[0].isupper() or word.text[0].isdigit() or word.lower in {"and", "of", "the", "&", "de", "van", "von"}
    )


def _is_finite(tokens: list[_Word], index: int, subject: Person) -> bool:
    """Whether the word at `index` can be the finite verb of the noun phrase, of that kind, before it."""
    word = tokens[index].lower
    bare = word.removesuffix("n't")
    if bare in BE or bare in MODALS or bare in {"has", "have", "had", "do", "does", "did", "ca", "wo"}:
        return True
    form = verb_form(word)
    previous = tokens[index - 1].lower
    if form is None or word == "like" or previous in grammar.DETERMINERS or previous in grammar.PREPOSITIONS:
        return False
    if form.tense == "past":
        return True
    if form.tense == "third":
        following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
        heads = following in grammar.DETERMINERS or (following in grammar.PREPOSITIONS and following != "of")
        return subject == "named" or not may_be_noun(word) or (subject == "phrase" and heads)
    return form.tense == "base" and previous.endswith("s") and not may_be_noun(word) and subject != "named"


def _predicate_end(tokens: list[_Word], verb: int) -> int:
    """The index behind the predicate: auxiliaries, adverbs, the verb, "to" and further verbs, particle, preposition."""
    index, lemma = _verb_group_end(tokens, verb)
    while lemma in grammar.CATENATIVES and _is_infinitive(
        tokens, index, known=lemma not in grammar.BEFORE_INFINITIVES_ONLY
    ):
        lemma = getattr(verb_form(tokens[index + 1].lower), "lemma", "")
        index += 2
    if lemma == "be" and index + 1 < len(tokens) and _is_adjective_before_preposition(tokens, index):
        return index + 2 + _is_infinitive(tokens, index + 1)
    if index < len(tokens) and tokens[index].lower in grammar.PARTICLES and lemma != "be":
        index += 1
    if index < len(tokens) and tokens[index].lower in grammar.PREPOSITIONS and index + 1 < len(tokens):
        index += 1
    return index


def _verb_group_end(tokens: list[_Word], verb: int) -> tuple[int, str]:
    """The index behind the verb group and the dictionary form of its last verb."""
    index, lemma = verb, ""
    while index < len(tokens):
        word = tokens[index].lower
        contracted = index == verb and "'" in word and word.partition("'")[0] in grammar.PRONOUNS
        bare = word.removesuffix("n't")
        form = verb_form(bare)
        if contracted:
            lemma = _contracted_lemma(word, tokens[index + 1].lower if index + 1 < len(tokens) else "")
        elif bare in MODALS or bare in {"ca", "wo", "gonna"}:
            lemma = "will"
        elif index == verb:
            lemma = form.lemma if form else word
        elif word in grammar.ADVERBS or _is_adverb(word):
            pass
        elif _continues(lemma, form.tense if form else _guessed_tense(word), word):
            lemma = form.lemma if form else word
        else:
            break
        index += 1
    while index > verb + 1 and tokens[index - 1].lower in grammar.ADVERBS | grammar.PREPOSITIONS:
        index -= 1
    return index, lemma


def _guessed_tense(word: str) -> str:
    """The tense that the ending of an unknown word tells."""
    if len(word) > 5 and word.endswith("ing"):
        return "gerund"
    return "past" if is_past(word) else ""


def _contracted_lemma(word: str, following: str) -> str:
    if word.endswith("'d"):
        return "have" if is_past(following) or following in {"better", "never", "always", "already"} else "will"
    return "be" if word.endswith(("'m", "'re", "'s")) else "have" if word.endswith("'ve") else "will"


def _continues(lemma: str, tense: str, word: str) -> bool:
    """Whether a verb in that tense carries on the verb group that has come to `lemma`."""
    match lemma:
        case "be":
            return tense in {"gerund", "participle"} or (tense == "past" and is_past(word))
        case "have":
            return tense in {"participle", "past"} or is_same_in_past(word)
        case "do" | "will":
            return tense == "base"
        case _:
            return False


def _is_infinitive(tokens: list[_Word], index: int, *, known: bool = True) -> bool:
    """Whether "to" and a verb stand at `index`; any plain word passes for a verb unless it must be a known one."""
    if index + 1 >= len(tokens) or tokens[index].lower != "to":
        return False
    word = tokens[index + 1].text
    form = verb_form(word)
    if form is not None or known:
        return form is not None and form.tense == "base"
    return word.isalpha() and word.islower() and word not in grammar.DETERMINERS


def _is_adjective_before_preposition(tokens: list[_Word], index: int) -> bool:
    word, following = tokens[index], tokens[index + 1].lower
    plain = word.text[0].islower() and word.lower not in grammar.DETERMINERS and word.lower not in grammar.PREPOSITIONS
    return (
        plain
        and following in {"to", "of", "about", "for", "with", "at", "in", "by", "on", "from"}
        and index + 2 < len(tokens)
    )


def _is_adverb(word: str) -> bool:
    return (
        len(word) > 4
        and word.endswith("ly")
        and word not in {"family", "apply", "reply", "supply", "rely", "italy", "emily"}
    )


def _object(tokens: list[_Word], first: int, cuts: frozenset[int]) -> tuple[Stretch | None, int | None]:
    """What follows the predicate up to the next comma, conjunction or cut, and where a further predicate begins."""
    if first >= len(tokens):
        return None, None
    last, further = first, None
    for index in range(first, len(tokens)):
        token = tokens[index]
        if token.text in grammar.MARKS or (index > first and (token.start in cuts or _is_stop(tokens, index))):
            further = _further(tokens, index)
            break
        if token.lower == "and" and (further := _further(tokens, index)) is not None:
            break
        last = index + 1
    while last > first and (tokens[last - 1].lower in grammar.PREPOSITIONS or _is_stop(tokens, last - 1)):
        last -= 1
    if last == first or last - first > _MAX_OBJECT or tokens[first].lower in {"and", "or"}:
        return None, further
    final = tokens[last - 1]
    return Stretch(tokens[first].start, final.start + len(final.text.rstrip("."))), further


def _is_stop(tokens: list[_Word], index: int) -> bool:
    word = tokens[index].lower
    if word == "and":
        return index + 1 < len(tokens) and tokens[index + 1].lower in grammar.PRONOUNS
    if word == "so":
        return index + 1 < len(tokens) and tokens[index + 1].lower in grammar.PRONOUNS
    return word in grammar.STOPS and not (word == "while" and tokens[index - 1].lower == "a")


def _further(tokens: list[_Word], first: int) -> int | None:
    """Where, behind the first object, "and" with a finite verb begins a second predicate."""
    for index in range(first, len(tokens) - 2):
        if tokens[index].lower in grammar.STOPS - {"and", "then"} or tokens[index].text in {";", ":", "(", '"', "“"}:
            return None
        if tokens[index].lower != "and":
            continue
        verb = index + 1
        while verb < len(tokens) - 1 and (tokens[verb].lower in grammar.ADVERBS or _is_adverb(tokens[verb].lower)):
            verb += 1
        return tokens[index + 1].start if _is_finite_after_and(tokens, verb) else None
    return None


def _is_finite_after_and(tokens: list[_Word], index: int) -> bool:
    word = tokens[index].lower
    form = verb_form(word)
    following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    if form is None or following in {"and", ",", ""}:
        return False
    if form.tense == "third":
        return not may_be_noun(word) or following in grammar.PREPOSITIONS | grammar.DETERMINERS
    return form.tense == "past"
