"""The error tree: every failure a user can meet has a stable code, names what offended, and says what to do next."""

from __future__ import annotations

from typing import ClassVar


class UnikoError(Exception):
    """Base of all errors this package raises on purpose.

    `str(error)` is what a client shows: `code: message. What to do next`.
    Messages name the offending field and value, and never carry a key, a note or the text of a memory.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message.rstrip(". ")
        self.next_step = next_step

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        return f"{text}. {self.next_step}" if self.next_step else text


class InternalError(UnikoError):
    """Something failed that has no name here: a fault of this program."""

    code = "internal_error"


class InvalidArgumentsError(UnikoError):
    """An argument is unknown, missing, of the wrong type or out of range."""

    code = "invalid_arguments"
    exit_code = 2


class UnknownOperationError(UnikoError):
    """No operation has this name."""

    code = "unknown_operation"
    exit_code = 2


class ConfigError(UnikoError):
    """The configuration cannot be used as it is."""

    code = "invalid_configuration"
    exit_code = 78  # EX_CONFIG of sysexits.h


class NotFoundError(UnikoError):
    """An id that the call needs does not exist, or is not visible to the caller."""

    code = "not_found"


class IdConflictError(UnikoError):
    """An id is sent again with other content than it was first recorded with."""

    code = "id_conflict"


class LimitExceededError(UnikoError):
    """A text is larger than its documented limit."""

    code = "limit_exceeded"


class ReadOnlyError(UnikoError):
    """A write was asked of a server that was started read-only."""

    code = "read_only"


class StoreLockedError(UnikoError):
    """Another process holds the data directory."""

    code = "store_locked"
    exit_code = 75  # EX_TEMPFAIL of sysexits.h


class StoreError(UnikoError):
    """The data directory cannot be read or written as needed."""

    code = "store_failed"
    exit_code = 74  # EX_IOERR of sysexits.h


class StoreClosedError(StoreError):
    """The store was closed before this call could run; nothing of it was written."""

    code = "store_closed"


class IdentityError(UnikoError):
    """The Nostr identity cannot be read, is damaged, or does not fit."""

    code = "identity_failed"


class ModelUnavailableError(UnikoError):
    """An embedding or language model that was asked for by name cannot be had."""

    code = "model_unavailable"


class LanguageModelError(UnikoError):
    """The configured language model did not give a usable answer."""

    code = "llm_failed"


class UnusableAnswerError(LanguageModelError):
    """The language model was there, and made nothing usable of what it was given."""


class UnansweredPromptError(LanguageModelError):
    """The language model failed on a prompt: perhaps for what is in it, perhaps on all prompts."""


class RefusedPromptError(UnansweredPromptError):
    """The language model takes no such request. Where it has taken others, it is for what is in the prompt."""


class MissingExtraError(UnikoError):
    """A feature needs an optional package that is not installed."""

    code = "missing_extra"


class DocumentError(UnikoError):
    """A document is not what its type says, or holds no text that can be read."""

    code = "unreadable_document"
