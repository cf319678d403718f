"""Do metrics of these resources keep coming by OTLP, and are their values in bounds?"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import MaxLen, Predicate

from shared.kinds.fields import ErrorText, Secret
from shared.kinds.prometheus import Conditions, Filters, StaleAfter, is_token
from shared.tokens import new_token


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTelemetry:
    """*resource_attributes*: required ones of a resource; *stale_after* in seconds, see `Prometheus`."""

    otlp_protocol: Literal["grpc", "http/protobuf", "http/json", "http"] = "grpc"
    """Protocol that the sender uses; the endpoint that is shown follows it."""
    resource_attributes: Filters = field(default_factory=dict)
    """Attributes that a resource must carry to be taken: by name a value, or a pattern after `=~`, `!~`,
    `!=`.
    """
    stale_after: StaleAfter | None = None
    """Seconds without samples after which the monitor fails; without it three intervals."""
    conditions: Conditions = field(default_factory=list)
    """Conditions that fail the monitor, each on the values of a metric."""
    auth_token: Annotated[
        str,
        MaxLen(256),
        Predicate(is_token),
        ErrorText("must be 16 to 256 printable ASCII characters without spaces"),
        Secret(),
    ] = field(default_factory=new_token)
    """Token that senders present; made by the service if none is given. A secret: masked for read-only
    tokens.
    """
