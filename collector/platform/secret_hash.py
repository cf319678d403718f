"""The hash by which the database knows a random secret that it does not keep."""

import hashlib


def secret_hash(secret: str) -> bytes:
    """SHA-256 of *secret*: it has 128 random bits or more, so that no slow hash is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
