"""Background work that stands still, or only fails, is known by its name."""

import pytest

from collector.ops.job_health import Pulse
from shared.errors import Unavailable


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def well() -> bool:
    return False


async def fails() -> bool:
    raise Unavailable("the database is away")


async def test_work_that_takes_turns_is_never_still() -> None:
    clock = Clock()
    pulse = Pulse(clock)
    turn = pulse.felt("writer", well, 1.0)
    for _ in range(10):
        clock.now += 100
        await turn()
        assert pulse.still() == []


async def test_work_that_ends_no_turn_for_two_minutes_beyond_its_rest_is_still() -> None:
    clock = Clock()
    pulse = Pulse(clock)
    pulse.felt("writer", well, 1.0)
    pulse.felt("retention", well, 900.0)

    clock.now += 122
    assert pulse.still() == []
    clock.now += 1
    assert pulse.still() == ["writer"]
    clock.now += 1800
    assert pulse.still() == ["writer", "retention"]


async def test_turns_that_only_fail_are_no_turns_and_a_good_one_makes_up_for_them() -> None:
    clock = Clock()
    pulse = Pulse(clock)
    turn, after = pulse.felt("writer", fails, 1.0), pulse.felt("router", well, 1.0)
    for _ in range(3):
        clock.now += 50
        await after()
        with pytest.raises(Unavailable):
            await turn()
    assert pulse.still() == ["writer"]

    await pulse.felt("writer", well, 1.0)()

    assert pulse.still() == []


async def test_a_turn_says_whether_there_is_more_to_do_as_it_did() -> None:
    async def more() -> bool:
        return True

    assert await Pulse().felt("writer", more, 1.0)() is True
    assert await Pulse().felt("writer", well, 1.0)() is False
