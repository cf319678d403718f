"""Verifies the tokens of an OpenID provider by its keys."""

from collections.abc import Mapping
from typing import Any

from joserfc import jwk, jwt
from joserfc.errors import JoseError

from collector.accounts.core import openid as rules


def verified(token: str, key_set: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the claims of *token* if a key of *key_set*, which is a JWK Set, signed it; None otherwise."""
    try:
        return jwt.decode(token, _usable(key_set), algorithms=list(rules.ALGORITHMS)).claims
    except (JoseError, ValueError, KeyError, TypeError):
        return None


def _usable(key_set: Mapping[str, Any]) -> jwk.KeySet:
    """Return the keys for signatures, without those that the library does not know."""
    keys = []
    for entry in key_set.get("keys", []):
        if (
            isinstance(entry, dict)
            and entry.get("use", "sig") == "sig"
            and entry.get("kty") in ("RSA", "EC", "OKP")
        ):
            try:
                keys.append(jwk.import_key(entry))
            except (JoseError, ValueError, KeyError, TypeError):
                continue
    return jwk.KeySet(keys)
