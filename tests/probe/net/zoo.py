"""Chains of certificates, good and bad in every way, each served over TLS."""

import ssl
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
CLIENTS = ExtendedKeyUsageOID.CLIENT_AUTH
HERE = "127.0.0.1"
_CERT_SIGN = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
# With room for the time that the tests take: "3 days ago" stays that.
NOW = datetime.now(UTC) - timedelta(minutes=5)


@dataclass(frozen=True)
class Issued:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: Key

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def issue(
    name: str,
    by: Issued | None = None,
    *,
    hosts: Sequence[str] = (HERE,),
    starts: timedelta = -30 * DAY,
    ends: timedelta = 60 * DAY,
    authority: bool = False,
    depth: int | None = None,
    usage: x509.ObjectIdentifier | None = None,
    key: Key | None = None,
    signed_with: Key | None = None,
) -> Issued:
    """A certificate from *starts* to *ends*, seen from NOW; without *by* it is signed by itself."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    builder = (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(by.certificate.subject if by else _named(name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW + starts)
        .not_valid_after(NOW + ends)
        .add_extension(x509.BasicConstraints(authority, depth), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if authority:
        builder = builder.add_extension(_CERT_SIGN, critical=True)
    elif hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName(_hosts(hosts)), critical=False)
    if usage:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    signer = signed_with or (by.key if by else key)
    return Issued(builder.sign(signer, None if _is_ed(signer) else hashes.SHA256()), key)


def serving(leaf: Issued, *chain: Issued) -> ssl.SSLContext:
    """A server's side that sends *leaf* and then *chain*."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("DEFAULT@SECLEVEL=0")
    with tempfile.NamedTemporaryFile() as file:
        file.write(leaf.key_pem + leaf.pem + b"".join(one.pem for one in chain))
        file.flush()
        context.load_cert_chain(file.name)
    return context


def sha1(leaf: Issued, by: Issued) -> Issued:
    """*leaf* again, signed with SHA-1, which only the openssl program still does."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "leaf.key").write_bytes(leaf.key_pem)
        (folder / "by.pem").write_bytes(by.pem + by.key_pem)
        (folder / "extra").write_text(f"subjectAltName=IP:{HERE}\n")
        _openssl(folder, "req", "-new", "-key", "leaf.key", "-subj", "/CN=sha1", "-out", "leaf.csr")
        _openssl(
            folder,
            *("x509", "-req", "-sha1", "-in", "leaf.csr", "-CA", "by.pem", "-CAkey", "by.pem"),
            *("-set_serial", "7", "-days", "30", "-extfile", "extra", "-out", "leaf.pem"),
        )
        return Issued(x509.load_pem_x509_certificate((folder / "leaf.pem").read_bytes()), leaf.key)


def weak() -> Key:
    return rsa.generate_private_key(65_537, 1024)


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=30)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)] if name else [])


def _hosts(hosts: Sequence[str]) -> list[x509.GeneralName]:
    return [x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host) for host in hosts]


def _is_ed(key: Key) -> bool:
    return isinstance(key, ed25519.Ed25519PrivateKey)


ROOT = issue("Zoo Root", authority=True)
MIDDLE = issue("Zoo Middle", ROOT, authority=True)
STRANGER = issue("Strange Root", authority=True)
