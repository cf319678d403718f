"""A check is made when it is due, and kept only if it is dear or remembers something between its runs."""

import gc
import sys
import weakref
from collections.abc import Callable, Iterator

import orjson
import pytest

from probe.link.plan import Order, ProbeAssignment, prepare
from probe.net.engine import Net
from probe.net.errors import ProbeError
from probe.schedule.prepared import check_of
from tests.probe.targets import no_more_descriptors

HTTP = b'{"url": "https://x.example.com/"}'


def assigned(type_: str = "http", config: bytes = HTTP, interval_ms: int = 60_000) -> ProbeAssignment:
    return prepare(
        Order(
            number=7, monitor=7, location=1, revision=1, type=type_, config=config, interval_ms=interval_ms,
            timeout_ms=10_000,
        )
    )  # fmt: skip


def taking(us: float) -> Callable[[], float]:
    """A clock of processor time, by which each check takes *us* to make."""

    def ticks() -> Iterator[float]:
        at = 0.0
        while True:
            yield at
            at += us / 1_000_000

    return ticks().__next__


def test_a_check_that_runs_seldom_leaves_nothing_behind() -> None:
    assignment = assigned()
    check = check_of(assignment, taking(119))
    assert assignment.check is None
    assert check_of(assignment, taking(119)) is not check
    gone = weakref.ref(check)
    gc.disable()
    try:
        del check
        assert gone() is None  # at once: it is in no cycle
    finally:
        gc.enable()


@pytest.mark.parametrize(("us", "interval_ms"), [(121, 60_000), (3, 1_000)])
def test_a_check_is_kept_if_making_it_takes_more_than_its_share(us: float, interval_ms: int) -> None:
    assignment = assigned(interval_ms=interval_ms)
    assert check_of(assignment, taking(us)) is check_of(assignment, taking(us))


@pytest.mark.parametrize(
    ("type_", "config"),
    [
        ("tls", b'{"domain": "x.example.com", "expiryDays": 7}'),
        ("gas_price", b'{"chain": 1, "rpcUrl": "http://a.example.com/", "thresholds": {"high": 5}}'),
    ],
)
def test_a_check_that_remembers_is_kept(type_: str, config: bytes) -> None:
    assignment = assigned(type_, config)
    assert check_of(assignment, taking(0)) is check_of(assignment, taking(0))


def test_a_configuration_that_is_not_understood_is_read_once() -> None:
    assignment = assigned(config=b"{")
    assert check_of(assignment, taking(0)) is check_of(assignment, taking(0))


async def test_a_certificate_that_cannot_be_read_is_a_fault_of_the_configuration_and_is_kept() -> None:
    pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    config = orjson.dumps({"domain": "x.example.com", "trustedCa": pem})
    assignment, net = assigned("tls", config), Net()

    with pytest.raises(ProbeError, match=r"^the probe does not understand this configuration"):
        await check_of(assignment)(net, 1.0)
    net.close()

    assert assignment.check is not None


async def test_a_type_that_the_machine_cannot_load_now_is_loaded_by_a_later_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "probe.checks.redis", raising=False)
    assignment = assigned("redis", b'{"host": "127.0.0.1"}', interval_ms=1_000)
    net = Net()
    with no_more_descriptors(), pytest.raises(ProbeError, match=r"^probe: out of file descriptors$"):
        await check_of(assignment)(net, 1.0)
    net.close()

    assert assignment.check is None
    assert check_of(assignment).__module__ != "probe.schedule.prepared"
