"""A server's certificates from libcurl: their expiry, and their faults in words."""

import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from cryptography import x509
from cryptography.x509.oid import NameOID

from probe.net.tls.certificates import Case, Certificate, clean

_MOST_KEPT: Final = 4_096
# Errors of the library for an unreadable certificate; not all of them are ValueErrors.
_UNREADABLE: Final = (
    ValueError,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)
_KNOWN_AS: Final = (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME, NameOID.ORGANIZATIONAL_UNIT_NAME)


def pems(certinfo: Iterable[Sequence[Any]]) -> tuple[bytes, ...]:
    """*certinfo* is the value of ``CURLINFO_CERTINFO``: for each certificate, pairs of names and values."""
    return tuple(
        pair[1] for one in certinfo for pair in one if isinstance(pair, tuple) and pair[0] == b"Cert"
    )


@lru_cache(_MOST_KEPT)
def earliest(chain: tuple[bytes, ...]) -> float | None:
    """Unix time at which the first of *chain* (PEM) expires; None if none is readable."""
    try:
        return min(x509.load_pem_x509_certificate(pem).not_valid_after_utc.timestamp() for pem in chain)
    except _UNREADABLE:
        return None


@lru_cache(_MOST_KEPT)
def names_a_host(leaf: bytes) -> bool:
    """Whether it has alternative names; libcurl still falls back to the obsolete subject."""
    try:
        return bool(_hosts(x509.load_pem_x509_certificate(leaf)))
    except _UNREADABLE:
        return True


def case(chain: Sequence[bytes], host: str, reason: str) -> Case:
    """*chain* as sent for *host*; empty if one certificate is unreadable."""
    try:
        shown = [_certificate(x509.load_pem_x509_certificate(pem)) for pem in chain]
    except _UNREADABLE:
        shown = []
    return Case(shown, host, time.time(), reason)


def _certificate(certificate: x509.Certificate) -> Certificate:
    return Certificate(
        subject=_known_as(certificate.subject),
        issuer=_known_as(certificate.issuer),
        names=tuple(clean(name) for name in _hosts(certificate)),
        starts=certificate.not_valid_before_utc.timestamp(),
        ends=certificate.not_valid_after_utc.timestamp(),
    )


def _known_as(name: x509.Name) -> str:
    for oid in _KNOWN_AS:
        values = [str(part.value) for part in name.get_attributes_for_oid(oid) if part.value]
        if values:
            return clean(values[-1])
    return "without a name"


def _hosts(certificate: x509.Certificate) -> list[str]:
    """The host names in the certificate, in order."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(name.value) for name in names if isinstance(name, x509.DNSName | x509.IPAddress)]
