"""OpenID Connect rules: the authorization request, and the validation of the provider's answer."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from shared.errors import Forbidden

SCOPE: Final = "openid email profile"
# How long a user may take at the provider.
PATIENCE: Final = timedelta(minutes=10)
ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA",
)  # fmt: skip
_LEEWAY: Final = timedelta(seconds=60)
_NOT_OURS: Final = "The answer of the sign-in provider cannot be believed: "


@dataclass(frozen=True, slots=True)
class Attempt:
    """One sign-in attempt, kept by the browser; *user*: the chosen one of an address in several teams."""

    state: str
    nonce: str
    verifier: str
    after: str
    user: str = ""


def packed(attempt: Attempt) -> str:
    """Return the value of the cookie in which a browser keeps its attempt."""
    return base64.urlsafe_b64encode(json.dumps(asdict(attempt)).encode()).decode()


def unpacked(text: str) -> Attempt | None:
    """Return the attempt of a cookie; None if it holds none."""
    try:
        attempt = Attempt(**json.loads(base64.urlsafe_b64decode(text)))
    except (ValueError, TypeError, binascii.Error):
        return None
    return attempt if all(isinstance(part, str) for part in asdict(attempt).values()) else None


def address(endpoint: str, client_id: str, redirect: str, attempt: Attempt) -> str:
    """Return the URL of the authorization request."""
    query = urlencode(
        {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": redirect,
            "scope": SCOPE,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": challenge(attempt.verifier),
            "code_challenge_method": "S256",
        }
    )
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"


def challenge(verifier: str) -> str:
    """Return the code challenge of RFC 7636, by SHA-256."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def returned(attempt: Attempt | None, query: Mapping[str, str], issuer: str) -> str:
    """Return the code that the provider issued for *attempt*. Raises Forbidden."""
    if attempt is None or not hmac.compare_digest(query.get("state", "").encode(), attempt.state.encode()):
        raise Forbidden("This sign-in was begun in another browser, or too long ago. Please begin again.")
    if "error" in query:
        raise Forbidden("The sign-in provider refused: " + _plain(query["error"]))
    if query.get("iss", issuer) != issuer:
        raise Forbidden(_NOT_OURS + "it is from another issuer.")
    code = query.get("code", "")
    if not code:
        raise Forbidden(_NOT_OURS + "it has no code.")
    return code


def believe(claims: Mapping[str, Any], *, issuer: str, client_id: str, nonce: str, now: datetime) -> None:
    """Validate the claims of a token with a good signature against the request. Raises Forbidden."""
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    faults = {
        "it is from another issuer": claims.get("iss") != issuer,
        "it is for somebody else": client_id not in audiences
        or claims.get("azp", client_id) != client_id
        or (len(audiences) > 1 and "azp" not in claims),
        "it belongs to another sign-in": not _same(claims.get("nonce"), nonce),
        "it is over": not _within(claims.get("exp"), now - _LEEWAY, None),
        "it is of another time": not _within(claims.get("iat"), now - PATIENCE - _LEEWAY, now + _LEEWAY),
        "it names nobody": not isinstance(claims.get("sub"), str) or not claims.get("sub"),
    }
    fault = next((text for text, bad in faults.items() if bad), None)
    if fault is not None:
        raise Forbidden(f"{_NOT_OURS}{fault}.")


def email(claims: Mapping[str, Any]) -> str:
    """Return the address that the provider has verified. Raises Forbidden."""
    found = claims.get("email")
    if not isinstance(found, str) or not found:
        raise Forbidden("The sign-in provider sends no email address for you.")
    verified = claims.get("email_verified")
    if verified is not True and verified != "true":
        raise Forbidden("The sign-in provider has not verified your email address.")
    return found


def _same(shown: object, wanted: str) -> bool:
    return isinstance(shown, str) and hmac.compare_digest(shown.encode(), wanted.encode())


def _within(seconds: object, first: datetime, last: datetime | None) -> bool:
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        return False
    return seconds >= first.timestamp() and (last is None or seconds <= last.timestamp())


def _plain(text: str) -> str:
    """Return the printable part of an error's name."""
    return "".join(letter for letter in text if letter.isascii() and (letter.isalnum() or letter in "_-. "))[
        :80
    ]
