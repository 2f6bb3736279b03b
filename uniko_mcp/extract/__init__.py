"""Text to entities, dates, claims, chunks, documents and summaries: pure functions without input or output."""

from uniko_mcp.extract.chunks import Chunk, chunk
from uniko_mcp.extract.claims import Claim
from uniko_mcp.extract.dates import DateMention, find_dates
from uniko_mcp.extract.documents import Document, guess_mime, read_document
from uniko_mcp.extract.entities import EntityMention
from uniko_mcp.extract.extraction import Extraction, extract
from uniko_mcp.extract.ner import ExtractorStatus, extractor_status, spacy_name_finder
from uniko_mcp.extract.sections import Section
from uniko_mcp.extract.summary import Summary, Turn, summarize

__all__ = [
    "Chunk",
    "Claim",
    "DateMention",
    "Document",
    "EntityMention",
    "Extraction",
    "ExtractorStatus",
    "Section",
    "Summary",
    "Turn",
    "chunk",
    "extract",
    "extractor_status",
    "find_dates",
    "guess_mime",
    "read_document",
    "spacy_name_finder",
    "summarize",
]
