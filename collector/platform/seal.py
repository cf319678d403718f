"""Encrypts secrets at rest: AES-256-GCM under a named key, bound to the place of the value."""

import base64
import binascii
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from shared.errors import BadSettings, TocsinError

_KEY_BYTES = 32
_NONCE_BYTES = 12
_KID_BYTES = 8
_VERSION = b"\x01"


class Unsealable(TocsinError):
    """A sealed value cannot be opened: its key is missing, or it was moved or changed."""


@dataclass(frozen=True, slots=True)
class SealScope:
    """The location of a sealed value; it cannot be opened anywhere else."""

    team_id: int
    table: str
    row: UUID | str
    column: str

    def bound(self) -> bytes:
        return f"{self.team_id}|{self.table}|{self.row}|{self.column}".encode()


@dataclass(frozen=True, slots=True)
class Keyring:
    """Keys by id; the first one seals, all of them open."""

    keys: Mapping[bytes, AESGCM]
    first: bytes

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse comma-separated 32-byte keys in base64 (standard or URL-safe). Raises BadSettings."""
        keys: dict[bytes, AESGCM] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            raw = _decode(part)
            keys[key_id(raw)] = AESGCM(raw)
        if not keys:
            raise BadSettings("TOCSIN_SECRET_KEY is empty")
        return cls(keys=keys, first=next(iter(keys)))

    def seal(self, plain: bytes, place: SealScope) -> bytes:
        """Return version, key id, nonce, ciphertext and tag."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return _VERSION + self.first + nonce + self.keys[self.first].encrypt(nonce, plain, place.bound())

    def open(self, sealed: bytes, place: SealScope) -> bytes:
        """Return the plain bytes. Raises Unsealable."""
        head = len(_VERSION)
        kid = sealed[head : head + _KID_BYTES]
        key = self.keys.get(kid)
        if key is None or sealed[:head] != _VERSION:
            raise Unsealable(f"{place.table}.{place.column} is sealed with key {kid.hex()}, which is missing")
        nonce = sealed[head + _KID_BYTES : head + _KID_BYTES + _NONCE_BYTES]
        try:
            return key.decrypt(nonce, sealed[head + _KID_BYTES + _NONCE_BYTES :], place.bound())
        except InvalidTag:
            raise Unsealable(f"{place.table}.{place.column} does not open where it lies") from None


def is_sealed(value: bytes) -> bool:
    """Whether *value* may be sealed; JSON and HTML texts never look so."""
    return value.startswith(_VERSION)


def key_id(raw: bytes) -> bytes:
    """Eight bytes that identify a key without revealing it."""
    return hashlib.sha256(b"tocsin key id" + raw).digest()[:_KID_BYTES]


def split(
    keyring: Keyring, config: Mapping[str, Any], secret: frozenset[str], place: SealScope
) -> tuple[dict[str, Any], bytes | None]:
    """Split *config* into the open part and the sealed *secret* fields (None if there are none)."""
    hidden = {name: value for name, value in config.items() if name in secret and value is not None}
    rest = {name: value for name, value in config.items() if name not in hidden}
    return rest, keyring.seal(orjson.dumps(hidden), place) if hidden else None


def whole(
    keyring: Keyring, config: Mapping[str, Any], sealed: bytes | None, place: SealScope
) -> dict[str, Any]:
    """The inverse of `split`."""
    if sealed is None:
        return dict(config)
    return {**config, **orjson.loads(keyring.open(sealed, place))}


def _decode(text: str) -> bytes:
    try:
        raw = base64.b64decode(text.replace("-", "+").replace("_", "/") + "==", validate=False)
    except binascii.Error:
        raw = b""
    if len(raw) != _KEY_BYTES:
        raise BadSettings("TOCSIN_SECRET_KEY: each key must be 32 bytes in base64")
    return raw
