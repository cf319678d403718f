"""Responses of the API about probes and join tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from collector.platform.answers import Example, Identifier, Warnings
from collector.probes.core.presence import ProbeStatus

Location = Annotated[str, Example("eu")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeLoad:
    """The current load of a probe."""

    monitors: Annotated[int, Example(12)]
    """Number of monitors assigned to it."""
    running: Annotated[int, Example(1)]
    """Number of checks running now."""
    skipped: Annotated[int, Example(0)]
    """Number of checks skipped because of overload."""
    late_ms: Annotated[float, Example(0.4)]
    """Longest delay of a check behind its schedule, in milliseconds."""
    spool_batches: Annotated[int, Example(0)]
    """Number of result batches waiting to be sent."""
    spool_bytes: Annotated[int, Example(0)]
    """Size of these batches in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCertificate:
    """The client certificate of a probe."""

    serial: Annotated[str, Example("4f1d9c")]
    """Serial number in hexadecimal digits."""
    not_after: datetime | None
    """Expiry time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeAnswer:
    """A program that runs checks."""

    id: Annotated[str, Identifier("prb")]
    """Id of the probe."""
    name: Annotated[str, Example("eu-1")]
    """Name of the probe."""
    location: Location | None
    """First of its locations."""
    locations: list[Location]
    """Locations that it checks from."""
    status: ProbeStatus
    """Whether it is connected, is handing its monitors to others or is rejected."""
    version: Annotated[str, Example("0.2.0")] | None
    """Version of the program."""
    last_seen_at: datetime | None
    """Time of its last message."""
    blind_since: datetime | None
    """Time since which it reaches nothing at all; null while it reaches something."""
    clock_skew_ms: Annotated[float, Example(3)] | None
    """Milliseconds by which its clock is ahead."""
    load: ProbeLoad
    """Current load."""
    certificate: ProbeCertificate | None
    """Current client certificate."""
    shared: bool
    """Whether it serves all teams."""
    stands_in: Annotated[bool, Example(False)]
    """Whether it checks for locations that have no other probe."""
    draining_since: datetime | None
    """Time since which it hands its monitors to others; null if it does not."""
    revoked_at: datetime | None
    """Time at which its certificate was revoked; null if it was not."""
    created_at: datetime
    """Time of enrolment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinTokenAnswer:
    """A join token for probes, without its value."""

    id: Annotated[str, Identifier("tok")]
    """Id of the token."""
    locations: list[Location]
    """Locations for which probes may join."""
    uses: Annotated[int, Example(1)]
    """Number of probes that may join with it."""
    used: Annotated[int, Example(0)]
    """Number of probes that joined with it."""
    created_at: datetime
    """When it was created."""
    expires_at: datetime
    """Expiry time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedJoinToken(JoinTokenAnswer):
    """A newly created join token."""

    token: Annotated[str, Example("tocsin-join_Ab3dEf6hIj9kLm2n")]
    """Value of the token, shown only once."""
    warnings: Warnings = None
    """Ignored parts of the request."""
