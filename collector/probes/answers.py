"""Responses of the API about probes and join tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from collector.platform.answers import Example, Identifier, Warnings

Location = Annotated[str, Example("eu")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeLoad:
    """What a probe does."""

    monitors: Annotated[int, Example(12)]
    """Number of monitors that it is to check."""
    running: Annotated[int, Example(1)]
    """Number of checks that run now."""
    skipped: Annotated[int, Example(0)]
    """Number of checks that it skipped, being overloaded."""
    late_ms: Annotated[float, Example(0.4)]
    """Longest delay of a check behind its schedule, in milliseconds."""
    spool_batches: Annotated[int, Example(0)]
    """Number of batches of results that wait to be sent."""
    spool_bytes: Annotated[int, Example(0)]
    """Size of these in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCertificate:
    """The client certificate of a probe."""

    serial: Annotated[str, Example("4f1d9c")]
    """Serial number in hexadecimal digits."""
    not_after: datetime | None
    """When it ends."""


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
    status: Literal["online", "offline", "draining", "revoked"]
    """Whether it is connected, hands its monitors to others or is refused."""
    version: Annotated[str, Example("0.2.0")] | None
    """Version of the program."""
    last_seen_at: datetime | None
    """When it was last heard of."""
    blind_since: datetime | None
    """Since when it reaches nothing at all; null where it does."""
    clock_skew_ms: Annotated[float, Example(3)] | None
    """Milliseconds that its clock is ahead."""
    load: ProbeLoad
    """What it does."""
    certificate: ProbeCertificate | None
    """Its present client certificate."""
    shared: bool
    """Whether it serves all teams."""
    stands_in: Annotated[bool, Example(False)]
    """Whether it checks for locations that have no other probe."""
    draining_since: datetime | None
    """Since when it hands its monitors to others; null where it does not."""
    revoked_at: datetime | None
    """When its certificate was revoked; null where it was not."""
    created_at: datetime
    """When it joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinTokenAnswer:
    """A token that probes join with, without its value."""

    id: Annotated[str, Identifier("tok")]
    """Id of the token."""
    locations: list[Location]
    """Locations that probes may join."""
    uses: Annotated[int, Example(1)]
    """Number of probes that may join with it."""
    used: Annotated[int, Example(0)]
    """Number of probes that have joined with it."""
    created_at: datetime
    """When it was created."""
    expires_at: datetime
    """When it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedJoinToken(JoinTokenAnswer):
    """A token that was created."""

    token: Annotated[str, Example("tocsin-join_Ab3dEf6hIj9kLm2n")]
    """Value of the token, shown only once."""
    warnings: Warnings = None
    """What was ignored of the request."""
