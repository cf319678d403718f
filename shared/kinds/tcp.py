"""Is a TCP port open, and does it answer as it should?"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval, MaxLen, Predicate

from shared.kinds.fields import ErrorText, HostName, NumericText, Secret
from shared.patterns import is_wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Tcp:
    """*port* 1 to 65535. *send* alone expects any response, *expect* one with that text or ``=~`` pattern."""

    host: HostName
    """Host name or IP address that is checked."""
    port: Annotated[int, Interval(ge=1, le=65535), NumericText()]
    """TCP port of the server."""
    send: Annotated[str | None, MaxLen(65_536), Secret()] = None
    """Text that is sent once the connection is open; alone it asks for any answer. A secret: masked for
    read-only tokens.
    """
    expect: Annotated[
        str | None,
        MaxLen(4096),
        Predicate(lambda text: text is None or is_wanted(text)),
        ErrorText("must be text, or =~ and a regular expression that RE2 takes"),
    ] = None
    """Text that the response must contain, or a pattern (RE2) after `=~`."""
    tls: bool = False
    """Whether the connection is encrypted with TLS from its first byte."""
    verify_tls: bool = True
    """Whether the server's certificate must be valid for its name."""
