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
    """What a token grants; each later one includes those before it."""

    READ_ONLY = "read-only"
    READ_WRITE = "read-write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something in a team, as timelines and the audit log name them.

    *id* is public (``usr_...``); *token_id*, *address* and *request_id* are of the request that asks for it.
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


# Whose deeds concern no one team.
DEPLOYMENT = 0


def system(team_id: int) -> Actor:
    """The service itself, in a team."""
    return Actor(team_id, None, "System", "system")


def operator(team_id: int = DEPLOYMENT) -> Actor:
    """Who runs the deployment, by a command beside it."""
    return Actor(team_id, None, "Operator", "operator")


_RANK = {permission: rank for rank, permission in enumerate(Permission)}
Role = Literal["admin", "editor", "viewer"]
# The most that a token of somebody with the role may grant.
ROLES: Mapping[str, Permission] = {
    "admin": Permission.ADMIN,
    "editor": Permission.READ_WRITE,
    "viewer": Permission.READ_ONLY,
}
_READS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


def permits(held: Permission, needed: Permission) -> bool:
    """Does a token with *held* reach what asks for *needed*?"""
    return _RANK[held] >= _RANK[needed]


def beyond(most: Permission) -> list[Permission]:
    """The permissions that grant more than *most*."""
    return [permission for permission in Permission if not permits(most, permission)]


def needed_for(method: str) -> Permission:
    """What a method asks for where no route says more."""
    return Permission.READ_ONLY if method in _READS else Permission.READ_WRITE


def counts(expires_at: datetime | None, revoked_at: datetime | None, now: datetime) -> bool:
    """Is a token neither revoked nor past its end?"""
    return revoked_at is None and (expires_at is None or now < expires_at)
