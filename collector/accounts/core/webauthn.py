"""WebAuthn (level 3), as far as passkeys need it: reads what an authenticator answers, and verifies it.

No attestation is asked for, so the answer of a registration proves nothing but the presence of its browser.
The browser hands over the public key in DER, and nothing here has to read CBOR.
"""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from typing import Any, Final, Self
from urllib.parse import urlsplit

import orjson
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

# COSE numbers of ES256 and RS256, the preferred first. Every authenticator has one of them.
ALGORITHMS: Final = (-7, -257)
CHALLENGE_BYTES: Final = 32
LONGEST_CREDENTIAL: Final = 1023
_LONGEST_KEY: Final = 2048
_LEAST_RSA_BITS: Final = 2048
_USER_PRESENT: Final = 0x01
_USER_VERIFIED: Final = 0x04
_BACKUP_ELIGIBLE: Final = 0x08
_BACKED_UP: Final = 0x10
_HAS_CREDENTIAL: Final = 0x40
_HEAD: Final = 37  # hash of the relying party's id, flags, counter
_CREDENTIAL_HEAD: Final = _HEAD + 16 + 2  # the authenticator's model, the length of the credential's id


class PasskeyFault(StrEnum):
    """Why an answer is refused."""

    UNREADABLE = "unreadable"
    UNKNOWN = "unknown passkey"
    OTHER_CHALLENGE = "other challenge"
    OTHER_SITE = "other site"
    ABSENT = "user not present"
    UNVERIFIED = "user not verified"
    BAD_KEY = "unsupported key"
    BAD_SIGNATURE = "bad signature"
    OLD_COUNTER = "old counter"


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The site that passkeys are bound to: *id* is its host name."""

    id: str
    origin: str

    @classmethod
    def of(cls, public_url: str) -> Self | None:
        """Return the site at *public_url*; None where passkeys cannot be: at an IP address, or over HTTP."""
        parts = urlsplit(public_url)
        host = parts.hostname or ""
        local = host == "localhost" or host.endswith(".localhost")
        if not host or _is_address(host) or (parts.scheme != "https" and not local):
            return None
        return cls(host, f"{parts.scheme}://{parts.netloc}")


@dataclass(frozen=True, slots=True)
class NewCredential:
    """What a registration brought; *public_key*: SubjectPublicKeyInfo in DER."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


@dataclass(frozen=True, slots=True)
class PasskeyAssertion:
    """What an authenticator answers to a challenge; *user_handle* is empty unless it keeps its user's."""

    credential_id: bytes
    client_data: bytes
    authenticator_data: bytes
    signature: bytes
    user_handle: bytes


@dataclass(frozen=True, slots=True)
class KnownCredential:
    """What is known of the passkey that answers."""

    public_key: bytes
    sign_count: int


@dataclass(frozen=True, slots=True)
class _AuthenticatorData:
    site: bytes
    flags: int
    sign_count: int

    @classmethod
    def read(cls, data: bytes) -> Self | None:
        if len(data) < _HEAD:
            return None
        return cls(data[:32], data[32], int.from_bytes(data[33:_HEAD], "big"))

    def fault(self, site: RelyingParty, *, verified: bool) -> PasskeyFault | None:
        if not hmac.compare_digest(self.site, hashlib.sha256(site.id.encode()).digest()):
            return PasskeyFault.OTHER_SITE
        if not self.flags & _USER_PRESENT:
            return PasskeyFault.ABSENT
        if verified and not self.flags & _USER_VERIFIED:
            return PasskeyFault.UNVERIFIED
        if self.flags & _BACKED_UP and not self.flags & _BACKUP_ELIGIBLE:
            return PasskeyFault.UNREADABLE
        return None


def register(
    site: RelyingParty, challenge: bytes, client_data: bytes, authenticator_data: bytes, public_key: bytes
) -> NewCredential | PasskeyFault:
    """Return the credential that answers *challenge*, or why it is refused."""
    if fault := _client_fault(client_data, "webauthn.create", site, challenge):
        return fault
    head = _AuthenticatorData.read(authenticator_data)
    if head is None or not head.flags & _HAS_CREDENTIAL:
        return PasskeyFault.UNREADABLE
    if fault := head.fault(site, verified=False):
        return fault
    length = int.from_bytes(authenticator_data[_CREDENTIAL_HEAD - 2 : _CREDENTIAL_HEAD], "big")
    credential_id = authenticator_data[_CREDENTIAL_HEAD : _CREDENTIAL_HEAD + length]
    if not 0 < length <= LONGEST_CREDENTIAL or len(credential_id) < length:
        return PasskeyFault.UNREADABLE
    if _key(public_key) is None:
        return PasskeyFault.BAD_KEY
    return NewCredential(credential_id, public_key, head.sign_count)


def assertion_fault(
    site: RelyingParty, challenge: bytes, answer: PasskeyAssertion, known: KnownCredential, *, verified: bool
) -> PasskeyFault | None:
    """Return why the answer does not prove the passkey; None if it does.

    *verified*: whether the authenticator must have verified its user, as without a password.
    """
    if fault := _client_fault(answer.client_data, "webauthn.get", site, challenge):
        return fault
    head = _AuthenticatorData.read(answer.authenticator_data)
    if head is None:
        return PasskeyFault.UNREADABLE
    if fault := head.fault(site, verified=verified):
        return fault
    signed = answer.authenticator_data + hashlib.sha256(answer.client_data).digest()
    if not _is_signed(known.public_key, answer.signature, signed):
        return PasskeyFault.BAD_SIGNATURE
    counts = head.sign_count or known.sign_count
    return PasskeyFault.OLD_COUNTER if counts and head.sign_count <= known.sign_count else None


def sign_count(authenticator_data: bytes) -> int:
    """Return the counter in the data of an answer that was accepted."""
    return int.from_bytes(authenticator_data[33:_HEAD], "big")


def encoded(data: bytes) -> str:
    """Return base64url without padding, as WebAuthn writes bytes."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Return the bytes of base64url without padding; none for another text, which no answer has."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""


def _client_fault(data: bytes, type_: str, site: RelyingParty, challenge: bytes) -> PasskeyFault | None:
    try:
        client: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        return PasskeyFault.UNREADABLE
    if not isinstance(client, dict) or client.get("type") != type_:
        return PasskeyFault.UNREADABLE
    shown = client.get("challenge")
    if not isinstance(shown, str) or not hmac.compare_digest(decoded(shown), challenge):
        return PasskeyFault.OTHER_CHALLENGE
    if client.get("origin") != site.origin or client.get("crossOrigin") or "topOrigin" in client:
        return PasskeyFault.OTHER_SITE
    return None


def _key(der: bytes) -> ec.EllipticCurvePublicKey | rsa.RSAPublicKey | None:
    """Return the key if it is of a kind that is asked for."""
    if len(der) > _LONGEST_KEY:
        return None
    try:
        key = load_der_public_key(der)
    except (ValueError, UnsupportedAlgorithm):
        return None
    if isinstance(key, ec.EllipticCurvePublicKey):
        return key if isinstance(key.curve, ec.SECP256R1) else None
    if isinstance(key, rsa.RSAPublicKey):
        return key if key.key_size >= _LEAST_RSA_BITS else None
    return None


def _is_signed(public_key: bytes, signature: bytes, signed: bytes) -> bool:
    key = _key(public_key)
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, signed, ec.ECDSA(SHA256()))
        elif isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, signed, padding.PKCS1v15(), SHA256())
        else:
            return False
    except InvalidSignature:
        return False
    return True


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
