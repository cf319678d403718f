"""The runner: whatever a check does, there is an outcome."""

import asyncio
import time

import pytest

from probe.net.engine import Net
from probe.net.errors import ProbeError, TargetError
from probe.schedule.runner import run
from shared.clock import boot_us
from shared.results import Outcome, Phases, Status

pytestmark = pytest.mark.races


async def test_hands_on_what_the_check_found() -> None:
    outcome = Outcome(Status.UP, 200, phases=Phases(connect_us=5))

    async def check(net: Net, deadline: float) -> Outcome:
        return outcome

    net = Net()
    before = boot_us()
    ran = await run(check, net, 1.0)
    net.close()

    assert ran.outcome is outcome
    assert before <= ran.start_us <= ran.start_us + ran.duration_us <= boot_us()


async def test_the_deadline_is_the_timeout_from_now() -> None:
    left: list[float] = []

    async def check(net: Net, deadline: float) -> Outcome:
        left.append(deadline - time.monotonic())
        return Outcome(Status.UP)

    net = Net()
    await run(check, net, 7.0)
    net.close()

    assert 6.5 < left[0] <= 7.0


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (TargetError("body: gone", code=200), Outcome(Status.DOWN, 200, "body: gone")),
        (ProbeError("probe: out of sockets"), Outcome(Status.UNKNOWN, error="probe: out of sockets")),
        (KeyError("secret"), Outcome(Status.UNKNOWN, error="internal: KeyError")),
    ],
)
async def test_an_exception_becomes_an_outcome(error: Exception, outcome: Outcome) -> None:
    async def check(net: Net, deadline: float) -> Outcome:
        raise error

    net = Net()
    ran = await run(check, net, 1.0)
    net.close()

    assert ran.outcome == outcome


async def test_a_cancelled_check_is_no_outcome() -> None:
    async def check(net: Net, deadline: float) -> Outcome:
        await asyncio.sleep(60)
        return Outcome(Status.UP)

    net = Net()
    task = asyncio.create_task(run(check, net, 60.0))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    net.close()
