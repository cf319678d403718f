"""Does a gRPC server say that it serves (grpc.health.v1)?"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen

from shared.kinds.fields import HostName, Port


@dataclass(frozen=True, slots=True, kw_only=True)
class Grpc:
    """*service* is asked for by its full name; empty is the server as a whole."""

    host: HostName
    port: Port
    service: Annotated[str, MaxLen(1024)] = ""
    tls: bool = False
