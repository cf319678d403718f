"""Expiry of the certificates that a server sent."""

from functools import lru_cache
from ssl import SSLSocket

from probe.net.tls import openssl
from probe.net.tls.rustls import RustSocket

_MOST_KEPT = 4_096


def earliest(sock: SSLSocket | RustSocket) -> float | None:
    """Unix time at which the first certificate expires; None if none is readable."""
    if isinstance(sock, RustSocket):
        return _earliest(tuple(sock.chain()))
    return _earliest(tuple(openssl.ders(sock)))


@lru_cache(_MOST_KEPT)
def _earliest(chain: tuple[bytes, ...]) -> float | None:
    from cryptography import x509  # noqa: PLC0415 - 9 MB that a probe without TLS checks does not need

    try:
        return min(x509.load_der_x509_certificate(der).not_valid_after_utc.timestamp() for der in chain)
    except ValueError:
        return None
