"""An authenticator of our own, which answers as WebAuthn describes; tests have it lie."""

import hashlib
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from collector.accounts.core.webauthn import decoded, encoded

PRESENT, VERIFIED, HAS_CREDENTIAL = 0x01, 0x04, 0x40


@dataclass(slots=True)
class Authenticator:
    """One passkey; *counter* 0: it does not count."""

    origin: str
    site: str = "localhost"
    counter: int = 0
    verifies: bool = True
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    handle: bytes = b""

    def created(self, question: Mapping[str, Any], **changed: Any) -> dict[str, str]:
        """The fields of the form that registers it."""
        self.handle = decoded(question["handle"])
        length = struct.pack(">H", len(self.credential_id))
        data = self._data(HAS_CREDENTIAL) + bytes(16) + length + self.credential_id + b"\xa0"
        return {
            "credential": encoded(self.credential_id),
            "client": encoded(self._client("webauthn.create", question, **changed)),
            "authenticator": encoded(data),
            "key": encoded(self.public_key),
        }

    def answered(self, question: Mapping[str, Any], **changed: Any) -> dict[str, str]:
        """The fields of the form that signs in."""
        client, data = self._client("webauthn.get", question, **changed), self._data()
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        return {
            "credential": encoded(self.credential_id),
            "client": encoded(client),
            "authenticator": encoded(data),
            "signature": encoded(signature),
            "handle": encoded(self.handle),
        }

    @property
    def public_key(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

    def _data(self, flags: int = 0) -> bytes:
        flags |= PRESENT | (VERIFIED if self.verifies else 0)
        return hashlib.sha256(self.site.encode()).digest() + bytes([flags]) + struct.pack(">I", self.counter)

    def _client(self, type_: str, question: Mapping[str, Any], **changed: Any) -> bytes:
        client = {"type": type_, "challenge": question["challenge"], "origin": self.origin}
        return orjson.dumps({**client, "crossOrigin": False, **changed})
