"""Password storage: scrypt with a salt per password; its cost is stored beside it."""

import hashlib
import hmac
import unicodedata

SALT_BYTES = 16
HASH_BYTES = 64
_N, _R, _P = 2**15, 8, 1
# What scrypt needs is 128 * N * r; the library refuses more than 32 MiB unless it is told.
_MEMORY = 64 * 1024 * 1024


def stored(password: str, salt: bytes) -> str:
    """``scrypt$N$r$p$salt$hash``; takes a tenth of a second and 32 MiB."""
    return _kept(salt, _derived(password, salt, _N, _R, _P))


def nobodys(salt: bytes, derived: bytes) -> str:
    """What no known password matches, of bytes made by chance; to look at it takes as long as at any."""
    return _kept(salt, derived)


def matches(password: str, kept: str) -> bool:
    """Is *password* the one of which *kept* was made?"""
    _, n, r, p, salt, derived = kept.split("$")
    return hmac.compare_digest(
        _derived(password, bytes.fromhex(salt), int(n), int(r), int(p)), bytes.fromhex(derived)
    )


def _kept(salt: bytes, derived: bytes) -> str:
    return f"scrypt${_N}${_R}${_P}${salt.hex()}${derived.hex()}"


def _derived(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    plain = unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(plain, salt=salt, n=n, r=r, p=p, maxmem=_MEMORY)
