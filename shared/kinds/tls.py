"""Is a certificate good, and for how many days still?"""

import ssl
import struct
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from annotated_types import Interval, MaxLen, MinLen, Predicate

from shared.kinds.fields import HostName, NumericText, Says, is_place

StartTls = Literal["smtp", "imap", "pop3", "postgres"]
MinVersion = Literal["1.2", "1.3"]

_EXPIRY: Final = struct.Struct("!?q")


def is_pem(text: str) -> bool:
    """Does it hold certificates, all of which OpenSSL can read?"""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Expiry:
    """What the collector learns of each certificate: *ends* in seconds since 1970.

    *only_near*: its coming end is all that is wrong.
    """

    only_near: bool
    ends: int

    def pack(self) -> bytes:
        """As the state of a result."""
        return _EXPIRY.pack(self.only_near, self.ends)

    @classmethod
    def unpack(cls, packed: bytes) -> "Expiry":
        """Raises ValueError for bytes that are no such thing."""
        try:
            return cls(*_EXPIRY.unpack(packed))
        except struct.error as error:
            raise ValueError(str(error)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """*domain* is a host, ``host:port`` or a URL; fewer than *expiry_days* left is a failure.

    *server_name* is asked for, and verified, in place of the host; *trusted_ca* (PEM) is trusted in place of
    the system's authorities. With *revocation* its authority is asked, by OCSP or for its list, whether it
    was revoked; one that cannot be asked says nothing against it.
    """

    domain: Annotated[
        str,
        MinLen(1),
        MaxLen(8192),
        Predicate(is_place),
        Says("must be a host, a host with a port, or a URL"),
    ]
    """Host, `host:port` or URL whose certificate is checked; port 443 if none is given."""
    expiry_days: Annotated[int, Interval(ge=0, le=3650), NumericText()] = 14
    """Days before the certificate's end from which the check fails."""
    server_name: HostName | None = None
    """Name that is sent as SNI and verified in place of the host."""
    min_version: MinVersion | None = None
    """Lowest TLS version that is accepted."""
    start_tls: StartTls | None = None
    """Protocol that upgrades the connection before the handshake."""
    trusted_ca: (
        Annotated[str, MinLen(1), MaxLen(262_144), Predicate(is_pem), Says("must be certificates in PEM")]
        | None
    ) = None
    """Certificates in PEM that are trusted in place of the system's authorities."""
    revocation: bool = False
    """Whether the certificate's authority is asked, by OCSP or CRL, if it was revoked; no answer is no
    failure.
    """
