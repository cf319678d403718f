"""Generates API tokens, with a checksum at their end, and secret keys."""

import base64
import secrets
import zlib
from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PREFIX: Final = "tocsin_"
# Two digits at a time: the checksum is computed for each request with a token.
_PAIRS: Final = [high + low for high in ALPHABET for low in ALPHABET]
_RANDOM: Final = 34
_CHECK: Final = 6


def new_token() -> str:
    """A new random token (202 bits)."""
    random = "".join([secrets.choice(ALPHABET) for _ in range(_RANDOM)])
    return PREFIX + random + _checksum(random)


def new_key() -> str:
    """32 random bytes in base64: a value for TOCSIN_SECRET_KEY."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def checksum_ok(token: str) -> bool:
    """Whether the checksum of *token*, prefix included, is valid: detects typing errors without a lookup."""
    body = token.removeprefix(PREFIX)
    well_formed = body != token and len(body) == _RANDOM + _CHECK and body.isascii() and body.isalnum()
    return well_formed and _checksum(body[:_RANDOM]) == body[_RANDOM:]


def _checksum(random: str) -> str:
    rest, low = divmod(zlib.crc32(random.encode()), len(_PAIRS))
    high, middle = divmod(rest, len(_PAIRS))
    return _PAIRS[high] + _PAIRS[middle] + _PAIRS[low]
