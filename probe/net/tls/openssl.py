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
# rustls verifies each handshake by itself: OpenSSL is asked again for what the two might judge differently.
_TRUSTED_BY_BOTH_S: Final = 3_600
# For so long whoever rustls would not speak with, or would not trust, is left to OpenSSL.
_REFUSED_S: Final = 86_400
_DISTRUSTED_S: Final = 3_600
# The first handshake of rustls with a peer may not take longer, or there is no time left for OpenSSL's.
_TRIAL_S: Final = 1.0
_MOST_PEERS: Final = 10_000
_MOST_CHAINS: Final = 16
_MOST_AUTHORITIES: Final = 500
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
    # OpenSSL 3.2 and newer, once a handshake is done.
    "RECORD_LAYER_FAILURE": "decryption failed or bad record mac",
}

Wrap = Callable[[socket.socket, str], ssl.SSLSocket]
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
    """How to shake hands; *judge* hears of each handshake that is done, and with whom.

    *wrap* makes a connected socket, and the host that it leads to, ready for the handshake; the file
    descriptor stays what it was. What it returns need not be OpenSSL's, but does the same for a check.
    """

    wrap: Wrap
    judge: Judge | None


class _Peer:
    """What is known of a host and port."""

    __slots__ = ("chains", "rust", "rust_after", "rust_knows")

    def __init__(self) -> None:
        self.chains: dict[bytes, float] = {}  # until when each is trusted
        self.rust: Manner | None = None
        self.rust_after = 0.0
        self.rust_knows = False


class Trust:
    """Which chains are trusted from whom: OpenSSL verifies each, and its yes holds for ten minutes.

    Meanwhile a handshake without verification will do if the very same chain comes, for it still proves that
    the peer has the certificate's key. Where rustls is installed it shakes hands in place of that, verifying
    again; if it refuses, OpenSSL is asked at once, whose word is what counts. The contexts are shared: making
    one costs 20 ms, so it is done late.
    """

    __slots__ = ("_authorities", "_blind", "_ca_file", "_clients", "_peers", "_quick", "_rustls", "_strict")

    def __init__(self, ca_file: Path | None, *, rustls: bool = tls_rustls.INSTALLED) -> None:
        self._ca_file = ca_file
        self._rustls = rustls
        self._strict: Manner | None = None
        self._blind: Manner | None = None
        self._quick: Manner | None = None
        self._peers: dict[tuple[str, int], _Peer] = {}
        self._clients = Clients()
        self._authorities: dict[bytes, ssl.SSLContext] = {}  # contexts of rustls that trust one each

    @property
    def library(self) -> str:
        """What shakes hands here, for people."""
        return f"rustls, {ssl.OPENSSL_VERSION}" if self._rustls else ssl.OPENSSL_VERSION

    def manner(self, to: Endpoint) -> Manner:
        """How to shake hands with *to*."""
        if to.client is not None:
            make = self._verifying if to.verify else _trusting_all
            return Manner(partial(_wrap, self._clients.context(to.client, make)), None)
        if not to.verify:
            return self.blind()
        peer, now = self._peers.get((to.host, to.port)), time.monotonic()
        if peer is None or max(peer.chains.values(), default=0.0) <= now:
            return self.strict()
        if peer.rust is not None and peer.rust_after <= now:
            return peer.rust
        if self._quick is None:
            self._quick = Manner(self.blind().wrap, self._recognise)
        return self._quick

    def strict(self) -> Manner:
        if self._strict is None:
            self._strict = Manner(partial(_wrap, self._verifying()), self._remember)
        return self._strict

    def _verifying(self) -> ssl.SSLContext:
        context = trust.verifying(self._ca_file)
        context.hostname_checks_common_name = False  # as browsers and Go do
        return context

    def authorities(self) -> bytes:
        """Those that are trusted, in PEM, for a library that brings others."""
        return _authorities(self._ca_file)

    def blind(self, judge: Judge | None = None) -> Manner:
        """Takes any certificate; with no authority loaded OpenSSL builds no chain, which is the saving."""
        if self._blind is None:
            self._blind = Manner(partial(_wrap, _trusting_all()), None)
        return self._blind if judge is None else Manner(self._blind.wrap, judge)

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

    def _by_rust(self, peer: _Peer, authority: bytes) -> Manner | None:
        """None if rustls can't read *authority*. It need trust no other: to hold many makes it slower."""
        context = self._authorities.get(authority)
        if context is None:
            if len(self._authorities) >= _MOST_AUTHORITIES:
                del self._authorities[next(iter(self._authorities))]
            context = tls_rustls.trusting(authority)
            if context is None:
                return None
            self._authorities[authority] = context
        return Manner(partial(_wrap_rust, context, peer), partial(self._recognise_rust, peer))

    def _recognise(self, sock: ssl.SSLSocket, to: Endpoint) -> None:
        self._demand(to, _print(ders(sock)))

    def _recognise_rust(self, peer: _Peer, sock: ssl.SSLSocket, to: Endpoint) -> None:
        peer.rust_knows = True
        self._demand(to, _print(cast("RustSocket", sock).chain()))

    def _demand(self, to: Endpoint, chain: bytes) -> None:
        peer = self._peers.get((to.host, to.port))
        if peer is None or peer.chains.get(chain, 0.0) <= time.monotonic():
            raise Unproven("tls: certificate is not verified yet")


def _trusting_all() -> ssl.SSLContext:
    context = trust.alike(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class _Connected(ssl.SSLSocket):
    """Asked for its peer, the standard library's leaves itself open if that has reset it just before."""

    def getpeername(self) -> None:
        """It was connected; whether it still is the handshake tells."""


def _wrap(context: ssl.SSLContext, sock: socket.socket, host: str) -> ssl.SSLSocket:
    context.sslsocket_class = _Connected
    return context.wrap_socket(
        sock, server_hostname=host, do_handshake_on_connect=False, suppress_ragged_eofs=True
    )


def _wrap_rust(context: ssl.SSLContext, peer: _Peer, sock: socket.socket, host: str) -> ssl.SSLSocket:
    trial_s = None if peer.rust_knows else _TRIAL_S
    return cast("ssl.SSLSocket", RustSocket(sock, context, host, partial(_refuse, peer), trial_s))


def _refuse(peer: _Peer, error: OSError) -> TargetError:
    """Leave *peer* to OpenSSL, which begins anew with it."""
    distrusted = isinstance(error, ssl.SSLCertVerificationError)
    peer.rust_after = time.monotonic() + (_DISTRUSTED_S if distrusted else _REFUSED_S)
    peer.rust, peer.rust_knows = None, False
    peer.chains.clear()
    return Unproven("tls: rustls would not")


@lru_cache(1)
def _authorities(ca_file: Path | None) -> bytes:
    context = trust.verifying(ca_file)
    return "".join(map(ssl.DER_cert_to_PEM_cert, context.get_ca_certs(binary_form=True))).encode()


def trusting(authorities: str) -> Manner:
    """Trusts *authorities* (PEM) alone, be they roots or not. Raises ValueError if they can't be read."""
    context = trust.alike(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    context.hostname_checks_common_name = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=authorities)
    except ssl.SSLError:
        raise ValueError("trustedCa holds no certificates that can be read") from None
    return Manner(partial(_wrap, context), None)


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
    if error.reason in _NOT_TLS and (phase == "tls" or error.reason not in _REASONS):
        words = f"{peer} does not speak TLS"
    else:
        words = _REASONS.get(error.reason or "") or _plain(error)
    # In TLS 1.3 the server judges a client's certificate after what looks like the end to the client.
    late = phase != "tls" and error.reason != "TLSV13_ALERT_CERTIFICATE_REQUIRED"
    return TargetError(f"tls: {'connection' if late else 'handshake'} failed: {words}")


def _plain(error: ssl.SSLError) -> str:
    """Python has no name for what its OpenSSL learnt since; OpenSSL's own words are there all the same."""
    if error.reason:
        return error.reason.replace("_", " ").lower()
    said = re.sub(r"^\[[^\]]*\] *| *\([^()]*\.c:\d+\)$", "", str(error.strerror or ""))
    return said or "unknown reason"


def ders(sock: ssl.SSLSocket) -> Iterable[bytes]:
    """The chain as the server sent it."""
    return (one.public_bytes(_DER) for one in sent(sock))


def _print(chain: Iterable[bytes]) -> bytes:
    """What tells one chain from another."""
    digest = hashlib.sha256()
    for certificate in chain:
        digest.update(certificate)
    return digest.digest()


def _verified(sock: ssl.SSLSocket) -> list[Any]:
    """The chain up to the authority that it is trusted for, as OpenSSL's objects."""
    return sock._sslobj.get_verified_chain()  # type: ignore[attr-defined, no-any-return]  # noqa: SLF001 - public from 3.13 on only


def _left_s(chain: list[Any]) -> float:
    """How long all of a verified chain, its authority too, stays valid; 0 if that can't be told."""
    try:
        return min(one.ends for one in certificates.read(chain)) - time.time()
    except ValueError:
        return 0.0
