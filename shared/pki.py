"""Certificates of the probe link: their names, and a new probe's request."""

import hashlib
from typing import Final
from uuid import UUID

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from shared.certificates import Passport

PROBE_URI: Final = "spiffe://tocsin/probe/"

# A gRPC server can require a certificate or none, nothing in between. So a client without one uses this one,
# whose key is public: it means "unknown client" and permits only enrolment.
NEWCOMER: Final = b"""-----BEGIN CERTIFICATE-----
MIIBSjCB8KADAgECAgEBMAoGCCqGSM49BAMCMBoxGDAWBgNVBAMMD3RvY3NpbiBu
ZXdjb21lcjAgFw0wMDAxMDEwMDAwMDBaGA8yMDk5MTIzMTAwMDAwMFowGjEYMBYG
A1UEAwwPdG9jc2luIG5ld2NvbWVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
24AGgt16bngdeV6JUQktQP6v9J9gHi2nU//xbIyd8PkZbpFSYknaMcbYsVFbX+RG
jPDbGaUYZ/zTms5PE3vVgqMlMCMwDAYDVR0TAQH/BAIwADATBgNVHSUEDDAKBggr
BgEFBQcDAjAKBggqhkjOPQQDAgNJADBGAiEAuNJFVQBeYC8f1cUl4M4nlm57pY+l
KFtykROEaPxgsVwCIQCpxoq0pvO5YZcFXem49kgo9ajU7LBOynXayi+Es6n8tA==
-----END CERTIFICATE-----
"""
_NEWCOMER_LABEL: Final = b"tocsin newcomer"


def new_key() -> ec.EllipticCurvePrivateKey:
    """A new P-256 key."""
    return ec.generate_private_key(ec.SECP256R1())


def newcomer_key() -> bytes:
    """The private key of NEWCOMER in PEM; not a secret."""
    number = int.from_bytes(hashlib.sha256(_NEWCOMER_LABEL).digest())
    return key_pem(ec.derive_private_key(number, ec.SECP256R1()))


def key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """The private key as PKCS#8 in PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def read_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    """The inverse of `key_pem`. Raises ValueError."""
    key = serialization.load_pem_private_key(pem, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError("no key of an elliptic curve")  # noqa: TRY004 - bad content, not a bad call
    return key


def pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def der(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.DER)


def key_hash(key: ec.EllipticCurvePublicKey) -> bytes:
    """The 32-byte hash of a public key."""
    encoded = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(encoded).digest()


def request(key: ec.EllipticCurvePrivateKey) -> bytes:
    """A signing request in DER that only proves possession of the key; the server assigns the names."""
    made = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
    return made.public_bytes(serialization.Encoding.DER)


def serial(certificate: x509.Certificate) -> bytes:
    """The serial number as 20 bytes."""
    return certificate.serial_number.to_bytes(20)


def passport(certificate: x509.Certificate) -> Passport:
    """What *certificate* states about its probe, without checking the signature. Raises ValueError."""
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    [uri] = names.get_values_for_type(x509.UniformResourceIdentifier)
    if not uri.startswith(PROBE_URI):
        raise ValueError(f"not a probe's name: {uri}")
    units = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATIONAL_UNIT_NAME)
    return Passport(
        probe_id=UUID(uri.removeprefix(PROBE_URI)),
        locations=tuple(str(unit.value) for unit in units),
        serial=serial(certificate),
        not_before=certificate.not_valid_before_utc,
        not_after=certificate.not_valid_after_utc,
    )
