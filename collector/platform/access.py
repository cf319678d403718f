"""Permissions, roles and actors, and whether a token is still valid."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Literal
from uuid import UUID

MIN_TOKEN = 16
MAX_TOKEN = 512


class Permission(Enum):
    """A token's permission; each one includes those before it."""

    READ_ONLY = "read-only"
    READ_WRITE = "read-write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts in a team, as shown in timelines and the audit log.

    *id* is public (``usr_...``); *token_id*, *address* and *request_id* belong to the request.
    """

    team_id: int
    id: str | None
    name: str
    kind: Literal["user", "operator", "system"] = "user"
    token_id: UUID | None = None
    address: str | None = None
    request_id: str | None = None

    @property
    def shown(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name}


# The actor's actions belong to no single team.
DEPLOYMENT = 0


def system(team_id: int) -> Actor:
    """The service itself as an actor in a team."""
    return Actor(team_id, None, "System", "system")


def operator(team_id: int = DEPLOYMENT) -> Actor:
    """The operator of the deployment, acting by a command on the host."""
    return Actor(team_id, None, "Operator", "operator")


_RANK = {permission: rank for rank, permission in enumerate(Permission)}
Role = Literal["admin", "editor", "viewer"]
# The highest permission of a token, by its owner's role.
ROLES: Mapping[str, Permission] = {
    "admin": Permission.ADMIN,
    "editor": Permission.READ_WRITE,
    "viewer": Permission.READ_ONLY,
}
_READS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


def permits(held: Permission, needed: Permission) -> bool:
    """Whether a token with *held* may do what requires *needed*."""
    return _RANK[held] >= _RANK[needed]


def beyond(most: Permission) -> list[Permission]:
    """The permissions above *most*."""
    return [permission for permission in Permission if not permits(most, permission)]


def needed_for(method: str) -> Permission:
    """The default permission that an HTTP method requires."""
    return Permission.READ_ONLY if method in _READS else Permission.READ_WRITE


def counts(expires_at: datetime | None, revoked_at: datetime | None, now: datetime) -> bool:
    """Whether a token is valid: neither revoked nor expired."""
    return revoked_at is None and (expires_at is None or now < expires_at)
