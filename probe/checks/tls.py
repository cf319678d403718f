"""Is a certificate good, and for how many days still?"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from probe.checks._check import Check
from probe.net.endpoint import Endpoint, ascii_host
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.spent import Limit, PhaseDurations
from probe.net.stream import connected
from probe.net.tls import certificates
from probe.net.tls.certificates import Case, Certificate
from probe.net.tls.openssl import HandshakeMode, UntrustedCertificate, sent, trusting
from probe.net.tls.starttls import STARTTLS
from shared.kinds.fields import host_and_port
from shared.kinds.tls import Expiry, Tls
from shared.results import Outcome, Status

_PORT: Final = 443
_DAY_S: Final = 86_400
# How long a chain that OpenSSL trusted is not verified again.
_TRUSTED_S: Final = 600
# How long an authority is not asked again: after an answer, and after a failure.
_ASKED_S: Final = 3_600
_UNKNOWN_S: Final = 300
_DER: Final = 2  # _ssl.ENCODING_DER
_PORTS: Final = {"smtp": 25, "imap": 143, "pop3": 110, "postgres": 5432}
_VERSIONS: Final = ("TLSv1.2", "TLSv1.3")


@dataclass(frozen=True, slots=True)
class _SeenChain:
    """The received certificates, their fingerprint, and the TLS version."""

    chain: Sequence[Certificate]
    print: bytes
    version: str
    ders: Sequence[bytes]


class _RevocationAnswer:
    """The authority's last answer, and when to ask again."""

    __slots__ = ("_print", "_text", "_until")

    def __init__(self) -> None:
        self._print = b""
        self._text = ""
        self._until = 0.0

    async def words(self, net: Net, seen: _SeenChain, limit: Limit) -> str:
        """The error of a revoked certificate, or an empty text; requires that its issuer was sent."""
        from probe.net.tls.revocation import verdict  # noqa: PLC0415 - the library is large and seldom used

        now = time.time()
        if self._print == seen.print and now < self._until:
            return self._text
        issuer = next(
            (
                at
                for at, certificate in enumerate(seen.chain)
                if at and certificate.subject == seen.chain[0].issuer
            ),
            0,
        )
        revocation_verdict = await verdict(net, seen.ders[0], seen.ders[issuer], limit) if issuer else None
        self._print = seen.print
        self._text = revocation_verdict.text if revocation_verdict else ""
        self._until = (
            min(revocation_verdict.until, now + _ASKED_S) if revocation_verdict else now + _UNKNOWN_S
        )
        return self._text


def prepare(kind: Tls) -> Check:
    """Raises ValueError for a configuration that cannot be run."""
    to = Endpoint.of(*host_and_port(kind.domain, _PORTS.get(kind.start_tls or "", _PORT)))
    name = ascii_host(kind.server_name).strip("[]").removesuffix(".") if kind.server_name else to.host
    strict = trusting(kind.trusted_ca) if kind.trusted_ca else None
    asked = _RevocationAnswer() if kind.revocation else None
    proven: dict[bytes, float] = {}  # until when each chain is trusted
    known: dict[bytes, Sequence[Certificate]] = {}  # the last parsed chain: most chains are the same again

    async def check(net: Net, deadline: float) -> Outcome:
        spent, limit = PhaseDurations(), Limit.until(deadline)
        look = partial(_look, net, to, kind.start_tls, known, name=name, limit=limit)
        seen = await look(net.trust.blind(), spent)
        error = ""
        if proven.get(seen.print, 0.0) <= time.monotonic():
            error, seen = await _judge(partial(look, strict or net.trust.strict()), seen, name)
            proven.clear()
        if not error:
            proven[seen.print] = proven.get(seen.print) or time.monotonic() + _TRUSTED_S
        if not error and asked is not None:
            error = await asked.words(net, seen, limit)
        return _outcome(kind, seen, error, spent)

    return check


async def _look(
    net: Net,
    to: Endpoint,
    start_tls: str | None,
    known: dict[bytes, Sequence[Certificate]],
    manner: HandshakeMode,
    spent: PhaseDurations,
    *,
    name: str,
    limit: Limit,
) -> _SeenChain:
    """Shake hands with *manner*, after the plain-text dialogue that it needs."""
    async with connected(net, to, spent, limit) as stream:
        if start_tls is not None:
            await STARTTLS[start_tls](stream)
        sock = await stream.secure(HandshakeMode(manner.wrap, None), name)
        chain = sent(sock)
        ders = [item.public_bytes(_DER) for item in chain]
        print_ = hashlib.sha256(b"".join(ders)).digest()
        if print_ not in known:
            read = _read(chain)
            known.clear()
            known[print_] = read
        return _SeenChain(known[print_], print_, sock.version() or "", ders)


def _read(chain: Sequence[Any]) -> Sequence[Certificate]:
    try:
        found = certificates.read(chain)
    except (ValueError, KeyError):
        found = []
    if not found:
        raise TargetError("tls: the server's certificate cannot be read")
    return found


async def _judge(look: partial[Any], seen: _SeenChain, name: str) -> tuple[str, _SeenChain]:
    """OpenSSL's verdict on the chain, and the certificates, which it does not reveal if it rejects them."""
    try:
        return "", await look(PhaseDurations())
    except UntrustedCertificate as error:
        error.explain(Case(seen.chain, name, time.time(), error.reason))
        return str(error), seen


def _outcome(kind: Tls, seen: _SeenChain, error: str, spent: PhaseDurations) -> Outcome:
    ends = _ends(seen.chain)
    days = (ends - time.time()) / _DAY_S
    near = False
    if error:
        error = f"{error} ({_days(int(days))} left)" if days > 0 and "expired" not in error else error
    elif kind.min_version and _below(seen.version, kind.min_version):
        error = f"tls: {seen.version} was spoken, {kind.min_version} is the least that is wanted"
    elif days < kind.expiry_days:
        near = days > 0
        error = f"tls: certificate expires in {_days(int(days))}, {kind.expiry_days} are wanted"
    status = Status.DOWN if error else Status.UP
    state = Expiry(near, int(ends)).pack()
    return Outcome(status, 0, error, spent.phases(), state, address=spent.address, ends=ends)


def _ends(chain: Sequence[Certificate]) -> float:
    """The first expiry among the leaf and its issuers; other certificates are ignored."""
    ends, last = chain[0].ends, chain[0]
    for _ in chain:
        issuer = next(
            (
                certificate
                for certificate in chain[1:]
                if certificate.subject == last.issuer and certificate is not last
            ),
            None,
        )
        if issuer is None or issuer.subject == issuer.issuer:
            break
        ends, last = min(ends, issuer.ends), issuer
    return ends


def _below(spoken: str, least: str) -> bool:
    return spoken not in _VERSIONS or spoken < f"TLSv{least}"


def _days(count: int) -> str:
    return f"{count} day" if count == 1 else f"{count} days"
