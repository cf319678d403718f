"""What waits is carried out together, and what is bad of it fails alone."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import pytest

from collector.platform import group_commit as gatherings
from collector.platform.group_commit import Gathering
from shared.errors import Unavailable

pytestmark = pytest.mark.races


class Doubling:
    """Doubles numbers, a group at a time; 13 is bad, and while *away* is set nothing works."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.away = False

    async def __call__(self, numbers: Sequence[int]) -> Sequence[int]:
        self.groups.append(list(numbers))
        if self.away:
            raise Unavailable("the database is away")
        if 13 in numbers:
            raise ValueError("13 is bad")
        return [2 * number for number in numbers]


async def test_all_that_waits_is_one_group_and_each_gets_its_answer() -> None:
    work = Doubling()
    gathering: Gathering[int, int] = Gathering(work, most=3)
    waiting = [gathering.add(number) for number in range(5)]

    await gathering.turn()
    await gathering.turn()

    assert work.groups == [[0, 1, 2], [3, 4]]
    assert [await one for one in waiting] == [0, 2, 4, 6, 8]


async def test_only_the_bad_one_fails() -> None:
    gathering: Gathering[int, int] = Gathering(Doubling(), most=10)
    waiting = [gathering.add(number) for number in (1, 13, 2)]

    await gathering.turn()

    assert (await waiting[0], await waiting[2]) == (2, 4)
    with pytest.raises(ValueError, match="13"):
        await waiting[1]


async def test_when_the_database_is_away_all_are_told_so_and_it_goes_on_later() -> None:
    work = Doubling()
    work.away = True
    gathering: Gathering[int, int] = Gathering(work, most=10)
    waiting = [gathering.add(number) for number in (1, 2)]

    with pytest.raises(Unavailable):
        await gathering.turn()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    work.away = False
    later = gathering.add(3)
    await gathering.turn()

    assert all(isinstance(answer, Unavailable) for answer in answers)
    assert await later == 6


async def test_who_waits_is_told_when_it_stops() -> None:
    started = asyncio.Event()

    async def work(_: Sequence[int]) -> Sequence[int]:
        started.set()
        await asyncio.sleep(60)
        return []

    gathering: Gathering[int, int] = Gathering(work, most=10)
    waiting = gathering.add(1)
    turn = asyncio.create_task(gathering.turn())
    await started.wait()
    turn.cancel()

    with suppress(asyncio.CancelledError):
        await turn
    with pytest.raises(Exception, match="stops"):
        await waiting


async def test_a_turn_in_which_nothing_comes_ends_and_the_next_takes_what_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gatherings, "REST_S", 0.01)
    gathering: Gathering[int, int] = Gathering(Doubling(), most=10)
    assert await gathering.turn()

    waiting = gathering.add(1)
    await gathering.turn()

    assert await waiting == 2
