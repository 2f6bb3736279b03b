"""What the index knows about English: words that carry no meaning alone, and forms no stemming rule reaches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_STOP_WORDS: Final = """
    a about after again all also am an and any are arent as at be because been being but by can cant could couldnt did
    didnt do does doesnt doing done dont down during each else ever few for from had hadnt has hasnt have havent having
    he hed hell her here hers herself hes him himself his how hows i id if ill im in into is isnt it itd itll its itself
    ive just let lets may me might mine more most much must my myself no nor not of off oh ok okay on once one only or
    other our ours ourselves out over own please really s same shall she shed shes should shouldnt so some such t than
    that thats the their theirs them themselves then there theres these they theyd theyll theyre theyve this those
    through to too under until up upon us very was wasnt we wed well were werent weve what whats when whens where
    wheres whether which while who whom whos whose why will with wont would wouldnt yeah yes you youd youll your youre
    yours yourself yourselves youve
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Function words and their contractions without the apostrophe. `one` and `well` are here, `two` and `good` are not."""

_IRREGULAR: Final = """
    arise arose arisen | awake awoke awoken | become became | begin began begun | bend bent | bite bit bitten |
    bleed bled | blow blew blown | break broke broken | bring brought | build built | burn burnt | buy bought |
    catch caught | choose chose chosen | come came | deal dealt | dig dug | draw drew drawn | dream dreamt |
    drink drank drunk | drive drove driven | eat ate eaten | fall fell fallen | feed fed | feel felt | fight fought |
    find found | fly flew flown | forget forgot forgotten | forgive forgave forgiven | freeze froze frozen |
    get got gotten | give gave given | go went gone | grow grew grown | hang hung | hear heard | hide hid hidden |
    hold held | keep kept | know knew known | lay laid | lead led | learn learnt | leave left | lend lent | light lit |
    lose lost | make made | mean meant | meet met | pay paid | ride rode ridden | ring rang rung | rise rose risen |
    run ran | say said | see saw seen | seek sought | sell sold | send sent | sew sewn | shake shook shaken |
    shine shone | shoot shot | show shown | shrink shrank shrunk | sing sang sung | sink sank sunk | sit sat |
    sleep slept | speak spoke spoken | spend spent | spin spun | stand stood | steal stole stolen | stick stuck |
    strike struck | swear swore sworn | sweep swept | swim swam swum | swing swung | take took taken | teach taught |
    tear tore torn | tell told | think thought | throw threw thrown | understand understood | wake woke woken |
    wear wore worn | weave wove woven | win won | wind wound | write wrote written |
    child children | foot feet | goose geese | knife knives | leaf leaves | life lives | man men | mouse mice |
    person people | shelf shelves | tooth teeth | wife wives | wolf wolves | woman women
"""
IRREGULAR_FORMS: Final[Mapping[str, str]] = {
    form: base for group in _IRREGULAR.split("|") for base, *forms in [group.split()] for form in forms
}
"""Irregular form -> base form (verbs of everyday use and a few plurals)."""
