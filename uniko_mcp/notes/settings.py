"""What the notes need to know from the configuration: relays, the app tag and where the key comes from."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from uniko_mcp.config import NostrSettings
from uniko_mcp.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Patience:
    """How long, in seconds, others are waited for, and how the time between tries of a relay grows."""

    connect: float = 5.0
    answer: float = 10.0
    """For a relay to say what it has. One that does not is never written to: it may hold what was not seen here."""
    acknowledge: float = 10.0
    bunker: float = 20.0
    """For a bunker to answer: a person may have to confirm on another device."""
    first_retry: float = 1.0
    longest_retry: float = 300.0

    def before_retry(self, failures: int) -> float:
        """How long to wait after this many failures in a row; it doubles with each."""
        return min(self.longest_retry, self.first_retry * 2 ** min(failures - 1, 32)) if failures else 0.0


@dataclass(frozen=True, slots=True)
class NotesSettings:
    """Where notes go and who signs them. Without relays nothing here ever touches the network.

    The key is taken from the first source that has one: `bunker` (a NIP-46 `bunker://` URI), the OS keyring when
    `keyring` is set, the key file of the data directory, then `nsec`.

    Raises:
        ConfigError: A relay is not a ws:// or wss:// URL, or the app tag is blank.
    """

    relays: tuple[str, ...] = ()
    app_tag: str = "didactyl"
    bunker: SecretStr | None = None
    keyring: bool = False
    nsec: SecretStr | None = None
    patience: Patience = Patience()

    @classmethod
    def of(cls, configured: NostrSettings) -> NotesSettings:
        """As the configuration says.

        Raises:
            ConfigError: As for the class.
        """
        return cls(
            relays=configured.relays,
            app_tag=configured.app_tag,
            bunker=configured.bunker,
            keyring=configured.keyring,
            nsec=configured.nsec,
        )

    def __post_init__(self) -> None:
        if not self.app_tag.strip():
            raise ConfigError("nostr.app_tag is blank", next_step="Leave it out for the default, didactyl")
        normal = tuple(dict.fromkeys(_normalized(url) for url in self.relays))
        object.__setattr__(self, "relays", normal)


def _normalized(url: str) -> str:
    parts = _address(url)
    if parts is None:
        raise ConfigError(
            f"nostr.relays: {url!r} is not a relay address",
            next_step="Use ws:// or wss://, such as wss://relay.example",
        )
    return parts._replace(netloc=parts.netloc.lower(), path=parts.path.rstrip("/")).geturl()


def _address(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in {"ws", "wss"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return None
    return parts if usable else None
