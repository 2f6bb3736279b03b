"""Whether a text is English: the rules for names, claims and words of time hold for English alone."""

from __future__ import annotations

import re
from typing import Final

from uniko_mcp.extract.wordlist import words

_WORD: Final = re.compile(r"[^\W\d_]+")
_ENGLISH: Final = words(
    """
    the and of to is are was were i you we he she they it my your our his her their this that with for on at from
    have has had not but what who when where how can will would do does did be been am about just so if as by or
    there
    """
)
_OTHER: Final = words(
    """
    der die das und ist nicht ich wir sie ein eine einen dem den von zu mit auf für sich auch wie wird hat habe bin
    le la les et est pas je nous vous une des du dans pour que qui sur avec ce cette ai suis au aux il elle ils el
    los las es no yo un una del por con para como pero muy mi su se al lo o os que não eu um uma do da em com mais
    meu il gli che non sono una di per con ma mio de het een en ik niet van op te dat zijn met voor och att det som
    jag inte är på av nie jest się na to że w i z
    """
) - words("to i no a do an on is was as me he")
_LONG_ENOUGH: Final = 400  # characters that are enough to tell by


def is_english(text: str) -> bool:
    """True unless the words or the script say otherwise; a text with no words to tell by counts as English.

    Compares how many of the commonest function words of English and of its European neighbours occur.
    """
    words = [word.casefold() for word in _WORD.findall(text[:_LONG_ENOUGH])]
    if not words:
        return True
    latin = sum(word[0] < "\u0250" for word in words)
    if 2 * latin < len(words):
        return False
    other = sum(word in _OTHER for word in words)
    return other == 0 or sum(word in _ENGLISH for word in words) >= other
