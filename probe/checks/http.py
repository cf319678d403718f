"""Does an HTTP or HTTPS endpoint answer as it should?"""

import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import lru_cache, partial
from typing import Any, Final

from probe.checks._check import Check
from probe.net.assertions import CheckAnswer, compile_aside
from probe.net.bodies import Body
from probe.net.curl.route import ProxyRoute, way
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.http1 import HttpReply
from probe.net.request import Request, request
from probe.net.spent import Limit, PhaseDurations
from probe.schedule import evidence
from shared.clock import boot_us
from shared.evidence import Evidence, redacted
from shared.kinds.http import Http, status_ranges
from shared.results import Outcome, Status
from shared.secrets import secret_texts

_MOST_REDIRECTS: Final = 10
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_OF_BODY: Final = frozenset({"body", "json"})
_DAY_S: Final = 86_400

Verdict = Callable[[HttpReply, PhaseDurations, Limit], Awaitable[str]]
# Sends one request and feeds the response to the reply.
MysqlConversation = Callable[[Net, Request, PhaseDurations, Limit, HttpReply], Awaitable[None]]


def prepare(kind: Http) -> Check:
    """Raises ValueError for a configuration that cannot be run."""
    first = request(kind)
    by = way(kind)
    # A proxy's address does not tell where the target is.
    talk, direct = _talk(by), by is None or by.proxy is None
    verdict = _verdict(kind)
    expected = status_ranges(kind.expected_status)
    # A monitor that expects a redirect must see it rather than follow it.
    follow = kind.follow_redirects and not all(low >= 300 and high < 400 for low, high in expected)
    listen = _listener(kind)

    async def check(net: Net, deadline: float) -> Outcome:
        began_us = boot_us()
        spent, limit, replies = PhaseDurations(), Limit.until(deadline), list[HttpReply]()
        saw = partial(_saw, kind, spent, replies)
        try:
            code = await _ask(net, talk, first, spent, limit, replies, listen, follow=follow)
        except TargetError as error:
            error.evidence = saw
            if direct:
                raise
            return Outcome(Status.DOWN, error.code, str(error), error.phases, evidence=saw)
        # Expensive assertions wait before they are evaluated.
        took_us = boot_us() - began_us if kind.assertions else None
        fault = await verdict(replies[-1], spent, limit)
        status = Status.DOWN if fault else Status.UP
        return Outcome(
            status,
            code,
            fault,
            spent.phases(),
            evidence=saw if fault else None,
            address=spent.address if direct else "",
            took_us=took_us,
            ends=spent.ends,
        )

    return check


def _talk(by: ProxyRoute | None) -> MysqlConversation:
    if by is None:
        return _plainly
    from probe.net.curl import exchange  # noqa: PLC0415 - 8 MB that few probes need

    return partial(exchange.converse, by)


def _plainly(
    net: Net, asked: Request, spent: PhaseDurations, limit: Limit, reply: HttpReply
) -> Coroutine[Any, Any, None]:
    return net.converse(asked.endpoint, spent, limit, asked.data, reply)


def _listener(kind: Http) -> Callable[[str], HttpReply]:
    """A factory of replies that keep what the assertions need, by method."""
    most = kind.max_body_bytes
    if not kind.assertions:
        return lambda method: HttpReply(head=method == "HEAD", most=most)
    of_body = any(assertion.source in _OF_BODY for assertion in kind.assertions)

    def listen(method: str) -> HttpReply:
        return HttpReply(head=method == "HEAD", most=most, body=Body(most) if of_body else None, headers=[])

    return listen


def _verdict(kind: Http) -> Verdict:
    """A function that returns the error of a response, or an empty text."""
    expected = status_ranges(kind.expected_status)
    words = ", ".join(f"{low}-{high}" if low != high else str(low) for low, high in expected)
    good = _codes(expected)
    asserted = compile_aside(kind.assertions) if kind.assertions else None
    # An assertion on the status replaces the expected status.
    any_status = kind.expected_status is None and any(
        assertion.source == "status" for assertion in kind.assertions
    )

    async def verdict(reply: HttpReply, spent: PhaseDurations, limit: Limit) -> str:
        if reply.code not in good and not any_status:
            return f"status {reply.code}, expected {words}"
        if asserted is None:
            return ""
        return _plain(await asserted(_answer(reply, spent, limit)), kind)

    return verdict


def _answer(reply: HttpReply, spent: PhaseDurations, limit: Limit) -> CheckAnswer:
    return CheckAnswer(
        code=reply.code,
        headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in reply.headers or ()],
        body=reply.text,
        took_ms=(time.monotonic() - limit.began) * 1000,
        days=None if spent.ends is None else (spent.ends - time.time()) / _DAY_S,
    )


def _plain(fault: str, kind: Http) -> str:
    """The error without secrets: a response may repeat secrets of the request."""
    return redacted(Evidence(body=fault), secret_texts(kind)).body if fault else ""


def _saw(kind: Http, spent: PhaseDurations, replies: Sequence[HttpReply]) -> Evidence:
    return evidence.of_reply(spent, replies[-1], secret_texts(kind))


@lru_cache
def _codes(expected: tuple[tuple[int, int], ...]) -> frozenset[int]:
    """All codes of the ranges. Monitors with equal ranges share the set: 200 codes take 10 kB."""
    return frozenset(code for low, high in expected for code in range(low, high + 1))


async def _ask(
    net: Net,
    talk: MysqlConversation,
    asked: Request,
    spent: PhaseDurations,
    limit: Limit,
    replies: list[HttpReply],
    listen: Callable[[str], HttpReply],
    *,
    follow: bool,
) -> int:
    """The status after all redirects; each response is appended to *replies*."""
    reply = listen(asked.method)
    replies.append(reply)
    await talk(net, asked, spent, limit, reply)
    hops = 0
    while follow and reply.code in _REDIRECTS and reply.location is not None:
        hops += 1
        if hops > _MOST_REDIRECTS:
            raise TargetError(f"redirect: more than {_MOST_REDIRECTS}", code=reply.code, spent=spent)
        asked = _follow(asked, reply, spent)
        reply = listen(asked.method)
        replies.append(reply)
        await talk(net, asked, spent, limit, reply)
    return reply.code


def _follow(asked: Request, reply: HttpReply, spent: PhaseDurations) -> Request:
    try:
        return asked.follow(reply.location or b"", reply.code)
    except TargetError as error:
        error.code, error.spent = reply.code, spent
        raise
