"""The deployment's certificate authority: what it signs, for how long, and its rotation."""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from shared import certificates, pki
from shared.errors import Invalid

PROBE_LIFE: Final = timedelta(hours=24)
SERVER_LIFE: Final = timedelta(days=7)
LIFE: Final = timedelta(days=5 * 365)
# A successor is created this long before expiry, and signs only after every collector has loaded it.
SUCCEEDED: Final = timedelta(days=365)
SETTLED: Final = timedelta(minutes=5)
# Tolerates clients whose clocks are slightly behind.
_BACKDATED: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Authority:
    """A CA certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    created_at: datetime

    @property
    def fingerprint(self) -> bytes:
        return certificates.fingerprint(pki.der(self.certificate))


@dataclass(frozen=True, slots=True)
class TrustedAuthorities:
    """All current authorities, oldest first.

    The oldest signs for servers, since every probe knows it; the youngest settled one signs for probes.
    """

    authorities: Sequence[Authority]

    @property
    def server_signer(self) -> Authority:
        return self.authorities[0]

    def probe_signer(self, now: datetime) -> Authority:
        settled = [authority for authority in self.authorities if now - authority.created_at >= SETTLED]
        return settled[-1] if settled else self.authorities[0]

    @property
    def bundle(self) -> bytes:
        """The certificates in PEM."""
        return b"".join(pki.pem(authority.certificate) for authority in self.authorities)

    def signed(self, certificate: x509.Certificate) -> bool:
        """Whether one of the authorities signed *certificate*."""
        return any(_signed_by(certificate, authority.certificate) for authority in self.authorities)


def new(now: datetime) -> Authority:
    """Create an authority."""
    key = pki.new_key()
    name = x509.Name(
        [x509.NameAttribute(NameOID.COMMON_NAME, f"Tocsin {pki.key_hash(key.public_key()).hex()[:16]}")]
    )
    builder = (
        _builder(name, key.public_key(), now, LIFE)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
    )
    return Authority(builder.sign(key, hashes.SHA256()), key, now)


def outlived(authority: Authority, now: datetime) -> bool:
    """Whether a successor must be created."""
    return authority.certificate.not_valid_after_utc - now < SUCCEEDED


def server_certificate(
    authority: Authority, names: Iterable[str], now: datetime
) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    """Create a key and a certificate for a collector; *names*: its host names or addresses."""
    key = pki.new_key()
    builder = (
        _builder(x509.Name([]), key.public_key(), now, SERVER_LIFE)
        .add_extension(x509.SubjectAlternativeName([_host(name) for name in names]), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )
    return key, _sign(authority, builder)


def probe_certificate(
    authority: Authority,
    public_key: ec.EllipticCurvePublicKey,
    probe_id: UUID,
    locations: Sequence[str],
    now: datetime,
) -> x509.Certificate:
    """A probe's certificate: its id is the only name, its locations are units of the subject."""
    units = [x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, each) for each in locations]
    uri = x509.UniformResourceIdentifier(f"{pki.PROBE_URI}{probe_id}")
    builder = (
        _builder(x509.Name(units), public_key, now, PROBE_LIFE)
        .add_extension(x509.SubjectAlternativeName([uri]), critical=not units)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
    )
    return _sign(authority, builder)


def requested_key(request: bytes) -> ec.EllipticCurvePublicKey:
    """The public key of a signing request (DER), with its proof of possession verified. Raises Invalid."""
    try:
        asked = x509.load_der_x509_csr(request)
        key = asked.public_key()
        sound = asked.is_signature_valid
    except (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion):
        raise Invalid({"csr": "is no signing request"}) from None
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1) or not sound:
        raise Invalid({"csr": "must be signed with the P-256 key that it names"})
    return key


def _builder(
    subject: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _sign(authority: Authority, builder: x509.CertificateBuilder) -> x509.Certificate:
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    return (
        builder.issuer_name(authority.certificate.subject)
        .add_extension(issuer, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .sign(authority.key, hashes.SHA256())
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _host(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _signed_by(certificate: x509.Certificate, issuer: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
