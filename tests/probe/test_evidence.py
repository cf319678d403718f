"""A failed check tells what it saw: where it connected, and how the answer began, without what is secret."""

import asyncio
import gzip

import pytest

from probe.checks import CHECKS
from probe.link.plan import Order, ProbeAssignment, prepare
from probe.net.engine import Net
from probe.schedule.evidence import worth_telling
from probe.schedule.runner import CheckRun, run
from probe.schedule.scheduler import Scheduler
from probe.spool.batches import Batcher
from shared.evidence import HIDDEN, MAX_BODY_BYTES, MAX_HEADERS, Evidence
from shared.kinds.http import Auth, Http
from shared.kinds.tcp import Tcp
from shared.results import Outcome, Run, Status
from shared.wire.convert import decode
from tests.probe.targets import says, says_then_stalls, shut_port, target

pytestmark = pytest.mark.races

BAD = b"HTTP/1.1 503 Busy\r\n"


async def seen_of(kind: Http | Tcp, timeout_s: float = 5.0) -> Evidence:
    """What a check that must fail tells."""
    net = Net()
    try:
        outcome = (await run(CHECKS[type(kind).__name__.lower()](kind), net, timeout_s)).outcome
    finally:
        net.close()
    assert outcome.status is Status.DOWN
    assert outcome.evidence is not None
    return outcome.evidence()


async def test_a_wrong_status_comes_with_headers_and_body() -> None:
    answer = BAD + b"Server: shop\r\nRetry-After: 30\r\nContent-Length: 4\r\n\r\nbusy"
    with target(says(answer)) as server:
        seen = await seen_of(Http(url=server.url))
    headers = (("Server", "shop"), ("Retry-After", "30"), ("Content-Length", "4"))
    assert seen == Evidence(server.peer, headers, "busy")


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        pytest.param(
            b"Transfer-Encoding: chunked\r\n\r\n2\r\nbu\r\n2\r\nsy\r\n0\r\n\r\n", "busy", id="chunks"
        ),
        pytest.param(
            b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(b"busy"),
            "busy",
            id="packed",
        ),
        pytest.param(
            b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(b"busy")[:-6],
            "busy",
            id="cut",
        ),
        pytest.param(b"\r\n", "", id="nothing"),
        pytest.param(b"\r\n" + b"x" * 100_000, "x" * MAX_BODY_BYTES, id="much"),
        pytest.param(b"\r\n\xff\x00ok\x1b[2J", "\ufffd\ufffdok\ufffd[2J", id="no text"),
    ],
)
async def test_the_body_is_shown_as_people_would_read_it(answer: bytes, body: str) -> None:
    with target(says(BAD + answer)) as server:
        seen = await seen_of(Http(url=server.url))
    assert seen.body == body


async def test_of_many_headers_the_first_are_told() -> None:
    lines = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 50) for number in range(60))
    with target(says(BAD + lines + b"\r\n")) as server:
        seen = await seen_of(Http(url=server.url))
    assert [name for name, _ in seen.headers] == [f"X-{number}" for number in range(MAX_HEADERS)]


async def test_a_final_answer_is_told_and_not_the_hints_before_it() -> None:
    with target(says(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + BAD + b"A: b\r\n\r\n")) as server:
        seen = await seen_of(Http(url=server.url))
    assert seen.headers == (("A", "b"),)


@pytest.mark.parametrize(
    ("answer", "headers", "body"),
    [
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", (), "SSH-2.0-OpenSSH_9.2\r\n", id="no HTTP"),
        pytest.param(
            BAD + b"A: b\r\nContent-Length: 9\r\n\r\nhalf",
            (("A", "b"), ("Content-Length", "9")),
            "half",
            id="half a body",
        ),
    ],
)
async def test_a_broken_answer_is_told_as_far_as_it_came(
    answer: bytes, headers: tuple[tuple[str, str], ...], body: str
) -> None:
    with target(says(answer)) as server:
        seen = await seen_of(Http(url=server.url))
    assert (seen.headers, seen.body) == (headers, body)


async def test_a_stalled_answer_is_told_as_far_as_it_came() -> None:
    with target(says_then_stalls(BAD + b"Content-Length: 9\r\n\r\nhalf")) as server:
        seen = await seen_of(Http(url=server.url), timeout_s=0.3)
    assert seen.body == "half"


async def test_a_target_that_repeats_the_request_tells_no_secret() -> None:
    config = Http(
        url="http://127.0.0.1/",
        headers={"X-Env": "header-secret", "Cookie": "a=cookie-secret"},
        body='{"pin": "body-secret"}',
        auth=Auth(type="bearer", token="token-secret"),
    )
    repeated = b"header-secret a=cookie-secret body-secret token-secret"
    answer = BAD + b"X-Echo: " + repeated + b"\r\nSet-Cookie: sid=new-secret\r\n\r\n" + repeated
    with target(says(answer)) as server:
        seen = await seen_of(_at(config, server.port))
    assert "-secret" not in "".join(seen.texts)
    assert ("Set-Cookie", HIDDEN) in seen.headers


async def test_where_nobody_answers_the_address_is_told() -> None:
    with shut_port() as port:
        for kind in (Http(url=f"http://127.0.0.1:{port}/"), Tcp(host="127.0.0.1", port=port)):
            assert await seen_of(kind) == Evidence(f"127.0.0.1:{port}")


async def test_after_a_redirect_it_is_the_last_answer_that_is_told() -> None:
    with target(says(BAD + b"\r\nlast")) as last:
        moved = f"HTTP/1.1 302 Moved\r\nLocation: {last.url}\r\nContent-Length: 0\r\n\r\n"
        with target(says(moved.encode())) as first:
            seen = await seen_of(Http(url=first.url))
    assert (seen.address, seen.body) == (last.peer, "last")


async def test_a_good_check_has_nothing_to_tell() -> None:
    with target(says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) as server:
        net = Net()
        outcome = (await run(CHECKS["http"](Http(url=server.url)), net, 5.0)).outcome
        net.close()
    assert outcome.evidence is None


def test_of_a_streak_the_failures_are_told_that_confirm_it() -> None:
    assert [fails for fails in range(12) if worth_telling(fails, 3)] == [1, 2, 3]
    assert [fails for fails in range(12) if worth_telling(fails, 8)] == [1, 2, 3, 8]
    assert [fails for fails in range(12) if worth_telling(fails, 1)] == [1, 2, 3]


async def test_a_batch_carries_the_evidence_of_the_first_failures_of_a_streak() -> None:
    statuses = [Status.UP, *[Status.DOWN] * 5, Status.UP, Status.DOWN, Status.UNKNOWN]
    told = await _told(statuses, monitors=1)
    assert [status for status, _ in told] == statuses
    assert [place for place, (_, seen) in enumerate(told) if seen] == [1, 2, 3, 7]
    assert {seen for _, seen in told} == {None, Evidence("192.0.2.1:1")}


async def test_an_outage_of_everything_tells_little() -> None:
    told = await _told([Status.DOWN], monitors=400)
    assert len(told) == 400
    assert sum(seen is not None for _, seen in told) == 200


async def _told(statuses: list[Status], monitors: int) -> list[tuple[int, Evidence | None]]:
    """What the batches hold when checks end so in turn, of each monitor, while the clock stands still."""
    kept: list[bytes] = []
    left = iter(statuses * monitors)

    async def check(_: ProbeAssignment) -> CheckRun:
        return CheckRun(Outcome(next(left), evidence=lambda: Evidence("192.0.2.1:1")), 10**12, 5)

    batcher = Batcher(lambda _incarnation, _seq, _results, data: kept.append(data))
    scheduler = Scheduler(check, batcher.add, boot_us=lambda: 10**12, wall_us=lambda: 10**15)
    for number in range(1, monitors + 1):
        order = Order(
            number=number, monitor=number, location=1, revision=1, type="tcp",
            config=b'{"host": "192.0.2.1", "port": 1}', interval_ms=60_000, timeout_ms=1000,
            failure_threshold=3,
        )  # fmt: skip
        scheduler.take(prepare(order))
        for _ in statuses:
            scheduler.ask(prepare(order), Run.SECOND_OPINION, 10.0)
            for _ in range(5):
                await asyncio.sleep(0)
    await scheduler.stop(1)
    batcher.seal()
    batches = [decode(data) for data in kept]
    return [(status, batch.evidence.get(i)) for batch in batches for i, status in enumerate(batch.outcome)]


def _at(config: Http, port: int) -> Http:
    fields = {name: getattr(config, name) for name in ("headers", "body", "auth")}
    return Http(url=f"http://me:url-secret@127.0.0.1:{port}/", **fields)
