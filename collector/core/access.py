"""Who may do what: permissions, roles, and whether a token still counts."""

from datetime import datetime
from enum import Enum

MIN_TOKEN = 16
MAX_TOKEN = 512


class Permission(Enum):
    """What a token grants; each later one includes those before it."""

    READ_ONLY = "read-only"
    READ_WRITE = "read-write"
    ADMIN = "admin"


_RANK = {permission: rank for rank, permission in enumerate(Permission)}
_READS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


def permits(held: Permission, needed: Permission) -> bool:
    """Does a token with *held* reach what asks for *needed*?"""
    return _RANK[held] >= _RANK[needed]


def needed_for(method: str) -> Permission:
    """What a method asks for where no route says more."""
    return Permission.READ_ONLY if method in _READS else Permission.READ_WRITE


def counts(expires_at: datetime | None, revoked_at: datetime | None, now: datetime) -> bool:
    """Is a token neither revoked nor past its end?"""
    return revoked_at is None and (expires_at is None or now < expires_at)
