"""Short- and long-term memory as encrypted Nostr events: local first, carried to relays in the background.

Only the text is encrypted. Who reads a relay sees from the author, the `d` and the `app` tag that an agent's memory
exists, how large it is by NIP-44's padded sizes, and when it was saved.
"""

from uniko_mcp.notes.models import Delivery, Note, NoteKind, NotesStatus, RelayStatus, SaveReport, Version
from uniko_mcp.notes.redaction import RedactingFormatter, redact
from uniko_mcp.notes.section import fit_section, section
from uniko_mcp.notes.service import Notes
from uniko_mcp.notes.settings import NotesSettings, Patience

__all__ = [
    "Delivery",
    "Note",
    "NoteKind",
    "Notes",
    "NotesSettings",
    "NotesStatus",
    "Patience",
    "RedactingFormatter",
    "RelayStatus",
    "SaveReport",
    "Version",
    "fit_section",
    "redact",
    "section",
]
