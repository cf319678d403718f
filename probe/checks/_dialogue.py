"""Shared by checks that talk with a server in turns: connect, talk, outcome."""

import ssl
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from probe.checks._check import Check
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.errors import ProbeError, TargetError
from probe.net.spent import Limit, PhaseDurations
from probe.net.stream import Stream, connected
from probe.net.tls import certificates, expiry
from probe.net.tls.certificates import Case, Certificate
from probe.net.tls.openssl import UntrustedCertificate, sent
from shared.results import Outcome, Status

T = TypeVar("T")
MysqlConversation = Callable[[Net, Stream], Awaitable[T]]


async def secure(net: Net, stream: Stream) -> None:
    """Upgrade to TLS, verifying the certificate if configured."""
    usual = net.trust.strict() if stream.to.verify else net.trust.blind()
    stream.ends = expiry.earliest(await stream.secure(stream.manner or usual))


async def conversation(
    net: Net, to: Endpoint, spent: PhaseDurations, limit: Limit, talk: MysqlConversation[T]
) -> T:
    """The result of *talk* with *to*. Raises as `connected` does."""
    try:
        async with connected(net, to, spent, limit) as stream:
            found = await talk(net, stream)
            spent.ends = stream.ends
            return found
    except UntrustedCertificate as error:
        if error.has_more:
            await _explain(net, to, spent.address, limit, talk, error)
        raise


async def _explain(
    net: Net,
    to: Endpoint,
    address: str,
    limit: Limit,
    talk: MysqlConversation[T],
    error: UntrustedCertificate,
) -> None:
    """Connect again to read the certificate: OpenSSL reveals only trusted ones."""
    chain: list[Certificate] = []

    def look(sock: ssl.SSLSocket, _to: Endpoint) -> None:
        chain.extend(certificates.read(sent(sock)))
        raise TargetError("seen")

    # If that fails, keep the original error.
    with suppress(TargetError, ProbeError, ValueError):
        async with connected(net, to, PhaseDurations(), limit, addresses=(address,)) as stream:
            stream.manner = net.trust.blind(look)
            await talk(net, stream)
    error.explain(Case(chain, to.host, time.time(), error.reason))


def dialogue(to: Endpoint, talk: MysqlConversation[None]) -> Check:
    """A check that is up if *talk* succeeds; with *to.tls*, it starts after the handshake."""

    async def whole(net: Net, stream: Stream) -> None:
        if to.tls:
            await secure(net, stream)
            stream.phase = "greeting"
        await talk(net, stream)

    async def check(net: Net, deadline: float) -> Outcome:
        spent = PhaseDurations()
        await conversation(net, to, spent, Limit.until(deadline), whole)
        return Outcome(Status.UP, phases=spent.phases(), address=spent.address, ends=spent.ends)

    return check
