"""Does a WebSocket open, and answer?"""

from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlsplit

from annotated_types import MaxLen, MinLen, Predicate

from shared.kinds.fields import ErrorText, HidesSecrets, Secret, is_host
from shared.kinds.http import Headers


def is_websocket(text: str) -> bool:
    """Whether it is a ws(s) URL with a resolvable host, without credentials and blanks."""
    if any(ord(letter) <= ord(" ") or ord(letter) == 127 for letter in text) or not text.isascii():
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme in {"ws", "wss"} and is_host(parts.hostname or "") and port != 0 and not parts.username
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSocket:
    """*send* is sent after opening; with *expect*, the next message must contain that text."""

    url: Annotated[
        str,
        MinLen(1),
        MaxLen(8192),
        Predicate(is_websocket),
        ErrorText("must be a ws or wss URL, in ASCII and without a login"),
        HidesSecrets(),
    ]
    """URL with the scheme `ws` or `wss`."""
    headers: Headers = field(default_factory=dict)
    """Headers that are sent, by name. Secret: their values are masked for read-only tokens."""
    verify_tls: bool = True
    """Whether the server's certificate must be valid for its name."""
    send: Annotated[str | None, MaxLen(65_536), Secret()] = None
    """Message that is sent once the connection is open. A secret: masked for read-only tokens."""
    expect: Annotated[str | None, MinLen(1), MaxLen(65_536)] = None
    """Text that the next message must contain."""
