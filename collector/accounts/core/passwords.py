"""Password storage: scrypt with a salt per password; its cost is stored beside it."""

import hashlib
import hmac
import unicodedata

SALT_BYTES = 16
HASH_BYTES = 64
_N, _R, _P = 2**15, 8, 1
# scrypt needs 128 * N * r bytes; the library refuses more than 32 MiB by default.
_MEMORY = 64 * 1024 * 1024


def stored(password: str, salt: bytes) -> str:
    """Return ``scrypt$N$r$p$salt$hash``; takes a tenth of a second and 32 MiB."""
    return _kept(salt, _derived(password, salt, _N, _R, _P))


def nobodys(salt: bytes, derived: bytes) -> str:
    """Return a hash of random bytes that no password matches; comparing it takes as long as any."""
    return _kept(salt, derived)


def matches(password: str, kept: str) -> bool:
    """Whether *kept* was made of *password*."""
    _, n, r, p, salt, derived = kept.split("$")
    return hmac.compare_digest(
        _derived(password, bytes.fromhex(salt), int(n), int(r), int(p)), bytes.fromhex(derived)
    )


def _kept(salt: bytes, derived: bytes) -> str:
    return f"scrypt${_N}${_R}${_P}${salt.hex()}${derived.hex()}"


def _derived(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    plain = unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(plain, salt=salt, n=n, r=r, p=p, maxmem=_MEMORY)
