"""The endpoint of a connection, prepared once."""

import ipaddress
from dataclasses import dataclass
from typing import Literal

from shared.client_certificate import ClientCertificate

Version = Literal["4", "6", "any"]


# Not frozen: that would cost half a microsecond a field, and most checks are made anew for each run.
@dataclass(slots=True, unsafe_hash=True)
class Endpoint:
    """*host* is ASCII: a name without a final dot, or an address without brackets (*literal*).

    *client*: certificate for a TLS server that requests one.
    """

    host: str
    port: int
    version: Version
    tls: bool
    verify: bool
    literal: bool
    client: ClientCertificate | None = None

    @classmethod
    def of(
        cls,
        host: str,
        port: int,
        *,
        version: Version = "any",
        tls: bool = False,
        verify: bool = True,
        client: ClientCertificate | None = None,
    ) -> "Endpoint":
        """Create an endpoint. Raises ValueError for an invalid host."""
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        try:
            ready, literal = str(ipaddress.ip_address(bare)), True
        except ValueError:
            ready, literal = ascii_host(bare).removesuffix("."), False
        return cls(ready, port, version, tls, verify, literal, client)


def ascii_host(host: str) -> str:
    """A name in the form of DNS and HTTP: lower case, IDNA. Raises ValueError if it has no such form."""
    return host.lower() if host.isascii() else host.encode("idna").decode()


def show(address: str, port: int) -> str:
    """``192.0.2.1:443``, ``[2001:db8::1]:443``."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
