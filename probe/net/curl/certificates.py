"""A server's certificates from libcurl: their expiry, and their faults in words."""

import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from cryptography import x509
from cryptography.x509.oid import NameOID

from probe.net.tls.certificates import Case, Certificate, clean

_MOST_KEPT: Final = 4_096
# What the library says of one that it cannot read; not all of it is a ValueError.
_UNREADABLE: Final = (
    ValueError,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)
_KNOWN_AS: Final = (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME, NameOID.ORGANIZATIONAL_UNIT_NAME)


def pems(certinfo: Iterable[Sequence[Any]]) -> tuple[bytes, ...]:
    """*certinfo* is what ``CURLINFO_CERTINFO`` gives: for each certificate pairs of names and values."""
    return tuple(
        pair[1] for one in certinfo for pair in one if isinstance(pair, tuple) and pair[0] == b"Cert"
    )


@lru_cache(_MOST_KEPT)
def earliest(chain: tuple[bytes, ...]) -> float | None:
    """Unix time at which the first of *chain* (PEM) ends; None if there is none that can be read."""
    try:
        return min(x509.load_pem_x509_certificate(pem).not_valid_after_utc.timestamp() for pem in chain)
    except _UNREADABLE:
        return None


@lru_cache(_MOST_KEPT)
def names_a_host(leaf: bytes) -> bool:
    """Has it a name that counts? Its subject, which libcurl still goes by, is none since long."""
    try:
        return bool(_hosts(x509.load_pem_x509_certificate(leaf)))
    except _UNREADABLE:
        return True


def case(chain: Sequence[bytes], host: str, reason: str) -> Case:
    """*chain* as it was sent for *host*; nothing of it if there is one that can't be read."""
    try:
        shown = [_certificate(x509.load_pem_x509_certificate(pem)) for pem in chain]
    except _UNREADABLE:
        shown = []
    return Case(shown, host, time.time(), reason)


def _certificate(one: x509.Certificate) -> Certificate:
    return Certificate(
        subject=_known_as(one.subject),
        issuer=_known_as(one.issuer),
        names=tuple(clean(name) for name in _hosts(one)),
        starts=one.not_valid_before_utc.timestamp(),
        ends=one.not_valid_after_utc.timestamp(),
    )


def _known_as(name: x509.Name) -> str:
    for oid in _KNOWN_AS:
        values = [str(part.value) for part in name.get_attributes_for_oid(oid) if part.value]
        if values:
            return clean(values[-1])
    return "without a name"


def _hosts(one: x509.Certificate) -> list[str]:
    """Those of its names that are of hosts, in their order."""
    try:
        names = one.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(name.value) for name in names if isinstance(name, x509.DNSName | x509.IPAddress)]
