"""A probe's credentials on disk: key, certificate, trusted authorities."""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from cryptography import x509

from shared import pki
from shared.errors import CannotStart
from shared.pki import Passport

_KEY: Final = "key.pem"
_CERTIFICATE: Final = "certificate.pem"


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
        leaf, *bundle = x509.load_pem_x509_certificates((home / _CERTIFICATE).read_bytes())
        return made((home / _KEY).read_bytes(), pki.pem(leaf), b"".join(map(pki.pem, bundle)))
    except (OSError, ValueError) as error:
        raise CannotStart(
            f"{home / _CERTIFICATE} cannot be used: {error}; remove it to join with a new token"
        ) from error


def save(home: Path, credentials: Credentials) -> None:
    """Store the certificate and the bundle atomically; `own_key` has stored the key."""
    _write(home / _CERTIFICATE, credentials.certificate + credentials.bundle)


def own_key(home: Path) -> bytes:
    """The key in PEM, stored before its first use, so that a lost response can be requested again."""
    path = home / _KEY
    if not path.exists():
        _write(path, pki.key_pem(pki.new_key()))
    key = path.read_bytes()
    try:
        pki.read_key(key)
    except ValueError as error:
        raise CannotStart(f"{path} holds no key; remove it to begin as a new probe") from error
    return key


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
