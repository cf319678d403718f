"""Codes of authenticator apps: time-based one-time passwords (RFC 6238, SHA-1, 6 digits, 30 s)."""

import base64
import hmac
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlencode

SECRET_BYTES: Final = 20
STEP_S: Final = 30
DIGITS: Final = 6
# A code of the step before or after counts, too: clocks differ, and typing takes a while.
_DRIFT: Final = 1


def code(secret: bytes, step: int) -> str:
    """Return the code of *step*, the number of time steps since 1970."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    start = digest[-1] & 15
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}}"


def accepted_step(secret: bytes, typed: str, now: datetime, last_step: int) -> int | None:
    """Return the step whose code was typed; None if no step near *now* and after *last_step* has it."""
    text = typed.replace(" ", "")
    if not text.isascii():
        return None
    present = int(now.timestamp()) // STEP_S
    steps = range(max(present - _DRIFT, last_step + 1), present + _DRIFT + 1)
    # Each is compared, so that the duration reveals nothing.
    matching = [step for step in steps if hmac.compare_digest(code(secret, step), text)]
    return matching[0] if matching else None


def as_text(secret: bytes) -> str:
    """Return the secret as people type it into an app: base32 in groups of four."""
    text = base64.b32encode(secret).decode().rstrip("=")
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def key_uri(secret: bytes, issuer: str, account: str) -> str:
    """Return the ``otpauth://`` address that apps read from a QR code."""
    label = f"{quote(issuer, safe='')}:{quote(account, safe='')}"
    query = urlencode({"secret": as_text(secret).replace(" ", ""), "issuer": issuer}, quote_via=quote)
    return f"otpauth://totp/{label}?{query}"
