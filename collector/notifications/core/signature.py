"""Signs a webhook's body: the contract's hex HMAC, and Standard Webhooks beside it."""

import base64
import binascii
import hashlib
import hmac

_PREFIX = "whsec_"


def hex_hmac(secret: str, body: bytes) -> str:
    """HMAC-SHA256 of the exact bytes, with the secret's bytes as the key."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def standard(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """``v1,`` and the base64 of the HMAC over ``id.timestamp.body`` (Standard Webhooks 1.0.0)."""
    signed = b"%b.%d.%b" % (message_id.encode(), timestamp, body)
    digest = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def _key(secret: str) -> bytes:
    """The decoded bytes of a ``whsec_`` secret; the UTF-8 bytes of any other secret."""
    encoded = secret.removeprefix(_PREFIX)
    if encoded == secret:
        return secret.encode()
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return secret.encode()
