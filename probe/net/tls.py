"""TLS on a socket that does not block: what is trusted, and what went wrong in words."""

import hashlib
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from probe.net import certificates
from probe.net.certificates import Case
from probe.net.endpoint import Endpoint
from probe.net.errors import TargetError

_TRUSTED_S: Final = 600
_MOST_PEERS: Final = 10_000
_MOST_CHAINS: Final = 16
_DER: Final = 2  # _ssl.ENCODING_DER

# What OpenSSL calls it when the other end answers with something that is no TLS record at all.
_NOT_TLS: Final = frozenset(
    {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"}
)
_REASONS: Final = {
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "refused: no cipher in common, or a client certificate is wanted",
    "TLSV1_ALERT_PROTOCOL_VERSION": "no TLS version in common",
    "UNSUPPORTED_PROTOCOL": "no TLS version in common",
    "TLSV1_UNRECOGNIZED_NAME": "the server does not know this host",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "the server demands a client certificate",
    "TLSV1_ALERT_UNKNOWN_CA": "the server does not trust us",
    "TLSV1_ALERT_INTERNAL_ERROR": "internal error of the server",
    "DH_KEY_TOO_SMALL": "the server's key exchange is too weak",
}

Judge = Callable[[ssl.SSLSocket, Endpoint], None]


class Distrusted(TargetError):
    """A certificate did not verify, said *code* of OpenSSL (X509_V_ERR_*)."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self._verdict = code
        self.explain(Case((), "", 0, reason))

    @property
    def has_more(self) -> bool:
        """Would the certificate say more?"""
        return self._verdict in certificates.EXPLAINED

    def explain(self, case: Case) -> None:
        """Say what is wrong with the certificates of *case*."""
        self.args = (f"tls: {certificates.words(self._verdict, case)}",)


class Unproven(TargetError):
    """The chain is not one that was verified lately: shake hands again, verifying."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How to shake hands; *judge* hears of each handshake that is done, and with whom."""

    context: ssl.SSLContext
    judge: Judge | None

    def wrap(self, sock: socket.socket, host: str) -> ssl.SSLSocket:
        """Ready for its handshake, with the file descriptor that it had."""
        return self.context.wrap_socket(
            sock, server_hostname=host, do_handshake_on_connect=False, suppress_ragged_eofs=True
        )


class Trust:
    """Which chains are trusted from whom: OpenSSL verifies each, and its yes holds for ten minutes.

    Meanwhile a handshake without verification will do if the very same chain comes, for it still proves that
    the peer has the certificate's key. The contexts are shared: making one costs 20 ms, so it is done late.
    """

    __slots__ = ("_blind", "_ca_file", "_proven", "_quick", "_strict")

    def __init__(self, ca_file: Path | None) -> None:
        self._ca_file = ca_file
        self._strict: Manner | None = None
        self._quick: Manner | None = None
        self._blind: Manner | None = None
        self._proven: dict[tuple[str, int], dict[bytes, float]] = {}

    def manner(self, to: Endpoint) -> Manner:
        """How to shake hands with *to*."""
        if not to.verify:
            return self.blind()
        proven = self._proven.get((to.host, to.port))
        if proven is None or max(proven.values()) <= time.monotonic():
            return self.strict()
        if self._quick is None:
            self._quick = Manner(self.blind().context, self._recognise)
        return self._quick

    def strict(self) -> Manner:
        if self._strict is None:
            context = ssl.create_default_context(cafile=self._ca_file)
            context.hostname_checks_common_name = False  # as browsers and Go do
            self._strict = Manner(context, self._remember)
        return self._strict

    def blind(self, judge: Judge | None = None) -> Manner:
        """Takes any certificate; with no authority loaded OpenSSL builds no chain, which is the saving."""
        if self._blind is None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            self._blind = Manner(context, None)
        return self._blind if judge is None else Manner(self._blind.context, judge)

    def _remember(self, sock: ssl.SSLSocket, to: Endpoint) -> None:
        left_s = _left_s(sock)
        proven = self._proven.pop((to.host, to.port), {})
        if len(self._proven) >= _MOST_PEERS:
            del self._proven[next(iter(self._proven))]
        if len(proven) >= _MOST_CHAINS:
            del proven[next(iter(proven))]
        proven[_print(sock)] = time.monotonic() + min(_TRUSTED_S, left_s)
        self._proven[to.host, to.port] = proven

    def _recognise(self, sock: ssl.SSLSocket, to: Endpoint) -> None:
        until = self._proven.get((to.host, to.port), {}).get(_print(sock))
        if until is None or until <= time.monotonic():
            raise Unproven("tls: certificate is not verified yet")


def sent(sock: ssl.SSLSocket) -> list[Any]:
    """The chain as the server sent it, as OpenSSL's objects."""
    return sock._sslobj.get_unverified_chain() or []  # type: ignore[attr-defined]  # noqa: SLF001 - public from 3.13 on only


def fault(error: ssl.SSLError, peer: str, *, phase: str) -> TargetError:
    """The error of a handshake, or of anything read or written after it, as people should read it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Distrusted(error.verify_code, error.verify_message)
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return TargetError(
            f"{'tls: handshake failed' if phase == 'tls' else phase}: connection closed by {peer}"
        )
    if error.reason in _NOT_TLS:
        words = f"{peer} does not speak TLS"
    else:
        reason = error.reason or "unknown reason"
        words = _REASONS.get(reason, reason.replace("_", " ").lower())
    # In TLS 1.3 the server judges a client's certificate after what looks like the end to the client.
    late = phase != "tls" and error.reason != "TLSV13_ALERT_CERTIFICATE_REQUIRED"
    return TargetError(f"tls: {'connection' if late else 'handshake'} failed: {words}")


def _print(sock: ssl.SSLSocket) -> bytes:
    """What tells one chain from another."""
    digest = hashlib.sha256()
    for certificate in sent(sock):
        digest.update(certificate.public_bytes(_DER))
    return digest.digest()


def _left_s(sock: ssl.SSLSocket) -> float:
    """How long all of the verified chain, its authority too, stays valid; 0 if that can't be told."""
    chain = sock._sslobj.get_verified_chain()  # type: ignore[attr-defined]  # noqa: SLF001 - public from 3.13 on only
    try:
        return min(one.ends for one in certificates.read(chain)) - time.time()
    except ValueError:
        return 0.0
