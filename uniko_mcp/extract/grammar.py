"""English words by the part they play in a clause."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from uniko_mcp.extract.wordlist import words

Person: TypeAlias = Literal["speaker", "group", "addressee", "person", "thing", "named", "phrase", "bare", "implied"]
"""Who a subject is: I, we, you, he or she, it, a proper name, "the ..." or "my ...", a bare noun, or I left unsaid."""

PRONOUNS: Final[dict[str, Person]] = {
    "i": "speaker",
    "we": "group",
    "you": "addressee",
    "he": "person",
    "she": "person",
    "it": "thing",
}
POSSESSIVES: Final = words("my our his her their")
DETERMINERS: Final = words("the a an all both most some many one two three") | POSSESSIVES
NO_SUBJECT: Final = words(
    """
    this that these those there here what which who whom whose how why where when everyone everything everybody someone
    something somebody nothing nobody anyone anything they them your yours if because so such as like than not no
    """
)
NEVER_IN_SUBJECT: Final = words(
    """
    that which who whom whose what when where why how if because while although though but so than i we he she it
    you they to
    """
)
ADVERBS: Final = words(
    """
    not never just also really always still even already often once now then both ever too actually finally recently
    usually currently only almost probably maybe definitely certainly sometimes quite very so pretty super totally
    """
)
DROPPED_ADVERBS: Final = ADVERBS - words("not never always usually sometimes")
TEMPORAL: Final = words(
    """
    recently currently now then sometimes usually often today lately once nowadays eventually finally soon later
    yesterday
    """
)
BEFORE_INFINITIVES_ONLY: Final = words(
    "want need plan hope decide try use manage intend agree offer expect choose promise refuse fail struggle be able"
)
LEADING_ADVERBS: Final = TEMPORAL | (ADVERBS - words("not both only so pretty too"))
PREPOSITIONS: Final = words(
    """
    to in at on for from with about of into as by through near during against over after towards toward under around
    """
)
PARTICLES: Final = words("up out back off down away over along together forward")
STOPS: Final = words(
    "because when while since but which who although though if until unless so whereas whenever where before after and"
)
CATENATIVES: Final = words(
    """
    want need plan hope decide try have use like love hate prefer start begin continue manage learn intend agree offer
    wish expect help go get choose promise refuse fail tend aim seem happen struggle be able
    """
)
NUMBERED: Final = words("War Part Phase Chapter Class Type Level Stage Act Volume Book Grade Section Division")
"""Words behind which "I" is the number one."""

MARKS: Final = frozenset({",", ";", ":", "(", "…", "!", "?"})
SHORT: Final = words("m re ve d ll s")
