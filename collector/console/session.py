"""Rules of a console session: lifetime, permission, CSRF token."""

import hashlib
import hmac
from datetime import datetime, timedelta
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from collector.platform.access import ROLES, Permission, permits

LIFE: Final = timedelta(days=14)
IDLE: Final = timedelta(hours=24)
# How often the use of a session is recorded.
NOTED_EVERY: Final = timedelta(minutes=1)
# How long after the sign-in a session may change how its user signs in.
FRESH: Final = timedelta(minutes=15)
NONCE_BYTES: Final = 16
# How long an account recognises a browser that signed in to it.
KNOWN_FOR: Final = timedelta(days=180)
_LONGEST_NEXT: Final = 2048


def alive(seen_at: datetime, ends_at: datetime, now: datetime) -> bool:
    """Whether a session is neither too old nor idle for too long."""
    return now < ends_at and now < seen_at + IDLE


def is_fresh(ends_at: datetime, now: datetime) -> bool:
    """Whether the session that ends then began a short while ago."""
    return now < ends_at - LIFE + FRESH


def permission(role: str, of_token: Permission | None) -> Permission:
    """Return a session's permission: its role's, limited by the token that opened it, if any."""
    most = ROLES[role]
    return most if of_token is None or permits(of_token, most) else of_token


def form_token(cookie: str, nonce: bytes) -> str:
    """Return ``nonce.signature``: different on each page, so that its compressed size reveals nothing."""
    return f"{nonce.hex()}.{_sign(cookie, nonce)}"


def fits(cookie: str, shown: str) -> bool:
    """Whether *shown* was made for the session of this cookie."""
    nonce, _, signature = shown.partition(".")
    try:
        wanted = _sign(cookie, bytes.fromhex(nonce))
    except ValueError:
        return False
    return signature.isascii() and hmac.compare_digest(signature, wanted)


def browser_mark(kept: str, user_id: UUID, nonce: bytes) -> str:
    """Return ``nonce.signature``, which proves until the password changes that a browser has signed in.

    *kept*: the stored password hash, which is secret.
    """
    return f"{nonce.hex()}.{_sign_browser(kept, user_id, nonce)}"


def marked(kept: str, user_id: UUID, shown: str) -> bool:
    """Whether the browser with this mark has signed in to the account."""
    nonce, _, signature = shown.partition(".")
    try:
        wanted = _sign_browser(kept, user_id, bytes.fromhex(nonce))
    except ValueError:
        return False
    return signature.isascii() and hmac.compare_digest(signature, wanted)


def same_origin(origin: str | None, host: str, public_url: str) -> bool:
    """Whether a browser's *origin* is this service: the requested host, or the public address."""
    if not origin or origin == "null":
        return False
    try:
        parts, public = urlsplit(origin), urlsplit(public_url)
    except ValueError:
        return False
    if parts.scheme not in {"http", "https"}:
        return False
    return parts.netloc.lower() == host.lower() or (
        (parts.scheme, parts.netloc.lower()) == (public.scheme, public.netloc.lower())
    )


def network(address: str) -> str:
    """Return what counts as one client: an IPv6 address by its /64, all of which one client can use."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(IPv6Network((found.packed[:8] + bytes(8), 64)))
    return str(getattr(found, "ipv4_mapped", None) or found)


def safe_next(asked: str | None) -> str:
    """Return where to go after signing in: a path of this service; for anything else the first page."""
    if not asked or len(asked) > _LONGEST_NEXT or not asked.startswith("/"):
        return "/"
    bad = asked.startswith("//") or "\\" in asked or not asked.isprintable() or " " in asked
    return "/" if bad else asked


def _sign_browser(kept: str, user_id: UUID, nonce: bytes) -> str:
    return hmac.new(kept.encode(), b"browser" + user_id.bytes + nonce, hashlib.sha256).hexdigest()


def _sign(cookie: str, nonce: bytes) -> str:
    return hmac.new(cookie.encode(), b"form" + nonce, hashlib.sha256).hexdigest()
