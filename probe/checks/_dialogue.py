"""What the checks that talk with a server turn by turn share: connect, talk, and the outcome."""

from collections.abc import Awaitable, Callable

from probe.checks._check import Check
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.spent import Limit, Spent
from probe.net.stream import Stream, connected
from shared.results import Outcome, Status


async def secure(net: Net, stream: Stream) -> None:
    """Turn to TLS, verifying if that is wanted."""
    await stream.secure(net.trust.strict() if stream.to.verify else net.trust.blind())


def dialogue(to: Endpoint, talk: Callable[[Net, Stream], Awaitable[None]]) -> Check:
    """A check that is up if *talk* comes to its end; with *to.tls*, it begins after the handshake."""

    async def check(net: Net, deadline: float) -> Outcome:
        spent = Spent()
        async with connected(net, to, spent, Limit.until(deadline)) as stream:
            if to.tls:
                await secure(net, stream)
                stream.phase = "greeting"
            await talk(net, stream)
        return Outcome(Status.UP, phases=spent.phases(), address=spent.address)

    return check
