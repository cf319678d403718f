"""What the probe link needs of certificates without the cryptography library, which takes 9 MB."""

import hashlib
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

_PEM: Final = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Passport:
    """What a certificate states about its probe."""

    probe_id: UUID
    locations: Sequence[str]
    serial: bytes
    not_before: datetime
    not_after: datetime


def split(bundle: bytes) -> list[bytes]:
    """The certificates in *bundle*, each in PEM."""
    return _PEM.findall(bundle)


def fingerprint(certificate: bytes) -> bytes:
    """The 32-byte fingerprint of a certificate (DER)."""
    return hashlib.sha256(certificate).digest()


def fingerprints(bundle: bytes) -> list[bytes]:
    """The fingerprints of all certificates in *bundle* (PEM)."""
    return [fingerprint(ssl.PEM_cert_to_DER_cert(one.decode("ascii"))) for one in split(bundle)]
