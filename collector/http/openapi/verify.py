"""Checks the signature of a webhook from Tocsin; needs nothing but Python's own library."""

import base64
import hashlib
import hmac
import time
from collections.abc import Mapping


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes, *, tolerance_s: int = 300) -> bool:
    """Return whether Tocsin sent *body*, and within the last *tolerance_s* seconds.

    *headers* have names in lower case; *body* are the bytes as received, before any JSON is parsed.
    """
    sent_at = headers.get("webhook-timestamp", "")
    if not (sent_at.isascii() and sent_at.isdigit()) or abs(time.time() - int(sent_at)) > tolerance_s:
        return False
    prefix = "whsec_"
    key = base64.b64decode(secret[len(prefix) :]) if secret.startswith(prefix) else secret.encode()
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(expected, signature) for signature in signatures)
