"""TLS by OpenSSL on a non-blocking socket: trust, handshake, errors in words."""

import hashlib
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, cast

from probe.net.endpoint import Endpoint
from probe.net.errors import TargetError
from probe.net.tls import certificates
from probe.net.tls import rustls as tls_rustls
from probe.net.tls.certificates import Case
from probe.net.tls.client_context import Clients
from probe.net.tls.rustls import RustSocket
from shared import trust

_TRUSTED_S: Final = 600
# rustls verifies each handshake itself: OpenSSL verifies again periodically where the two may differ.
_TRUSTED_BY_BOTH_S: Final = 3_600
# How long OpenSSL is used for a peer that rustls cannot connect to or does not trust.
_REFUSED_S: Final = 86_400
_DISTRUSTED_S: Final = 3_600
# Limit of rustls' first handshake with a peer, which leaves time for OpenSSL's.
_TRIAL_S: Final = 1.0
_MOST_PEERS: Final = 10_000
_MOST_CHAINS: Final = 16
_MOST_AUTHORITIES: Final = 500
_DER: Final = 2  # _ssl.ENCODING_DER

# OpenSSL's errors if the peer's answer is no TLS record at all.
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
    # OpenSSL 3.2 and newer, after a handshake.
    "RECORD_LAYER_FAILURE": "decryption failed or bad record mac",
}

Wrap = Callable[[socket.socket, str], ssl.SSLSocket]
Judge = Callable[[ssl.SSLSocket, Endpoint], None]


class UntrustedCertificate(TargetError):
    """A certificate did not verify; *code* is OpenSSL's (X509_V_ERR_*)."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self._verdict = code
        self.explain(Case((), "", 0, reason))

    @property
    def has_more(self) -> bool:
        """Whether the certificate helps to explain the error."""
        return self._verdict in certificates.EXPLAINED

    def explain(self, case: Case) -> None:
        """Describe what is wrong with the certificates of *case*."""
        self.args = (f"tls: {certificates.words(self._verdict, case)}",)


class ChainNotVerified(TargetError):
    """The chain was not verified recently: shake hands again with verification."""


@dataclass(frozen=True, slots=True)
class HandshakeMode:
    """How to shake hands; *judge* is called with each completed handshake and its peer.

    *wrap* prepares a connected socket for the handshake with a host; the file descriptor stays the same.
    Its result need not be an OpenSSL socket, but behaves like one.
    """

    wrap: Wrap
    judge: Judge | None


class _Peer:
    """The TLS state of a host and port."""

    __slots__ = ("chains", "rust", "rust_after", "rust_knows")

    def __init__(self) -> None:
        self.chains: dict[bytes, float] = {}  # until when each is trusted
        self.rust: HandshakeMode | None = None
        self.rust_after = 0.0
        self.rust_knows = False


class TrustedChains:
    """The chains trusted from each peer: OpenSSL verifies each, and its result is valid for ten minutes.

    Meanwhile, a handshake without verification is sufficient if the same chain comes: it still proves that
    the peer has the certificate's key. If rustls is installed, it shakes hands instead, with verification; if
    it fails, OpenSSL is used at once, and its result counts. The contexts are shared, and created on demand:
    one costs 20 ms.
    """

    __slots__ = ("_authorities", "_blind", "_ca_file", "_clients", "_peers", "_quick", "_rustls", "_strict")

    def __init__(self, ca_file: Path | None, *, rustls: bool = tls_rustls.INSTALLED) -> None:
        self._ca_file = ca_file
        self._rustls = rustls
        self._strict: HandshakeMode | None = None
        self._blind: HandshakeMode | None = None
        self._quick: HandshakeMode | None = None
        self._peers: dict[tuple[str, int], _Peer] = {}
        self._clients = Clients()
        self._authorities: dict[bytes, ssl.SSLContext] = {}  # rustls contexts by authority

    @property
    def library(self) -> str:
        """The name of the library in use."""
        return f"rustls, {ssl.OPENSSL_VERSION}" if self._rustls else ssl.OPENSSL_VERSION

    def manner(self, to: Endpoint) -> HandshakeMode:
        """How to shake hands with *to*."""
        if to.client is not None:
            make = self._verifying if to.verify else _trusting_all
            return HandshakeMode(partial(_wrap, self._clients.context(to.client, make)), None)
        if not to.verify:
            return self.blind()
        peer, now = self._peers.get((to.host, to.port)), time.monotonic()
        if peer is None or max(peer.chains.values(), default=0.0) <= now:
            return self.strict()
        if peer.rust is not None and peer.rust_after <= now:
            return peer.rust
        if self._quick is None:
            self._quick = HandshakeMode(self.blind().wrap, self._recognise)
        return self._quick

    def strict(self) -> HandshakeMode:
        if self._strict is None:
            self._strict = HandshakeMode(partial(_wrap, self._verifying()), self._remember)
        return self._strict

    def _verifying(self) -> ssl.SSLContext:
        context = trust.verifying(self._ca_file)
        context.hostname_checks_common_name = False  # as browsers and Go do
        return context

    def authorities(self) -> bytes:
        """The trusted authorities in PEM, for libraries with their own."""
        return _authorities(self._ca_file)

    def blind(self, judge: Judge | None = None) -> HandshakeMode:
        """Accept any certificate; without authorities OpenSSL builds no chain, which saves time."""
        if self._blind is None:
            self._blind = HandshakeMode(partial(_wrap, _trusting_all()), None)
        return self._blind if judge is None else HandshakeMode(self._blind.wrap, judge)

    def _remember(self, sock: ssl.SSLSocket, to: Endpoint) -> None:
        chain, now = _verified(sock), time.monotonic()
        peer = self._peers.pop((to.host, to.port), None) or _Peer()
        if len(self._peers) >= _MOST_PEERS:
            del self._peers[next(iter(self._peers))]
        if len(peer.chains) >= _MOST_CHAINS:
            del peer.chains[next(iter(peer.chains))]
        if self._rustls and peer.rust_after <= now:
            peer.rust = self._by_rust(peer, chain[-1].public_bytes(_DER))
        most_s = _TRUSTED_S if peer.rust is None else _TRUSTED_BY_BOTH_S
        peer.chains[_print(ders(sock))] = now + min(most_s, _left_s(chain))
        self._peers[to.host, to.port] = peer

    def _by_rust(self, peer: _Peer, authority: bytes) -> HandshakeMode | None:
        """None if rustls cannot read *authority*. Only that one is trusted: many would make it slower."""
        context = self._authorities.get(authority)
        if context is None:
            if len(self._authorities) >= _MOST_AUTHORITIES:
                del self._authorities[next(iter(self._authorities))]
            context = tls_rustls.trusting(authority)
            if context is None:
                return None
            self._authorities[authority] = context
        return HandshakeMode(partial(_wrap_rust, context, peer), partial(self._recognise_rust, peer))

    def _recognise(self, sock: ssl.SSLSocket, to: Endpoint) -> None:
        self._demand(to, _print(ders(sock)))

    def _recognise_rust(self, peer: _Peer, sock: ssl.SSLSocket, to: Endpoint) -> None:
        peer.rust_knows = True
        self._demand(to, _print(cast("RustSocket", sock).chain()))

    def _demand(self, to: Endpoint, chain: bytes) -> None:
        peer = self._peers.get((to.host, to.port))
        if peer is None or peer.chains.get(chain, 0.0) <= time.monotonic():
            raise ChainNotVerified("tls: certificate is not verified yet")


def _trusting_all() -> ssl.SSLContext:
    context = trust.alike(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class _Connected(ssl.SSLSocket):
    """If the peer has just reset, getpeername() fails and the standard library leaks the socket."""

    def getpeername(self) -> None:
        """Assume that it is connected; the handshake will tell."""


def _wrap(context: ssl.SSLContext, sock: socket.socket, host: str) -> ssl.SSLSocket:
    context.sslsocket_class = _Connected
    return context.wrap_socket(
        sock, server_hostname=host, do_handshake_on_connect=False, suppress_ragged_eofs=True
    )


def _wrap_rust(context: ssl.SSLContext, peer: _Peer, sock: socket.socket, host: str) -> ssl.SSLSocket:
    trial_s = None if peer.rust_knows else _TRIAL_S
    return cast("ssl.SSLSocket", RustSocket(sock, context, host, partial(_refuse, peer), trial_s))


def _refuse(peer: _Peer, error: OSError) -> TargetError:
    """Use OpenSSL for *peer* from now on, and restart the check with it."""
    distrusted = isinstance(error, ssl.SSLCertVerificationError)
    peer.rust_after = time.monotonic() + (_DISTRUSTED_S if distrusted else _REFUSED_S)
    peer.rust, peer.rust_knows = None, False
    peer.chains.clear()
    return ChainNotVerified("tls: rustls would not")


@lru_cache(1)
def _authorities(ca_file: Path | None) -> bytes:
    context = trust.verifying(ca_file)
    return "".join(map(ssl.DER_cert_to_PEM_cert, context.get_ca_certs(binary_form=True))).encode()


def trusting(authorities: str) -> HandshakeMode:
    """Trust only *authorities* (PEM), roots or not. Raises ValueError if they cannot be read."""
    context = trust.alike(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    context.hostname_checks_common_name = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=authorities)
    except ssl.SSLError:
        raise ValueError("trustedCa holds no certificates that can be read") from None
    return HandshakeMode(partial(_wrap, context), None)


def sent(sock: ssl.SSLSocket) -> list[Any]:
    """The received chain, as OpenSSL's objects."""
    return sock._sslobj.get_unverified_chain() or []  # type: ignore[attr-defined]  # noqa: SLF001 - public from 3.13 on only


def fault(error: ssl.SSLError, peer: str, *, phase: str) -> TargetError:
    """The readable error of a handshake, or of a later read or write."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return UntrustedCertificate(error.verify_code, error.verify_message)
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return TargetError(
            f"{'tls: handshake failed' if phase == 'tls' else phase}: connection closed by {peer}"
        )
    if error.reason in _NOT_TLS and (phase == "tls" or error.reason not in _REASONS):
        words = f"{peer} does not speak TLS"
    else:
        words = _REASONS.get(error.reason or "") or _plain(error)
    # In TLS 1.3, the client finishes before the server verifies its certificate.
    late = phase != "tls" and error.reason != "TLSV13_ALERT_CERTIFICATE_REQUIRED"
    return TargetError(f"tls: {'connection' if late else 'handshake'} failed: {words}")


def _plain(error: ssl.SSLError) -> str:
    """OpenSSL's own text, for errors that Python does not name."""
    if error.reason:
        return error.reason.replace("_", " ").lower()
    text = re.sub(r"^\[[^\]]*\] *| *\([^()]*\.c:\d+\)$", "", str(error.strerror or ""))
    return text or "unknown reason"


def ders(sock: ssl.SSLSocket) -> Iterable[bytes]:
    """The received chain, in DER."""
    return (item.public_bytes(_DER) for item in sent(sock))


def _print(chain: Iterable[bytes]) -> bytes:
    """A fingerprint of the chain."""
    digest = hashlib.sha256()
    for certificate in chain:
        digest.update(certificate)
    return digest.digest()


def _verified(sock: ssl.SSLSocket) -> list[Any]:
    """The chain up to its trusted authority, as OpenSSL's objects."""
    return sock._sslobj.get_verified_chain()  # type: ignore[attr-defined, no-any-return]  # noqa: SLF001 - public from 3.13 on only


def _left_s(chain: list[Any]) -> float:
    """Seconds until the first certificate of a verified chain expires; 0 if unknown."""
    try:
        return min(certificate.ends for certificate in certificates.read(chain)) - time.time()
    except ValueError:
        return 0.0
