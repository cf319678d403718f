"""Is a TCP port open, and does it answer as it should?"""

import time
from functools import partial

from probe.checks._check import Check
from probe.net.banner import Banner
from probe.net.endpoint import Endpoint, show
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.spent import Limit, PhaseDurations
from shared.evidence import Evidence, redacted
from shared.kinds.tcp import Tcp
from shared.patterns import finder
from shared.results import Outcome, Status
from shared.secrets import secret_texts


def prepare(kind: Tcp) -> Check:
    """Raises ValueError for an *expect* with an invalid pattern."""
    endpoint = Endpoint.of(kind.host, kind.port, tls=kind.tls, verify=kind.verify_tls)
    if kind.send or kind.expect:
        return _talking(kind, endpoint)

    async def check(net: Net, deadline: float) -> Outcome:
        spent = PhaseDurations()
        await net.converse(endpoint, spent, Limit.until(deadline))
        return Outcome(Status.UP, phases=spent.phases(), address=spent.address, ends=spent.ends)

    return check


def _talking(kind: Tcp, endpoint: Endpoint) -> Check:
    words, looked_for, wanted = (kind.send or "").encode(), finder(kind.expect or ""), repr(kind.expect or "")

    async def check(net: Net, deadline: float) -> Outcome:
        spent, limit, banner = PhaseDurations(), Limit.until(deadline), Banner(looked_for, wanted)
        try:
            await net.converse(endpoint, spent, limit, words, banner)
        except TargetError as error:
            if banner.phase == "expect" and time.monotonic() >= deadline:
                error.args = (banner.late(limit.words),)
            error.evidence = partial(_saw, kind, spent, banner)
            raise
        return Outcome(Status.UP, phases=spent.phases(), address=spent.address, ends=spent.ends)

    return check


def _saw(kind: Tcp, spent: PhaseDurations, banner: Banner) -> Evidence:
    address = show(spent.address, spent.port) if spent.address else ""
    return redacted(Evidence(address, body=banner.text), secret_texts(kind))
