"""Is a TCP port open?"""

from probe.checks._check import Check
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.spent import Limit, Spent
from shared.kinds.tcp import Tcp
from shared.results import Outcome, Status


def prepare(kind: Tcp) -> Check:
    endpoint = Endpoint.of(kind.host, kind.port)

    async def check(net: Net, deadline: float) -> Outcome:
        spent = Spent()
        await net.converse(endpoint, spent, Limit.until(deadline))
        return Outcome(Status.UP, phases=spent.phases())

    return check
