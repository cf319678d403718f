"""TLS on a socket that does not block: what is trusted, and what went wrong in words."""

import socket
import ssl
from pathlib import Path

from probe.net.endpoint import Endpoint
from probe.net.errors import TargetError

# OpenSSL's numbers (X509_V_ERR_*) -> words.
_VERIFY = {
    9: "certificate is not valid yet",
    10: "certificate has expired",
    18: "self-signed certificate",
    19: "certificate is signed by an authority that is not trusted",
    20: "certificate's issuer is not known, or missing from the chain",
    21: "certificate's issuer is not known, or missing from the chain",
    23: "certificate has been revoked",
}
_WRONG_NAME = (62, 64)

# What OpenSSL calls it when the other end answers with something that is no TLS record at all.
_NOT_TLS = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"})


class Trust:
    """The TLS contexts, shared by all connections; making one costs 20 ms, so only when first needed."""

    __slots__ = ("_ca_file", "_checked", "_unchecked")

    def __init__(self, ca_file: Path | None) -> None:
        self._ca_file = ca_file
        self._checked: ssl.SSLContext | None = None
        self._unchecked: ssl.SSLContext | None = None

    def wrap(self, sock: socket.socket, to: Endpoint) -> ssl.SSLSocket:
        """Ready for its handshake, with the file descriptor that it had."""
        context = self._verifying() if to.verify else self._lax()
        return context.wrap_socket(
            sock, server_hostname=to.host, do_handshake_on_connect=False, suppress_ragged_eofs=True
        )

    def _verifying(self) -> ssl.SSLContext:
        if self._checked is None:
            self._checked = ssl.create_default_context(cafile=self._ca_file)
        return self._checked

    def _lax(self) -> ssl.SSLContext:
        if self._unchecked is None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            self._unchecked = context
        return self._unchecked


def fault(error: ssl.SSLError, to: Endpoint, peer: str) -> TargetError:
    """The error of a handshake, or of anything read or written after it, as people should read it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _WRONG_NAME:
            return TargetError(f"tls: certificate is not for {to.host}")
        words = _VERIFY.get(error.verify_code, f"certificate does not verify: {error.verify_message}")
        return TargetError(f"tls: {words}")
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return TargetError(f"tls: handshake failed: connection closed by {peer}")
    if error.reason in _NOT_TLS:
        return TargetError(f"tls: handshake failed: {peer} does not speak TLS")
    reason = (error.reason or "unknown reason").replace("_", " ").lower()
    return TargetError(f"tls: handshake failed: {reason}")
