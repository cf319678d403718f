"""Is a certificate good, and for how many days still?"""

import ssl
import struct
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from annotated_types import Interval, MaxLen, MinLen, Predicate

from shared.kinds.fields import ErrorText, HostName, NumericText, is_place

StartTls = Literal["smtp", "imap", "pop3", "postgres"]
MinVersion = Literal["1.2", "1.3"]

_EXPIRY: Final = struct.Struct("!?q")


def is_pem(text: str) -> bool:
    """Whether it contains certificates, all of them readable by OpenSSL."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Expiry:
    """What the collector stores of each certificate: *ends* in seconds since 1970.

    *only_near*: its approaching expiry is the only error.
    """

    only_near: bool
    ends: int

    def pack(self) -> bytes:
        """Encode as the state of a result."""
        return _EXPIRY.pack(self.only_near, self.ends)

    @classmethod
    def unpack(cls, packed: bytes) -> "Expiry":
        """Decode. Raises ValueError for invalid bytes."""
        try:
            return cls(*_EXPIRY.unpack(packed))
        except struct.error as error:
            raise ValueError(str(error)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """*domain* is a host, ``host:port`` or a URL; with fewer than *expiry_days* left, the check fails.

    *server_name* is sent and verified instead of the host; *trusted_ca* (PEM) replaces the system's
    authorities. With *revocation*, the certificate's status is checked by OCSP or CRL; if neither is
    reachable, that is no failure.
    """

    domain: Annotated[
        str,
        MinLen(1),
        MaxLen(8192),
        Predicate(is_place),
        ErrorText("must be a host, a host with a port, or a URL"),
    ]
    """Host, `host:port` or URL whose certificate is checked; port 443 if none is given."""
    expiry_days: Annotated[int, Interval(ge=0, le=3650), NumericText()] = 14
    """Number of days before expiry from which the check fails."""
    server_name: HostName | None = None
    """Name that is sent as SNI and verified instead of the host."""
    min_version: MinVersion | None = None
    """Lowest TLS version that is accepted."""
    start_tls: StartTls | None = None
    """Protocol that upgrades the connection before the handshake."""
    trusted_ca: (
        Annotated[
            str, MinLen(1), MaxLen(262_144), Predicate(is_pem), ErrorText("must be certificates in PEM")
        ]
        | None
    ) = None
    """Trusted certificates in PEM, used instead of the system's authorities."""
    revocation: bool = False
    """Whether the certificate's revocation is checked by OCSP or CRL; no response is no failure."""
