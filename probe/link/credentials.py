"""A probe's credentials on disk: key, certificate, trusted authorities."""

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID

import orjson

from shared import certificates
from shared.certificates import Passport
from shared.errors import CannotStart

_KEY: Final = "key.pem"
_CERTIFICATE: Final = "certificate.pem"
# The passport of that certificate: parsing it again would load the cryptography library, 9 MB, at each start.
_PASSPORT: Final = "passport.json"


@dataclass(frozen=True, slots=True)
class Credentials:
    """All PEM; *passport* is the parsed certificate."""

    key: bytes
    certificate: bytes
    bundle: bytes
    passport: Passport

    def over(self, now: datetime) -> bool:
        return now >= self.passport.not_after

    def due(self, now: datetime) -> bool:
        """Whether two thirds of the certificate's life are over."""
        life = self.passport.not_after - self.passport.not_before
        return now >= self.passport.not_before + life * 2 / 3


def made(key: bytes, certificate: bytes, bundle: bytes) -> Credentials:
    """Raises ValueError if it is not a probe's certificate, or does not match the key."""
    from cryptography import x509  # noqa: PLC0415 - see _PASSPORT

    from shared import pki  # noqa: PLC0415

    leaf = x509.load_pem_x509_certificate(certificate)
    if leaf.public_key() != pki.read_key(key).public_key():
        raise ValueError("the certificate is for another key")
    try:
        return Credentials(key, certificate, bundle, pki.passport(leaf))
    except x509.ExtensionNotFound as error:
        raise ValueError("the certificate names no probe") from error


def load(home: Path) -> Credentials | None:
    """Load what `save` stored in *home*; None if there is nothing. Raises CannotStart if it is unusable."""
    if not (home / _CERTIFICATE).exists():
        return None
    try:
        stored, key = (home / _CERTIFICATE).read_bytes(), (home / _KEY).read_bytes()
        passport = _passport(home, _digest(key, stored))
        if passport is not None:
            leaf, *bundle = certificates.split(stored)
            return Credentials(key, leaf, b"".join(bundle), passport)
        credentials = _checked(key, stored)
    except (OSError, ValueError) as error:
        raise CannotStart(
            f"{home / _CERTIFICATE} cannot be used: {error}; remove it to join with a new token"
        ) from error
    _save_passport(home, credentials, stored)
    return credentials


def _checked(key: bytes, stored: bytes) -> Credentials:
    from cryptography import x509  # noqa: PLC0415 - see _PASSPORT

    from shared import pki  # noqa: PLC0415

    leaf, *bundle = x509.load_pem_x509_certificates(stored)
    return made(key, pki.pem(leaf), b"".join(map(pki.pem, bundle)))


def save(home: Path, credentials: Credentials) -> None:
    """Store the certificate and the bundle atomically; `own_key` has stored the key."""
    stored = credentials.certificate + credentials.bundle
    _write(home / _CERTIFICATE, stored)
    _save_passport(home, credentials, stored)


def own_key(home: Path) -> bytes:
    """The key in PEM, stored before its first use, so that a lost response can be requested again."""
    from shared import pki  # noqa: PLC0415 - see _PASSPORT

    path = home / _KEY
    if not path.exists():
        _write(path, pki.key_pem(pki.new_key()))
    key = path.read_bytes()
    try:
        pki.read_key(key)
    except ValueError as error:
        raise CannotStart(f"{path} holds no key; remove it to begin as a new probe") from error
    return key


def _digest(key: bytes, stored: bytes) -> str:
    return hashlib.sha256(key + b"\0" + stored).hexdigest()


def _passport(home: Path, digest: str) -> Passport | None:
    """The stored passport of the credentials with *digest*, which were checked when it was stored."""
    try:
        stored = orjson.loads((home / _PASSPORT).read_bytes())
        if stored["digest"] != digest:
            return None
        return Passport(
            probe_id=UUID(stored["probe_id"]),
            locations=tuple(stored["locations"]),
            serial=bytes.fromhex(stored["serial"]),
            not_before=datetime.fromisoformat(stored["not_before"]),
            not_after=datetime.fromisoformat(stored["not_after"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save_passport(home: Path, credentials: Credentials, stored: bytes) -> None:
    """Store what *stored*, the file of the certificates, says; without it the file is parsed again."""
    passport = credentials.passport
    content = {
        "digest": _digest(credentials.key, stored),
        "probe_id": passport.probe_id,
        "locations": passport.locations,
        "serial": passport.serial.hex(),
        "not_before": passport.not_before,
        "not_after": passport.not_after,
    }
    with suppress(OSError):
        _write(home / _PASSPORT, orjson.dumps(content))


def _write(path: Path, content: bytes) -> None:
    """Write atomically, even if the machine stops; readable only by this user."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
