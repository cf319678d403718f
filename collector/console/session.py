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
# So often is written down that a session is in use.
NOTED_EVERY: Final = timedelta(minutes=1)
NONCE_BYTES: Final = 16
# For so long a browser is known to an account to which it signed in.
KNOWN_FOR: Final = timedelta(days=180)
_LONGEST_NEXT: Final = 2048


def alive(seen_at: datetime, ends_at: datetime, now: datetime) -> bool:
    """Is a session neither too old nor left alone for too long?"""
    return now < ends_at and now < seen_at + IDLE


def permission(role: str, of_token: Permission | None) -> Permission:
    """What a session permits: what the role does, and no more than the token that opened it, if one did."""
    most = ROLES[role]
    return most if of_token is None or permits(of_token, most) else of_token


def form_token(cookie: str, nonce: bytes) -> str:
    """``nonce.signature``: another one on each page, so that its compressed size tells nothing."""
    return f"{nonce.hex()}.{_sign(cookie, nonce)}"


def fits(cookie: str, shown: str) -> bool:
    """Was *shown* made for the session of this cookie?"""
    nonce, _, signature = shown.partition(".")
    try:
        wanted = _sign(cookie, bytes.fromhex(nonce))
    except ValueError:
        return False
    return signature.isascii() and hmac.compare_digest(signature, wanted)


def browser_mark(kept: str, user_id: UUID, nonce: bytes) -> str:
    """``nonce.signature``: shows that a browser signed in to an account, until its password changes.

    *kept* is the stored password, which no one outside knows.
    """
    return f"{nonce.hex()}.{_sign_browser(kept, user_id, nonce)}"


def marked(kept: str, user_id: UUID, shown: str) -> bool:
    """Did the browser that shows this mark sign in to the account?"""
    nonce, _, signature = shown.partition(".")
    try:
        wanted = _sign_browser(kept, user_id, bytes.fromhex(nonce))
    except ValueError:
        return False
    return signature.isascii() and hmac.compare_digest(signature, wanted)


def same_origin(origin: str | None, host: str, public_url: str) -> bool:
    """Does a browser's *origin* name this service: the host that it asked, or the public address?"""
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
    """What counts as one client: who has one IPv6 address has as many of its /64 as he likes."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(IPv6Network((found.packed[:8] + bytes(8), 64)))
    return str(getattr(found, "ipv4_mapped", None) or found)


def safe_next(asked: str | None) -> str:
    """Where to go after signing in: a path of this service; anything else is the first page."""
    if not asked or len(asked) > _LONGEST_NEXT or not asked.startswith("/"):
        return "/"
    bad = asked.startswith("//") or "\\" in asked or not asked.isprintable() or " " in asked
    return "/" if bad else asked


def _sign_browser(kept: str, user_id: UUID, nonce: bytes) -> str:
    return hmac.new(kept.encode(), b"browser" + user_id.bytes + nonce, hashlib.sha256).hexdigest()


def _sign(cookie: str, nonce: bytes) -> str:
    return hmac.new(cookie.encode(), b"form" + nonce, hashlib.sha256).hexdigest()
