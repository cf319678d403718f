"""The ICMP check: a host that answers is up, errors of the network are reported, and times are its own."""

import asyncio
import random
import socket
import struct
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import orjson
import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.net.icmp import echo_socket
from probe.schedule.runner import run
from shared.kinds.icmp import Icmp
from shared.results import Outcome, Status
from tests.probe import wire
from tests.probe.router import Answer, Echo, Router, address, within

pytestmark = pytest.mark.races

ROOT = Path(__file__).parents[3]
ANSWERS, MUTE, NO_HOST, NO_NET, FILTERED, TOO_FAR, TOO_LARGE, HALF, FORGED = range(1, 10)
TWICE, SLOW, OTHER, SHORT, ASKING, OF_ANOTHER, LATE, ODD, WHOLE_QUOTE = range(10, 19)
ERRORS = {
    NO_HOST: {4: (3, 1), 6: (1, 3)},
    NO_NET: {4: (3, 0), 6: (1, 0)},
    FILTERED: {4: (3, 13), 6: (1, 1)},
    TOO_FAR: {4: (11, 0), 6: (3, 0)},
    ODD: {4: (12, 0), 6: (4, 0)},
}


def behave(echo: Echo) -> Sequence[Answer]:
    """The host's last number says how it, or the way to it, behaves."""
    head = echo.message[4:]
    match echo.host:
        case host if host in ERRORS:
            return [(0, echo.error(*ERRORS[host][echo.version]))]
        case 1:
            return [(0, echo.reply())]
        case 7:
            kind, code = {4: (3, 4), 6: (2, 0)}[echo.version]
            return [(0, echo.error(kind, code, info=1280))] if len(echo.packet) > 1280 else []
        case 8:
            return [(0, echo.reply())] if head[3] % 2 else []
        case 9:
            return [(0, echo.reply(message=head[:4] + bytes(len(head) - 4)))]
        case 10:
            return [(0, echo.reply()), (0, echo.reply()), (0.01, echo.reply())]
        case 11:
            return [(0.1, echo.reply())]
        case 12:
            return [(0, echo.reply(message=head[:2] + struct.pack("!H", (head[3] + 1) % 256) + head[4:]))]
        case 13:
            return [(0, echo.reply(message=head[:6]))]
        case 14:
            return [(0, echo.reply(kind=8 if echo.version == 4 else 128))]
        case 15:
            header = echo.packet[: -len(echo.message)]
            kind, code = ERRORS[NO_HOST][echo.version]
            return [(0, echo.error(kind, code, quoted=header + echo.message[:4] + bytes(4)))]
        case 16:
            return [(1.2, echo.reply())]
        case 18:
            return [(0, echo.error(*ERRORS[NO_HOST][echo.version], quoted=echo.packet))]
    return []


@pytest.fixture(params=["datagrams", "raw"])
async def router(request: pytest.FixtureRequest) -> AsyncIterator[Router]:
    wire.demand()
    with within(datagrams=request.param == "datagrams") as end:
        made = Router(end, behave)
        made.start()
        yield made
        made.stop()


async def check(host: str, timeout_s: float = 0.6, **config: object) -> Outcome:
    net = Net()
    try:
        kind = Icmp(host=host, **config)  # type: ignore[arg-type]
        return (await run(CHECKS["icmp"](kind), net, timeout_s)).outcome
    finally:
        net.close()


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("host", [ANSWERS, TWICE])
async def test_a_host_that_answers_is_up(router: Router, host: int, version: int) -> None:
    outcome = await check(address(host, version), 5.0, packet_size=100)

    assert (outcome.status, outcome.error, outcome.loss_percent) == (Status.UP, "", 0)
    assert [len(echo.message) for echo in router.seen] == [108] * 3
    assert outcome.took_us == outcome.phases.first_byte_us


BY = {4: "10.77.0.254", 6: "fd00:77::fe"}


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize(
    ("host", "errors"),
    [
        pytest.param(MUTE, ("no answer from {to} in 3 tries",) * 2, id="mute"),
        pytest.param(NO_HOST, ("host unreachable (from {by})",) * 2, id="no such host"),
        pytest.param(WHOLE_QUOTE, ("host unreachable (from {by})",) * 2, id="all is quoted"),
        pytest.param(NO_NET, ("network unreachable (from {by})", "no route (from {by})"), id="no net"),
        pytest.param(FILTERED, ("prohibited by a filter (from {by})",) * 2, id="filtered"),
        pytest.param(TOO_FAR, ("too many hops on the way (from {by})",) * 2, id="a loop of routers"),
        pytest.param(
            ODD, ("ICMP error 12, code 0 (from {by})", "ICMP error 4, code 0 (from {by})"), id="odd"
        ),
        pytest.param(FORGED, ("no answer from {to} in 3 tries",) * 2, id="answers without what was sent"),
        pytest.param(OTHER, ("no answer from {to} in 3 tries",) * 2, id="answers to another echo"),
        pytest.param(SHORT, ("no answer from {to} in 3 tries",) * 2, id="answers that are cut"),
        pytest.param(ASKING, ("no answer from {to} in 3 tries",) * 2, id="asks in its turn"),
        pytest.param(OF_ANOTHER, ("no answer from {to} in 3 tries",) * 2, id="an error about another's echo"),
    ],
)
async def test_a_broken_target_is_told_of(
    router: Router, host: int, errors: tuple[str, str], version: int
) -> None:
    outcome = await check(address(host, version), 1.5)

    words = errors[version == 6].format(to=address(host, version), by=BY[version])
    assert (outcome.status, outcome.error) == (Status.DOWN, f"icmp: {words}")
    assert outcome.loss_percent == 100
    assert outcome.evidence is not None
    assert outcome.evidence().address == address(host, version)
    assert len(router.seen) == 3


async def test_a_packet_too_large_for_the_way_is_told_of(router: Router) -> None:
    outcome = await check(address(TOO_LARGE, 4), packet_size=1400, count=1)

    assert outcome.error == "icmp: packet too large for the way, which takes 1280 bytes (from 10.77.0.254)"


@pytest.mark.parametrize(("most", "status"), [(99, Status.UP), (67, Status.UP), (30, Status.DOWN)])
async def test_some_may_be_lost(router: Router, most: int, status: Status) -> None:
    outcome = await check(address(HALF, 4), 2.0, count=4, max_loss_percent=most)

    assert (outcome.status, outcome.loss_percent) == (status, 50)
    assert outcome.error == ("" if status is Status.UP else "icmp: 2 of 4 echoes lost, more than 30 %")


async def test_an_answer_that_comes_after_the_next_echo_went_out_counts(router: Router) -> None:
    outcome = await check(address(LATE, 4), 4.0, count=2)

    assert (outcome.status, outcome.loss_percent) == (Status.UP, 0)
    assert outcome.phases.first_byte_us is not None
    assert 1_200_000 <= outcome.phases.first_byte_us < 1_500_000


async def test_one_host_s_error_is_not_another_s(router: Router) -> None:
    net = Net()
    hosts = [NO_HOST, ANSWERS, TOO_FAR, ANSWERS, MUTE, FILTERED, SLOW] * 5
    checks = [CHECKS["icmp"](Icmp(host=address(host, 4))) for host in hosts]
    try:
        rans = await asyncio.gather(*(run(check, net, 0.9) for check in checks))
    finally:
        net.close()

    assert {
        host: {ran.outcome.error for ran, of in zip(rans, hosts, strict=True) if of == host}
        for host in set(hosts)
    } == {
        ANSWERS: {""},
        SLOW: {""},
        NO_HOST: {"icmp: host unreachable (from 10.77.0.254)"},
        TOO_FAR: {"icmp: too many hops on the way (from 10.77.0.254)"},
        FILTERED: {"icmp: prohibited by a filter (from 10.77.0.254)"},
        MUTE: {f"icmp: no answer from {address(MUTE, 4)} in 3 tries"},
    }


@pytest.fixture
def stamps() -> Iterator[None]:
    """The kernel notes when packets come: not at once after the first socket that asks for it."""
    timestamp_ns = 35
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, timestamp_ns, 1)
        sock.bind(("127.0.0.1", 0))
        waited_ns = 0
        while waited_ns < 2_000_000:
            sock.sendto(b"", sock.getsockname())
            time.sleep(0.005)
            _, [(_, _, stamp)], _, _ = sock.recvmsg(1, socket.CMSG_SPACE(16))
            seconds, ns = struct.unpack("=qq", stamp)
            waited_ns = time.time_ns() - seconds * 1_000_000_000 - ns
        yield


@pytest.mark.usefixtures("stamps")
async def test_an_answer_that_waits_to_be_read_when_the_time_is_over_counts(router: Router) -> None:
    """Nobody answers on the loopback but the kernel, at once; and then this process stands still."""
    net = Net()
    running = asyncio.create_task(run(CHECKS["icmp"](Icmp(host="127.0.0.1", count=1)), net, 0.1))
    asyncio.get_running_loop().call_soon(time.sleep, 0.3)
    try:
        outcome = (await running).outcome
    finally:
        net.close()

    assert outcome.status is Status.UP
    assert (outcome.phases.first_byte_us or 0) < 50_000


class SetClock:
    """The clocks of `time`; the wall clock can be set."""

    def __init__(self) -> None:
        self.ahead_ns = 0
        self.monotonic_ns = time.monotonic_ns

    def time_ns(self) -> int:
        return time.time_ns() + self.ahead_ns


@pytest.mark.parametrize("step_s", [3, -3, 0.005, -0.005])
async def test_a_wall_clock_that_is_set_does_not_show_in_times(
    step_s: float, router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SetClock()
    monkeypatch.setattr(echo_socket, "time", clock)
    check = CHECKS["icmp"](Icmp(host="127.0.0.1", count=3))
    net = Net()
    took_us = []
    for _ in range(4):
        outcome = (await run(check, net, 5.0)).outcome
        assert outcome.status is Status.UP
        took_us.append(outcome.phases.first_byte_us or 0)
        clock.ahead_ns += int(step_s * 1e9)
    net.close()

    assert min(took_us) >= 0
    # Not the machine's own time, which load makes longer, but nothing of the step.
    assert sorted(took_us)[1] < 4_000


async def test_no_way_there_is_told_of(router: Router) -> None:
    assert (await check("192.0.2.1")).error == "icmp: no route to 192.0.2.1"
    assert (await check("2001:db8::1")).error == "icmp: no route to 2001:db8::1"
    assert (await check("10.77.0.255")).error.startswith("icmp: not permitted to 10.77.0.255")


async def test_a_name_s_second_address_is_tried_where_there_is_no_way_to_the_first(router: Router) -> None:
    subprocess.run(["ip", "-6", "addr", "del", "::1/128", "dev", "lo"], check=True)
    subprocess.run(["ip", "-6", "route", "add", "unreachable", "::1/128"], check=False)

    assert (await check("localhost")).status is Status.UP


async def test_nothing_is_left_behind(router: Router) -> None:
    net = Net()
    try:
        hosts = [ANSWERS, MUTE, NO_HOST, HALF]
        await asyncio.gather(
            *(run(CHECKS["icmp"](Icmp(host=address(h, v))), net, 0.3) for h in hosts for v in (4, 6))
        )
        assert [len(line.waiting) for line in net.echoes._lines.values()] == [0, 0]
    finally:
        net.close()


async def test_an_address_of_ipv4_in_ipv6_s_writing_is_asked_as_what_it_is(router: Router) -> None:
    outcome = await check("::ffff:10.77.0.1", 5.0)

    assert (outcome.status, outcome.address) == (Status.UP, "10.77.0.1")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "localhost"])
async def test_a_private_address_is_refused_where_that_is_wanted(host: str) -> None:
    net = Net(allow_private=False)
    try:
        outcome = (await run(CHECKS["icmp"](Icmp(host=host)), net, 1.0)).outcome
    finally:
        net.close()

    assert outcome.status is Status.DOWN
    assert outcome.error.startswith("connect: ")


@pytest.mark.parametrize("permitted", [True, False])
async def test_without_the_capability_it_needs_the_sysctl(permitted: bool) -> None:
    wire.demand()
    with within(datagrams=permitted):
        ran = await asyncio.create_subprocess_exec(
            *("setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw"),
            *(sys.executable, "-m", "probe.cli.check", "icmp", "127.0.0.1", "--json"),
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        out, _ = await ran.communicate()
    told = orjson.loads(out)

    assert told["status"] == ("up" if permitted else "unknown")
    assert told["error"] == (
        None
        if permitted
        else "probe: not permitted to ping: let sysctl net.ipv4.ping_group_range include its group, "
        "or give it CAP_NET_RAW"
    )


async def test_nonsense_from_the_network_is_no_fault_of_ours(router: Router) -> None:
    chance = random.Random(1)

    def rave(echo: Echo) -> Sequence[Answer]:
        noise = chance.randbytes(chance.randrange(80))
        quoted = echo.packet[: chance.randrange(len(echo.packet))] + noise
        kinds = {4: (3, 4, 5, 11, 12, 200), 6: (1, 2, 3, 4, 137, 200)}[echo.version]
        return [
            (0, echo.reply(kind=chance.randrange(256), message=noise)),
            (0, echo.reply(message=echo.message[4 : 4 + chance.randrange(12)] + noise)),
            (0, echo.error(chance.choice(kinds), chance.randrange(256), info=chance.getrandbits(32))),
            (0, echo.error(chance.choice(kinds), chance.randrange(20), quoted=quoted)),
        ]

    router.behave = rave
    net = Net()
    checks = [CHECKS["icmp"](Icmp(host=address(host, v))) for host in range(1, 60) for v in (4, 6)]
    try:
        outcomes = [ran.outcome for ran in await asyncio.gather(*(run(check, net, 0.6) for check in checks))]
        router.behave = behave
        last = (await run(CHECKS["icmp"](Icmp(host=address(ANSWERS, 4))), net, 5.0)).outcome
    finally:
        net.close()

    assert {outcome.status for outcome in outcomes} == {Status.DOWN}
    assert all(outcome.error.startswith("icmp: ") for outcome in outcomes)
    assert last.status is Status.UP
