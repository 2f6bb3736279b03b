"""The vocabulary of dates in English: names of months and days, number words, and the patterns built of them."""

from __future__ import annotations

import re
from typing import Final

MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS: Final = {
    word: number
    for number, word in enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1)
} | {"a": 1, "an": 1, "eleven": 11, "twelve": 12, "a couple": 2, "couple": 2, "a couple of": 2, "couple of": 2}
VAGUE: Final = {"a few": (2, 5), "few": (2, 5), "several": (3, 7)}
"""The least and the greatest number of units that "a few" may be."""

HOLIDAYS: Final = {
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}
"""Holidays on a fixed day, as (month, day)."""

OFTEN_OTHER_WORDS: Final = frozenset({"may", "march", "april", "june", "august"})
"""Months that are also verbs or names: dates only behind a preposition."""

PREPOSITION: Final = re.compile(
    r"\b(?:in|since|until|till|by|during|of|early|mid|late|from|before|after|through|around|end of|for|on)"
    r"(?: the)?[ -]$",
    re.IGNORECASE,
)
FIRM_PREPOSITION: Final = re.compile(
    r"\b(?:in|since|until|till|by|during|circa|early|mid|late|back in|around)[ -]$", re.IGNORECASE
)
WEEKDAY_PREPOSITION: Final = re.compile(
    r"\b(?:on|by|until|till|since|before|after|from|due|between|and|to) $", re.IGNORECASE
)
FOLLOWED_BY_NOUN: Final = re.compile(
    r"[ -](?!(?:as|is|was|has|his|this|its|us|unless|and|but|when|while|with|to|that|because|if|or|which|who|where|for"
    r"|by)\b)[a-z]+(?:s|ms|kb|mb|gb|fps|px|rows|lines|am|pm)\b|%|[ -]?(?:ms|kb|mb|gb|px)\b|[.,]\d"
)
"""Behind a number such as 2000: what it counts, so that it is no year."""

ENDS_PHRASE: Final = re.compile(
    r"\s*(?:$|[.,;:!?)\]]|(?:at|and|but|so|to|with|for|we|i|he|she|they|it|when|because|if|or|from|until|then|was|is"
    r"|of this|this)\b)",
    re.IGNORECASE,
)
"""Behind "the 3rd" or "2019": no noun follows that it would belong to."""

MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
FULL_MONTH: Final = rf"(?P<month>{'|'.join(MONTHS)})"
WEEKDAY: Final = (
    r"(?P<weekday>mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)\b"
)
DAY: Final = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?![\d-])"
NUMBER: Final = (
    r"(?P<number>\d{1,3}|a couple(?: of)?|a few|several|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|couple of|few)"
)
UNIT: Final = r"(?P<unit>minute|min|hour|hr|day|night|weekend|week|month|year)s?\b"
SEASON: Final = r"(?P<season>spring|summer|fall|autumn|winter)\b"
QUALIFIER: Final = r"(?P<which>last|this past|past|previous|this coming|coming|this|next)"
HOLIDAY: Final = rf"(?P<holiday>{'|'.join(HOLIDAYS)})\b"
CLOCK: Final = r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::\d\d(?:\.\d+)?)?(?P<offset>Z|[+-]\d\d:?\d\d)?"

TRIGGER: Final = re.compile(
    r"""(?:(?<=mid-)|(?<![\w/.\-$€£\#]))(?:
        \d
        |(?:mon|tue|wed|thu|fri|sat|sun)(?:[a-z]*day|s|rs|r|\b)
        |jan|feb|mar(?:ch|\b)|apr(?:il|\b)|may\b|june?\b|july?\b
        |aug(?:ust|\b)|sep|oct(?:ober|\b)|nov(?:ember|\b)|dec(?:ember|\b)
        |today|tonight|tomorrow|tmrw|yesterday|last\b|next\b|this\b|past\b|previous\b|coming\b
        |the[ ](?:day[ ]|week|month[ ]of|year[ ]|other[ ]day|last|past|next|coming|previous|summer|winter|spring|fall
            |autumn|\d)
        |an?[ ](?:week|month|year|day|couple|few|hour|minute)|couple[ ]of|few|several
        |one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve
        |in[ ](?:the|an?|few|several|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b|within
        |spring|summer|fall|autumn|winter|q[1-4]\b|christmas|halloween|new[ ]year|valentine
    )""",
    re.VERBOSE | re.IGNORECASE,
)
"""How every date begins; cheap enough to scan all text with."""
