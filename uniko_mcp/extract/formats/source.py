"""Program text: a section for each definition at the outermost level."""

from __future__ import annotations

import re
from typing import Final

from uniko_mcp.extract.formats.readable import Readable, one_section
from uniko_mcp.extract.sections import Section

_DEFINITION: Final = re.compile(
    r"^(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|static|final|abstract|async|unsafe|extern|declare)\s+)*"
    r"(?:def|class|function\*?|func(?:\s*\([^)]*\))?|fn|struct|impl(?:<[^>]*>)?|interface|enum|trait|module|namespace|object)"
    r"\s+(?P<name>[A-Za-z_$](?:::|[\w.$])*)",
    re.MULTILINE,
)
_LEADING: Final = re.compile(r"(?:^[ \t]*(?:@|#\[|//|#|/?\*).*\n)+\Z", re.MULTILINE)


def read_source(content: str) -> Readable:
    """The text as it is; decorators and comments right above a definition belong to its section."""
    starts = [(_with_leading(content, match.start()), match["name"]) for match in _DEFINITION.finditer(content)]
    if not starts:
        return one_section(content)
    starts = [(0, ""), *starts]
    ends = [start for start, _ in starts[1:]] + [len(content)]
    spans = zip(starts, ends, strict=True)
    return Readable(
        content, tuple(Section(name, start, end) for (start, name), end in spans if content[start:end].strip())
    )


def _with_leading(content: str, start: int) -> int:
    window = max(0, start - 2_000)
    leading = _LEADING.search(content, window, start)
    return leading.start() if leading else start
