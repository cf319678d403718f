"""Does an HTTP or HTTPS endpoint answer as it should?"""

from typing import Final

from probe.checks._check import Check
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.http1 import HttpReply
from probe.net.request import Request, request
from probe.net.spent import Limit, Spent
from shared.kinds.http import Http, status_ranges
from shared.results import Outcome, Status

_MOST_REDIRECTS: Final = 10
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

Ranges = tuple[tuple[int, int], ...]


def prepare(kind: Http) -> Check:
    """Raises ValueError for a configuration that cannot be run."""
    first = request(kind)
    expected = status_ranges(kind.expected_status)
    words = ", ".join(f"{low}-{high}" if low != high else str(low) for low, high in expected)
    # A monitor that can only be content with a redirect wants to see it, not where it leads.
    follow = kind.follow_redirects and not all(low >= 300 and high < 400 for low, high in expected)

    async def check(net: Net, deadline: float) -> Outcome:
        spent, limit = Spent(), Limit.until(deadline)
        code = await _ask(net, first, spent, limit, most=kind.max_body_bytes, follow=follow)
        for low, high in expected:
            if low <= code <= high:
                return Outcome(Status.UP, code, phases=spent.phases())
        return Outcome(Status.DOWN, code, f"status {code}, expected {words}", spent.phases())

    return check


async def _ask(net: Net, asked: Request, spent: Spent, limit: Limit, *, most: int, follow: bool) -> int:
    """The status at the end of all redirects."""
    reply = HttpReply(head=asked.method == "HEAD", most=most)
    await net.converse(asked.endpoint, spent, limit, asked.data, reply)
    hops = 0
    while follow and reply.code in _REDIRECTS and reply.location is not None:
        hops += 1
        if hops > _MOST_REDIRECTS:
            raise TargetError(f"redirect: more than {_MOST_REDIRECTS}", code=reply.code, spent=spent)
        asked = _follow(asked, reply, spent)
        reply = HttpReply(head=asked.method == "HEAD", most=most)
        await net.converse(asked.endpoint, spent, limit, asked.data, reply)
    return reply.code


def _follow(asked: Request, reply: HttpReply, spent: Spent) -> Request:
    try:
        return asked.follow(reply.location or b"", reply.code)
    except TargetError as error:
        error.code, error.spent = reply.code, spent
        raise
