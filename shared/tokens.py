"""What deployments make at random: API tokens, whose last characters are a checksum, and secret keys."""

import base64
import secrets
import zlib
from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PREFIX: Final = "tocsin_"
_LETTERS: Final = frozenset(ALPHABET)
_RANDOM: Final = 34
_CHECK: Final = 6


def new_token() -> str:
    """A token that nobody can guess (202 bits)."""
    random = "".join([secrets.choice(ALPHABET) for _ in range(_RANDOM)])
    return PREFIX + random + _checksum(random)


def new_key() -> str:
    """32 random bytes in base64: a value for TOCSIN_SECRET_KEY."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def checksum_ok(token: str) -> bool:
    """Whether *token*, prefix included, is in that form: a typing error or a cut is seen without a lookup."""
    body = token.removeprefix(PREFIX)
    well_formed = body != token and len(body) == _RANDOM + _CHECK and _LETTERS.issuperset(body)
    return well_formed and _checksum(body[:_RANDOM]) == body[_RANDOM:]


def _checksum(random: str) -> str:
    number = zlib.crc32(random.encode())
    digits = []
    for _ in range(_CHECK):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))
