"""Names that are known by their form in any language: URLs, e-mail addresses, paths, versions, code, identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_FILE_TYPES: Final = (
    "py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|java|kt|go|rs|rb|php|cs|cpp|cc|hpp|swift|scala|lua|sql|sh|bash|ps1|bat|html?|css|scss"
    "|vue|svelte|json|jsonl|jsonc|ya?ml|toml|ini|cfg|conf|env|lock|md|rst|txt|csv|tsv|xml|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif"
    "|svg|mp[34]|wav|zip|gz|tar|log|db|sqlite3?|parquet|onnx|pem|key|proto|tf|gradle"
)
_DOMAINS: Final = "com|org|net|io|dev|ai|app|edu|gov|info|co|uk|de|fr|eu|jp|ru|cn|in|au|ca|nl|ch|at|se|me|tv"
_URL: Final = r"(?P<url>\b(?:https?|ftp|wss?|ssh|git|file)://[^\s<>\"'`、。，」）]+|\bwww\.[^\s<>\"'`、。，」）]+)"
_EMAIL: Final = r"(?P<email>(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,}\b)"
_TECHNICAL: Final = re.compile(
    rf"""{_URL}
    |{_EMAIL}
    |(?P<quoted_code>`[^`\n]{{1,60}}`)
    |(?P<path>
        (?<![\w])[A-Za-z]:\\(?:[^\s"'<>|:*?,;`\\]+\\?)+
        |(?<![\w./:<)])(?:~|\.{{1,2}})/(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*/?
        |(?<![\w./:<)])/(?:[\w.@+{{}}:-]+/)+[\w.@+{{}}:-]*
        |(?<![\w./:<)])/[\w@+-]+\.(?:{_FILE_TYPES})\b
        |(?<![\w./@-])(?:[\w@+.-]+/)+[\w.+-]+\.[a-zA-Z]\w{{0,9}}\b
        |(?<![\w./@-])[\w+-][\w.+-]*\.(?:{_FILE_TYPES})\b(?![.]\w)
        |(?<![\w./-])(?:Dockerfile|Makefile|Jenkinsfile|\.gitignore|\.env(?:\.\w+)?|\.github)\b
    )
    |(?P<address>(?<![\w.])(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?::\d{{1,5}})?(?![\w.]\d)|\blocalhost:\d{{2,5}}\b)
    |(?P<version>
        (?<![\w.])[vV]\d+(?:\.\d+)*(?:[-+.]?(?:rc|alpha|beta|a|b|dev|post|pre|snapshot)[.-]?\d*)?(?![\w])(?!\.\d)
        |(?<![\w.,:/-])\d+(?:\.\d+){{2,3}}(?:[-+]?(?:rc|alpha|beta|a|b|dev|post)[.-]?\d*)?(?![\w/-])(?!\.\d)
        |(?<=\bversion\s)\d+(?:\.\d+)*\b
    )
    |(?P<identifier>
        \b[0-9a-fA-F]{{8}}-(?:[0-9a-fA-F]{{4}}-){{3}}[0-9a-fA-F]{{12}}\b
        |\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{{7,40}}\b
        |(?<![\w&/-])\#\d{{1,7}}\b
        |(?<![\w-])[A-Z][A-Z0-9]{{1,9}}-\d+\b
        |\bCVE-\d{{4}}-\d+\b
    )
    |(?P<handle>(?<![\w.@/`])@[A-Za-z_]\w{{1,38}}\b(?!\.\w))
    |(?P<tag>(?<![\w&/\#])\#[^\W\d_]\w{{2,}}\b)
    |(?P<domain>(?<![\w.@/-])(?:[a-zA-Z0-9-]{{2,}}\.)+(?:{_DOMAINS})\b(?!\.?\w))
    |(?P<code>
        (?<![\w.])[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*\(\)
        |(?<![\w./-])[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w+){{2,}}\b
        |(?<![\w./-])(?:[A-Za-z]\w*\.)?__\w+__\b
        |(?<![\w./-])(?:[A-Za-z]\w+\.)*[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?:\.\w+)*\b(?!/)
        |(?<![\w./-])(?:[a-z]\w+\.)+(?:[a-z]+[A-Z]\w*|\w+(?=\())
        |(?<![\w.-])[a-z]{{2,}}[a-z0-9]*(?:[A-Z][a-z0-9]+)+\b
        |(?<![\w.-])(?!(?:Mc|Mac|De|La|Le|Van|O)[A-Z])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b
        |(?<!\S)--[a-z][\w-]+
    )""",
    re.VERBOSE,
)
_DEFINITION: Final = re.compile(
    r"^[ \t]*(?:export |public |private |static |async |abstract )*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait)\s+(?P<name>[A-Za-z_]\w{2,})",
    re.MULTILINE,
)
_SURE_IN_CODE: Final = re.compile(f"{_URL}|{_EMAIL}")  # other forms are the ordinary words of program text
_WORD: Final = re.compile(r"\S+")
_MARKED: Final = re.compile(r"[/@\\_#:\d]|[\w-]\.\w|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\(\)|--|file\b|\.env|\.git")
_SOFTWARE_NAME: Final = re.compile(
    r"[A-Z][A-Za-z]+\.(?:js|ts)$|(?:[a-z]+|[A-Z][a-z]+)[A-Z]+$|[a-z]?[A-Z][a-z]+[A-Z]{2,}\w*$"
)
_TRAILING: Final = ".,;:!?*_~'\""


class TechnicalName(NamedTuple):
    """A name at `text[start:end]` of the type that its form shows."""

    name: str
    entity_type: str
    start: int
    end: int


def technical_names(text: str, start: int = 0, end: int | None = None) -> Iterator[TechnicalName]:
    """The technical names in `text[start:end]`, running text, in order."""
    for first, last in _candidates(text, start, len(text) if end is None else end):
        for match in _TECHNICAL.finditer(text, first, last):
            kind = match.lastgroup or ""
            if kind == "quoted_code":
                yield _quoted(match)
            elif found := _named(kind, match.group(), match.start()):
                yield found


def _candidates(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The words with a mark that ordinary words lack: all that the costly patterns need to look at."""
    if "`" in text[start:end]:
        yield start, end
        return
    for word in _WORD.finditer(text, start, end):
        if _MARKED.search(text, word.start(), word.end()):
            yield word.span()


def names_in_code(text: str, start: int, end: int) -> Iterator[TechnicalName]:
    """What program text names to the outside: the URLs and addresses in it, the functions and types it defines."""
    for match in _SURE_IN_CODE.finditer(text, start, end):
        if found := _named(match.lastgroup or "", match.group(), match.start()):
            yield found
    for match in _DEFINITION.finditer(text, start, end):
        yield TechnicalName(match["name"], "code", match.start("name"), match.end("name"))


def _quoted(match: re.Match[str]) -> TechnicalName:
    inner = match.group()[1:-1]
    start = match.start() + 1 + len(inner) - len(inner.lstrip())
    content = inner.strip()
    whole = _TECHNICAL.fullmatch(content)
    kind = whole.lastgroup if whole and whole.lastgroup != "quoted_code" else "code"
    return _named(kind or "code", content, start) or TechnicalName(content, "code", start, start + len(content))


def _named(kind: str, surface: str, start: int) -> TechnicalName | None:
    if kind == "url":
        surface = _without_trailing(surface)
    if kind in {"path", "domain"}:
        surface = surface.rstrip(".,:")
    if kind == "address" and any(int(part) > 255 for part in re.findall(r"\d+(?=\.|$|:)", surface.split(":")[0])):
        return None
    end = start + len(surface)
    if kind in {"path", "code"} and _SOFTWARE_NAME.match(surface):
        return TechnicalName(surface, "product", start, end)
    if kind == "code":
        return TechnicalName(surface.removesuffix("()"), "code", start, end)
    return TechnicalName(surface, "url" if kind == "domain" else kind, start, end)


def _without_trailing(url: str) -> str:
    """The URL without the punctuation of the sentence around it; brackets stay where they are opened inside."""
    while url:
        last = url[-1]
        unopened = last in ")]}" and url.count(last) > url.count({")": "(", "]": "[", "}": "{"}[last])
        if not (last in _TRAILING or unopened):
            break
        url = url[:-1]
    return url
