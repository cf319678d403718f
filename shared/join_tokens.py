"""Join tokens: a secret, and the fingerprint by which the probe verifies the server first."""

import base64
import binascii
import secrets
import zlib
from dataclasses import dataclass
from typing import Final

PREFIX: Final = "tocsin_join_"
_SECRET_BYTES: Final = 24
_FINGERPRINT_BYTES: Final = 32
_CHECK_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class JoinToken:
    """*fingerprint* is the SHA-256 of the authority's certificate."""

    secret: bytes
    fingerprint: bytes


def new(fingerprint: bytes) -> JoinToken:
    """A new random token (192 bits) for the authority with *fingerprint*."""
    return JoinToken(secrets.token_bytes(_SECRET_BYTES), fingerprint)


def show(token: JoinToken) -> str:
    """``tocsin_join_`` and 80 characters."""
    body = token.secret + token.fingerprint
    return PREFIX + base64.urlsafe_b64encode(body + _check(body)).decode()


def read(text: str) -> JoinToken:
    """The inverse of `show`. Raises ValueError for a mistyped or truncated token."""
    try:
        raw = base64.b64decode(text.removeprefix(PREFIX), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    body, check = raw[:-_CHECK_BYTES], raw[-_CHECK_BYTES:]
    if (
        not text.startswith(PREFIX)
        or len(body) != _SECRET_BYTES + _FINGERPRINT_BYTES
        or check != _check(body)
    ):
        raise ValueError(f"must be a whole join token, {PREFIX}...; was it cut?")
    return JoinToken(body[:_SECRET_BYTES], body[_SECRET_BYTES:])


def _check(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(_CHECK_BYTES)
