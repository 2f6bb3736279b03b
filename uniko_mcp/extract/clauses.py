"""Sentences cut into clauses that can each be claimed alone, without the words that only lead in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from uniko_mcp.extract.sentences import Stretch
from uniko_mcp.extract.speech import opens_question

_PERSON: Final = r"(?:I|i|we|We|he|she|they|it|you|there|my|our|his|her|their)(?:['’](?:m|s|re|ve|d|ll))?\s"
_THING: Final = r"(?:the|this|that|these|those|a|an)\s"
_QUESTION: Final = (
    r"(?:can|could|would|should|do|does|did|will|is|are|have|what|how|why|where|which|who|any|please)(?:['’]s)?\s"
)
_JOINTS: Final = re.compile(
    rf"""[,;]?\s+(?:and|but|so|yet)\s+(?={_PERSON})          # ... and I
    |[,;]\s+(?:and|but|so|yet)\s+(?={_THING}|[A-Z][a-z]+\s)  # ..., but the
    |,?\s+because\s+(?=(?:I|we|my|our)(?:['’](?:m|re|ve|d|ll))?\s)
    |\s+(?:and|but)\s+(?={_THING}(?:[\w'’-]+\s){{1,3}}(?:is|are|was|were|has|had|will|can)\s)
    |,?\s+(?:and|but|so|then)\s+(?={_QUESTION})              # ... so can you
    |,\s+(?={_PERSON}|{_QUESTION}|here(?:['’]s|\ is|\ are)\s)                           # ..., I
    |\s*;\s+
    |\s+(?:-|–|—|--)\s+(?={_PERSON}|{_THING}|{_QUESTION})
    |\s*[:;]-?[)D(P]\s+""",
    re.VERBOSE,
)
_SUBORDINATE: Final = re.compile(
    r"^(?:when|while|if|after|before|since|as|although|though|because|until|once|whenever|unless|even|for|in|on|at|during|with"
    r"|without|by|from|to|given|according|despite|apart|besides|speaking|last|next|this|every|one|back|ever|whether|whatever"
    r"|however|recently|currently|lately|today|yesterday|tomorrow|sometimes|usually|\w+ing|\w+ed|\w+ly)\b",
    re.IGNORECASE,
)
_SUBJECT_START: Final = re.compile(
    rf"^(?:{_PERSON}|{_THING}|[A-Z][\w’'-]*\s|(?:some|most|many|both|all|one)\s)|^\w+['’](?:m|re|ve|ll)\s",
    re.IGNORECASE,
)
_LEAD_IN: Final = re.compile(
    r"""^(?:
        (?:oh|ah|aw+|wow|yeah|yea|yes|yep|yup|no|nope|nah|well|so|hey|hi|hello|yo|ok|okay|sure|hmm+|haha+|lol|omg
            |gosh|man|ugh|and|but
        |also|plus|anyway|anyways|btw|by\ the\ way|actually|honestly|basically|unfortunately|luckily|fortunately
            |thankfully|sadly
        |of\ course|absolutely|definitely|totally|exactly|right|true|thanks|thank\ you|thx|congrats|cool|nice
            |great|awesome|good|indeed
        |in\ fact|on\ (?:another|a\ different)\ note|as\ you\ know|you\ know|guess\ what|to\ be\ honest|tbh|fyi
            |i\ mean|for\ sure|it's\ true
        |same\ here|me\ too|like|or|then|because|especially\ because|which\ is\ why|that's\ why|as\ for\ me
            |for\ me|personally)
        (?:\s+(?!I\b)[A-Z][\w’'-]+)?(?:\s*[,!.;:–—-]+\s*|\s+(?=(?:I|i|we|my|our|the|he|she|they)\b))
        |i(?:['’]m|\ am)\ (?:\w+\ )?(?:excited|happy|glad|thrilled|proud|sorry)\ to\ (?:tell|say|announce|report|share)
            (?:\ (?:you|with\ you))?(?:\ that)?\s+(?=(?:I|we|my|our)\b)
        |(?!I\b)[A-Z][a-z]+\s*[,!]\s+(?=(?:I|i|we|my|our|the|it|that)\b)
        |[^\w\s"'“(\[`*@#/~$.<-]+\s*
        |\*\*[^*\n]{1,60}?:?\*\*:?\s+(?=[A-Z])
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_STRIPPED: Final = " \t\n*_-–—,;"


def clauses(text: str, sentence: Stretch) -> Iterator[Stretch]:
    """The clauses of a sentence that may claim something, in order; what is asked is left out."""
    for clause in _split(text, sentence):
        start = _skip_lead_in(text, clause)
        end = clause.end
        while end > start and text[end - 1] in _STRIPPED:
            end -= 1
        if start < end:
            yield Stretch(start, end)


def _split(text: str, sentence: Stretch) -> Iterator[Stretch]:
    begin = sentence.start
    for joint in _JOINTS.finditer(text, sentence.start, sentence.end):
        piece = text[begin : joint.start()]
        following = text[joint.end() : sentence.end]
        if not _stands_alone(piece, following):
            continue
        if not opens_question(piece):
            yield Stretch(begin, joint.start())
        begin = joint.end()
    if not text[begin : sentence.end].rstrip().endswith(("?", "？")):
        yield Stretch(begin, sentence.end)


def _stands_alone(piece: str, following: str) -> bool:
    """Whether the piece before a joint is a clause of its own and not a phrase that leads into the following one."""
    piece = piece.strip()
    if opens_question(following):
        return True
    lead = _LEAD_IN.match(piece)
    bare = piece[lead.end() :] if lead else piece
    inside_quotes = piece.count('"') % 2 == 1 or piece.count("(") > piece.count(")")
    if inside_quotes or len(bare.split()) < 2:
        return False
    return _SUBORDINATE.match(bare) is None and (_SUBJECT_START.match(bare) is not None or len(bare.split()) > 3)


def _skip_lead_in(text: str, clause: Stretch) -> int:
    start = clause.start
    while lead := _LEAD_IN.match(text[start : clause.end]):
        if lead.end() == 0 or start + lead.end() >= clause.end:
            break
        start += lead.end()
    return start
