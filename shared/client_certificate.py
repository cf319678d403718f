"""Validates a client certificate and its key in PEM."""

from dataclasses import dataclass, field
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

_UNREADABLE: Final = (ValueError, TypeError, UnsupportedAlgorithm)


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """*chain*: the certificate, and the intermediate certificates that the server needs."""

    chain: str = field(repr=False)
    key: str = field(repr=False)


def chain_fault(chain: str) -> str:
    """The error in the chain; empty if it is valid."""
    try:
        x509.load_pem_x509_certificates(chain.encode())
    except _UNREADABLE:
        return "must be a certificate in PEM"
    return ""


def key_fault(chain: str, key: str) -> str:
    """The error in the key of a valid *chain*; empty if it is valid."""
    try:
        private = load_pem_private_key(key.encode(), password=None)
    except _UNREADABLE:
        return "must be a private key in PEM that no password protects"
    leaf = x509.load_pem_x509_certificates(chain.encode())[0]
    return "" if private.public_key() == leaf.public_key() else "is not the key of this certificate"
