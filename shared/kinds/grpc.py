"""Does a gRPC server say that it serves (grpc.health.v1)?"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen

from shared.kinds.fields import HostName, Port


@dataclass(frozen=True, slots=True, kw_only=True)
class Grpc:
    """*service* is asked for by its full name; empty is the server as a whole."""

    host: HostName
    """Host name or IP address that is checked."""
    port: Port
    """TCP port of the server."""
    service: Annotated[str, MaxLen(1024)] = ""
    """Full name of the service that the health check asks for; empty: the server as a whole."""
    tls: bool = False
    """Whether the connection is encrypted with TLS from its first byte."""
