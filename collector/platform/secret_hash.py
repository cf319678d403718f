"""The hash by which the database knows a random secret that it does not keep."""

import hashlib


def secret_hash(secret: str) -> bytes:
    """SHA-256 of *secret*; a slow hash is unnecessary because it has at least 128 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
