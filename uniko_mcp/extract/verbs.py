"""The forms of common English verbs: which words are verbs, in which tense, and how the third person agrees."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from uniko_mcp.extract.wordlist import words

Tense: TypeAlias = Literal["base", "third", "past", "participle", "gerund"]


class VerbForm(NamedTuple):
    """A word read as a verb: its dictionary form and the tense that the word's form tells."""

    lemma: str
    tense: Tense


_IRREGULAR: Final = """
arise arose arisen|awake awoke awoken|bear bore borne|beat beat beaten|become became become|begin began begun
bend bent bent|bet bet bet|bind bound bound|bite bit bitten|blow blew blown|break broke broken|breed bred bred
bring brought brought|build built built|burn burnt burnt|buy bought bought|catch caught caught
choose chose chosen|cling clung clung|come came come|cost cost cost|cut cut cut|deal dealt dealt|dig dug dug
draw drew drawn|dream dreamt dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen
feed fed fed|feel felt felt|fight fought fought|find found found|fly flew flown|forbid forbade forbidden
forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given
go went gone|grow grew grown|hang hung hung|hear heard heard|hide hid hidden|hit hit hit|hold held held
hurt hurt hurt|keep kept kept|know knew known|lay laid laid|lead led led|learn learnt learnt|leave left left
lend lent lent|let let let|lie lay lain|light lit lit|lose lost lost|make made made|mean meant meant
meet met met|mistake mistook mistaken|pay paid paid|put put put|quit quit quit|read read read|ride rode ridden
ring rang rung|rise rose risen|run ran run|say said said|see saw seen|seek sought sought|sell sold sold
send sent sent|set set set|shake shook shaken|shine shone shone|shoot shot shot|show showed shown
shrink shrank shrunk|shut shut shut|sing sang sung|sit sat sat|sleep slept slept|speak spoke spoken
spend spent spent|split split split|spread spread spread|stand stood stood|steal stole stolen
stick stuck stuck|strike struck struck|swear swore sworn|sweep swept swept|swim swam swum|take took taken
teach taught taught|tear tore torn|tell told told|think thought thought|throw threw thrown
understand understood understood|wake woke woken|wear wore worn|win won won|wind wound wound
write wrote written|rebuild rebuilt rebuilt|rewrite rewrote rewritten|redo redid redone|undo undid undone
overcome overcame overcome
"""

_REGULAR: Final = """
accept ache achieve act adapt add adjust admire admit adopt adore advise afford agree aim allow announce answer
appear apply appreciate approve argue arrange arrive ask assign assume attempt attend avoid bake base battle
behave believe belong benefit boost borrow bother brainstorm browse cache calculate call camp cancel care carry
cause celebrate change charge chat check cheer clean clear click climb close coach collaborate collect combine
commit compare compete complain complete concern configure confirm confuse connect consider consist contain
continue contribute convert convince cook cope copy correct count cover crash create cross cry dance debug
decide declare decorate decrease define delay delete deliver depend deploy describe deserve design detect
determine develop die disagree disappear discover discuss dislike document donate doubt drop earn edit emphasize
enable encounter encourage end enjoy enrol enroll ensure enter escape establish estimate exceed exist expand
expect experience experiment explain explore expire export express extend face fail fetch fill finalize finish
fit fix flash focus follow force garden gather generate guess handle happen hate help hike hire hope host hug
identify ignore imagine implement import improve include increase indicate influence inform inspire install
integrate intend interview introduce invest investigate invite involve join joke jog judge juggle jump kick kill
kiss knock lack land last laugh launch lift like limit link listen live load log look love lower maintain manage
mark marry match matter measure mention merge message migrate miss monitor motivate mount move name need notice
object observe offer open optimize order organise organize own pack paint participate pass perform persuade
phone pick place plan plant play point post practice practise prefer prepare present prevent print process
produce program promise promote propose protect prove provide publish pull push qualify raise reach realise
realize receive recommend reconnect record recover recycle redesign reduce refactor refer reflect refuse
register regret rehearse reject relate relax release rely remain remember remind remove renovate rent repair
repeat replace reply report represent request require rescue research resolve respond rest restart restore
result retire return reveal review reward roll rush save scale schedule score search seem select separate serve
settle share shift shop show sign skate skip smile smoke solve sound spark specify sponsor sprain start stare
state stay step stop store stream stress stretch struggle study submit succeed suffer suggest suit support
suppose surf surprise surprise suspect switch tackle talk target taste teach tend test thank tidy touch tour
track trade train transfer transform travel treat trigger trip trust try turn update upgrade upload use validate
value visit volunteer vote wait walk wander want warn wash waste watch weigh welcome wish wonder work worry wrap
yell
"""

_AUXILIARIES: Final = {
    "am": VerbForm("be", "base"),
    "is": VerbForm("be", "third"),
    "are": VerbForm("be", "base"),
    "was": VerbForm("be", "past"),
    "were": VerbForm("be", "past"),
    "been": VerbForm("be", "participle"),
    "being": VerbForm("be", "gerund"),
    "be": VerbForm("be", "base"),
    "have": VerbForm("have", "base"),
    "has": VerbForm("have", "third"),
    "had": VerbForm("have", "past"),
    "having": VerbForm("have", "gerund"),
    "do": VerbForm("do", "base"),
    "does": VerbForm("do", "third"),
    "did": VerbForm("do", "past"),
    "done": VerbForm("do", "participle"),
    "doing": VerbForm("do", "gerund"),
}
MODALS: Final = words("will would can could shall should may might must")
BE: Final = words("am is are was were")

# Stressed on their last syllable, or of one: the consonant doubles before -ed and -ing.
_DOUBLING: Final = words(
    """
    admit chat commit drop fit hug jog log occur permit plan prefer refer regret rub ship shop skip step stop submit
    transfer trip wrap kid tag plug spot swap format quit set put cut get let hit run sit swim win begin dig forget
    shut split bet
    """
)
_OFTEN_NOUNS: Final = words(
    """
    act aim answer base battle benefit camp cause change charge chat check click coach concern cost cover crash
    dance design document doubt end experience experiment face film fit fix flash focus force garden guess hike hope
    host interview joke judge jump kick kiss land light link load log look lunch mark match matter message name need
    notice object offer order pack paint pass phone place plan plant play point post practice present print process
    program promise record release rent report request research rest result return review reward roll score search
    set shift shop show sign smile smoke sound spark state step store stream stress stretch study support surprise
    switch talk target taste test tour track trade train travel treat trigger trip trust turn update upgrade use
    value visit volunteer vote walk wash waste watch wish wonder work worry read run sleep swim drink deal bet drive
    ride ring stand strike split spread hit cut lead
    """
)


def verb_form(word: str) -> VerbForm | None:
    """The word (lower case) read as a verb, None when it is no form of a verb known here.

    A form that is both base and past, such as "put", counts as base.
    """
    return _FORMS.get(word)


def is_past(word: str) -> bool:
    """Whether the word (lower case) is a past tense or participle; unknown words that end in -ed count."""
    form = _FORMS.get(word)
    if form:
        return form.tense in {"past", "participle"}
    return word.endswith("ed") and len(word) > 4 and not word.endswith("eed")


def may_be_noun(word: str) -> bool:
    """Whether a verb's base or third person (lower case) is as often a noun: "the plan", "two tests"."""
    form = _FORMS.get(word)
    return form is not None and form.tense in {"base", "third"} and form.lemma in _OFTEN_NOUNS


def is_same_in_past(word: str) -> bool:
    """Whether the verb's base, past and participle look alike: "put", "set"."""
    return word in _SAME_PAST


def third_person(word: str) -> str:
    """The form that agrees with "she": "am" gives "is", "try" gives "tries"; any other form is returned unchanged."""
    if word in _THIRD:
        return _THIRD[word]
    form = _FORMS.get(word)
    if form is None or form.tense != "base" or word in _SAME_PAST:
        return word
    return _add_s(word)


def _add_s(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def _add_ed(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return (verb + verb[-1] if verb in _DOUBLING else verb) + "ed"


def _add_ing(verb: str) -> str:
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    return (verb + verb[-1] if verb in _DOUBLING else verb) + "ing"


def _forms() -> dict[str, VerbForm]:
    triples = [tuple(entry.split()) for entry in _IRREGULAR.replace("\n", "|").split("|") if entry]
    triples += [(verb, _add_ed(verb), _add_ed(verb)) for verb in _REGULAR.split()]
    forms: dict[str, VerbForm] = dict(_AUXILIARIES)
    for verb, past, participle in triples:  # earlier readings win: "lay" is the base before it is the past of "lie"
        forms.setdefault(verb, VerbForm(verb, "base"))
        forms.setdefault(_add_s(verb), VerbForm(verb, "third"))
        forms.setdefault(past, VerbForm(verb, "past"))
        forms.setdefault(participle, VerbForm(verb, "participle"))
        forms.setdefault(_add_ing(verb), VerbForm(verb, "gerund"))
    return forms


_FORMS: Final = _forms()
_THIRD: Final = {"am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "don't": "doesn't"} | {
    "haven't": "hasn't",
    "aren't": "isn't",
    "weren't": "wasn't",
}
_SAME_PAST: Final = words("beat bet cost cut hit hurt let put quit read set shut split spread")
