"""Validates a client certificate and its key in PEM."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """*chain*: the certificate, and the intermediate certificates that the server needs."""

    chain: str = field(repr=False)
    key: str = field(repr=False)


def chain_fault(chain: str) -> str:
    """The error in the chain; empty if it is valid."""
    from cryptography import x509  # noqa: PLC0415 - 9 MB that a probe, which only runs what was checked, saves
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415

    try:
        x509.load_pem_x509_certificates(chain.encode())
    except (ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion):
        return "must be a certificate in PEM"
    return ""


def key_fault(chain: str, key: str) -> str:
    """The error in the key of a valid *chain*; empty if it is valid."""
    from cryptography import x509  # noqa: PLC0415 - see `chain_fault`
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        private = load_pem_private_key(key.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "must be a private key in PEM that no password protects"
    try:
        public = x509.load_pem_x509_certificates(chain.encode())[0].public_key()
    except (ValueError, UnsupportedAlgorithm):  # of a kind that nobody knows, so that no key is known for it
        public = None
    return "" if private.public_key() == public else "is not the key of this certificate"
