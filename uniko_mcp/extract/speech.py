"""What a sentence does: which sentences ask, order, greet or thank and so claim nothing, and which only half claim."""

from __future__ import annotations

import re
from typing import Final

from uniko_mcp.extract.verbs import may_be_noun, verb_form

_WORDS: Final = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")
_ASKS: Final = re.compile(
    r"""^(?:(?:so|and|but|hmm|ok|okay|oh|or|also|well|wait|then|hey)[,\s]+)*(?:
        (?:can|could|would|will|should|do|does|did|is|are|was|were|am|have|has|may|shall|won't|don't|isn't|aren't|didn't)
            \s+(?:you|i|we|it|they|he|she|there|the|this|that|these|those|my|your|any|anyone|someone)\b
        |(?:what|how|why|where|who|whom|whose|which)\b(?!\s+(?:a|an)\b)
        |when\s+(?:is|are|was|were|do|does|did|can|will|should)\b
        |any\s+(?:idea|chance|tips|advice|suggestions|thoughts|recommendations|plans)\b
        |(?:i\ was\ |i'm\ |just\ )?wondering\b|i\ wonder\b
        |i(?:'d|\ would)\ (?:like|love|appreciate)\ (?:you|it\ if|to\ know|to\ hear|your|some\ help|help)
        |i(?:'m|\ am)\ (?:not\ (?:quite\ |really\ |entirely\ |totally\ )?sure|unsure|curious|confused|lost)\b
        |i\ don't\ (?:know|understand)\ (?:how|what|if|whether|why|where)\b
        |i\ (?:want|need)\ (?:you|your|help)\b|i\ want\ to\ (?:make\ sure|know|understand|see\ if|ensure)\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_SOCIAL: Final = re.compile(
    r"""^(?:(?:oh|wow|aw+|yeah|yes|well|and|but|so|haha)[,!\s]+)*(?:
        thanks|thank\ you|thx|hello|hi|hey|bye|goodbye|good\ (?:morning|night|evening|luck|job|point|idea)
            |see\ (?:you|ya)|take\ care
        |congrat\w*|cheers|welcome|you're\ welcome|no\ (?:problem|worries)|nice|great|awesome|cool|amazing|sure
            |of\ course|absolutely
        |certainly|definitely|sounds|looks\ like\ you|way\ to\ go|well\ done|keep|(?:it's\ )?been\ a\ while
            |wishing|sending|best\ of
            |long\ time|happy\ \w+!
        |i\ (?:totally\ |really\ |completely\ |so\ |truly\ )?(?:agree|appreciate|understand|hear\ you|get\ it|see
            |feel\ you|know)(?:[,.!]|$|\ (?:it|you|what|your|with\ you|right|the\ feeling)\b)
        |i(?:'m|\ am)\ (?:\w+\ ){0,2}(?:glad|happy|proud|sorry|excited|thrilled|pleased|thankful|grateful
            |impressed|delighted|here|sure|rooting|jealous)
            \ (?:for\ (?:you|your|that|it|this)|of\ (?:you|that)|to\ (?:hear|help|see\ you|know\ you)|you
                |that\ you|it|about\ (?:it|that)|with\ you|your)\b
        |i\ (?:\w+\ )?(?:hope|bet|guess|wish)\ (?:you|it|this|that|your|so|to\ see\ you)\b
        |i\ (?:can't|cannot|couldn't)\ (?:wait|agree\ more|imagine)\b
        |i(?:'d|\ would)\ (?:be\ happy|be\ glad|love\ (?:that|to\ (?:hear|see|help|know))|say)\b
        |i(?:'ll|\ will)\ (?:let\ you\ know|keep\ you|be\ there\ for\ you|support\ you|check\ it\ out|do\ that
            |try|definitely\ (?:check|try|do))\b
        |i(?:'m|\ am)\ (?:looking\ forward|always\ here|good|fine|ok|okay|doing\ (?:well|good|great|fine)
            |all\ ears|so\ with\ you)\b(?!\ at)
        |i\ (?:think|feel|believe|know)\ (?:so|you)\b|i\ mean\b|i'm\ with\ you
    )(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_BOILERPLATE: Final = re.compile(
    r"""^(?:
        here(?:'s|\ is|\ are)|below|above|let's|let\ me|this|these|that|it|feel\ free|if\ you|by\ following
            |to\ \w+,?|note|remember|make\ sure
        |in\ (?:summary|conclusion|this)|for\ example|i\ (?:hope|can|would|could|recommend|suggest|understand|see
            |think|apologi[sz]e|am)
        |i(?:'m|'d|'ll)|as\ an\ ai|we\ (?:can|need|will|should|have\ to|are|get|know|use)|we(?:'ll|'re)|you|your
            |the\ following|each|both|overall
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_BEFORE_ORDERS: Final = frozenset({"please", "just", "also", "always", "never", "then", "and", "so", "but"})
_HEDGE: Final = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|might|may|could|seems?|seemed|guess|think|thought|believe|suppose|apparently"
    r"|kind of|sort of|i'm not sure|not certain|likely|hopefully|hope|hoping|supposedly|rumou?r|as far as i know|afaik"
    r"|iirc|wish|thinking (?:of|about)|considering)\b",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(
    r"\b(?:not|never|no longer|nobody|nothing|neither|nor|without|hardly)\b|n['’]t\b", re.IGNORECASE
)
_CONDITION: Final = re.compile(
    r"^(?:if|unless|suppose|imagine|assuming|whenever)\b|\bwould\b|\bif i (?:were|had)\b", re.IGNORECASE
)
_COMING: Final = re.compile(
    r"\b(?:will|going to|gonna|plan(?:s|ning)? to|want(?:s)? to|hop(?:e|ing) to|'ll)\b", re.IGNORECASE
)


def asks(clause: str) -> bool:
    """Whether the clause is a question or a request dressed as a statement ("I was wondering ...")."""
    return clause.rstrip().endswith(("?", "？", "?!")) or opens_question(clause)


def opens_question(clause: str) -> bool:
    """Whether the clause begins the way questions do."""
    return _ASKS.match(_plain(clause)) is not None


def is_social(clause: str) -> bool:
    """Whether the clause greets, thanks, agrees, wishes or cheers, and no more."""
    return _SOCIAL.match(_plain(clause)) is not None


def is_boilerplate(clause: str) -> bool:
    """Whether an assistant's sentence talks about its own answer or advises, instead of reporting something."""
    return _BOILERPLATE.match(_plain(clause)) is not None


def orders(clause: str) -> bool:
    """Whether the clause begins with a bare verb: "Use tabs", "Please don't", "Let me know"."""
    spoken = [word.lower() for word in _WORDS.findall(_plain(clause[:80]))]
    words = [word for word in spoken if word not in _BEFORE_ORDERS]
    if not words:
        return True
    if words[0] in {"let", "let's", "don't", "do", "please", "be"}:
        return True
    form = verb_form(words[0])
    if form is None or form.tense != "base":
        return False
    following = verb_form(words[1]) if len(words) > 1 else None
    heads_a_clause = (
        following is not None and following.tense in {"third", "past"} and following.lemma in {"be", "have"}
    )
    return not (may_be_noun(words[0]) and heads_a_clause)


def certainty(clause: str) -> float:
    """A factor in (0, 1]: how much of a claim the wording makes. Hedges and conditions take most, "not" least."""
    factor = 1.0
    for pattern, weight in ((_HEDGE, 0.7), (_CONDITION, 0.7), (_COMING, 0.9), (_NEGATION, 0.9)):
        if pattern.search(clause):
            factor *= weight
    return factor


def _plain(clause: str) -> str:
    return clause.replace("’", "'")
