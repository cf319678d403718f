"""Responses of the API about users, teams, tokens and the audit log."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from collector.platform.access import Permission, Role
from collector.platform.answers import Example, Identifier, Omitted, Person, UserId, Warnings
from collector.platform.bucket import PlanName

TeamId = Annotated[str, Identifier("team")]
TokenId = Annotated[str, Identifier("tok")]
TeamName = Annotated[str, Example("Default")]
Email = Annotated[str, Example("admin@example.com")]
UserName = Annotated[str, Example("Admin")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTeam:
    """The team of the caller."""

    id: TeamId
    """Id of the team."""
    name: TeamName
    """Name of the team."""
    plan: PlanName
    """Plan of the team, which sets its limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentUser:
    """The user who owns a token."""

    id: UserId
    """Id of the user."""
    email: Email
    """Mail address of the user."""
    name: UserName
    """Name of the user."""
    role: Role
    """Role of the user."""
    permission: Permission
    """What the token permits."""
    team: OwnTeam
    """Team of the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamLimits:
    """Limits of a plan."""

    monitors: Annotated[int, Example(100_000)]
    """Maximum number of monitors."""
    channels: Annotated[int, Example(1_000)]
    """Maximum number of alert channels."""
    streams: Annotated[int, Example(600)]
    """Maximum number of simultaneous event streams."""
    mails_per_hour: Annotated[int, Example(10_000)]
    """Maximum number of mails per hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamAnswer:
    """A team, which owns all other resources."""

    id: TeamId
    """Id of the team."""
    name: TeamName
    """Name of the team."""
    plan: PlanName
    """Plan of the team, which sets its limits."""
    limits: TeamLimits
    """Limits of the plan."""
    two_factor_required: Annotated[bool, Example(False)]
    """Whether the console asks every member to set up two-factor authentication."""
    created_at: datetime
    """When it was created."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAnswer:
    """A member of the team."""

    id: UserId
    """Id of the user."""
    email: Email
    """Mail address, which the user signs in with."""
    name: UserName
    """Name of the user."""
    role: Role
    """Role: admins manage users and tokens, editors change everything else, viewers read."""
    status: Literal["invited", "active"]
    """Whether the user has accepted the invitation."""
    invited_until: datetime | None
    """When the invitation expires; null for an active user."""
    created_at: datetime
    """When the user was invited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitedUser(UserAnswer):
    """A member of the team, with an invitation link."""

    invitation_url: Annotated[
        str | None, Example("https://tocsin.example.com/invitations/s3cr3t"), Omitted()
    ] = None
    """URL of the invitation, shown only once; present if a new one was made."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAnswer:
    """A token of the API, without its value."""

    id: TokenId
    """Id of the token."""
    name: Annotated[str, Example("deploy")]
    """Name of the token."""
    permission: Permission
    """What the token permits."""
    hint: Annotated[str, Example("tocsin_Ab3d")] | None
    """First characters of its value."""
    user: Person
    """User who owns it."""
    created_at: datetime
    """When it was created."""
    expires_at: datetime | None
    """When it expires; null for never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedToken(TokenAnswer):
    """A token that was created."""

    token: Annotated[str, Example("tocsin_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z")]
    """Value of the token, shown only once."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditActor:
    """The actor of a change."""

    type: Annotated[str, Example("user")]
    """Kind of actor."""
    id: Annotated[str, Example("usr_01kahb5m7q8x9t3v2c4d6e0f1g")] | None
    """Id of the actor; null for an actor without one."""
    name: Annotated[str, Example("Admin")]
    """Name of the actor."""
    token_id: TokenId | None
    """Id of the token that was used; null if none was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResource:
    """The resource that was changed."""

    type: Annotated[str, Example("monitor")]
    """Kind of resource."""
    id: Annotated[str, Example("mon_01kahb5m7q8x9t3v2c4d6e0f1g")] | None
    """Id of the resource; null for a resource without one."""
    name: Annotated[str, Example("shop")] | None
    """Name of the resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogEntry:
    """A change in the audit log."""

    id: Annotated[str, Identifier("aud")]
    """Id of the entry."""
    timestamp: datetime
    """When it was made."""
    actor: AuditActor
    """Who made it."""
    action: Annotated[str, Example("update")]
    """What was done."""
    resource: AuditResource
    """The changed resource."""
    fields: list[Annotated[str, Example("interval")]]
    """Names of the fields that changed."""
    address: Annotated[str, Example("192.0.2.7")] | None
    """IP address of the request."""
    request_id: Annotated[str, Example("6f1c2d")] | None
    """Id of the request."""
