"""Does a gRPC server say that it serves (grpc.health.v1)?"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen

from shared.kinds.fields import HostName, Port


@dataclass(frozen=True, slots=True, kw_only=True)
class Grpc:
    """*service*: full name of the service to check; empty: the server as a whole."""

    host: HostName
    """Host name or IP address that is checked."""
    port: Port
    """TCP port of the server."""
    service: Annotated[str, MaxLen(1024)] = ""
    """Full name of the service to check; empty: the server as a whole."""
    tls: bool = False
    """Whether the connection is encrypted with TLS from its first byte."""
