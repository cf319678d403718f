"""What waits is carried out together, and what is bad of it fails alone."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress

import pytest

from collector.platform import group_commit
from collector.platform.group_commit import BatchSelector, CommitAgain, FirstCome, GroupCommit
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
    group: GroupCommit[int, int] = GroupCommit(work, FirstCome(3))
    waiting = [group.add(number) for number in range(5)]

    await group.turn()
    await group.turn()

    assert work.groups == [[0, 1, 2], [3, 4]]
    assert [await future for future in waiting] == [0, 2, 4, 6, 8]


async def test_only_the_bad_one_fails() -> None:
    group: GroupCommit[int, int] = GroupCommit(Doubling(), FirstCome(10))
    waiting = [group.add(number) for number in (1, 13, 2)]

    await group.turn()

    assert (await waiting[0], await waiting[2]) == (2, 4)
    with pytest.raises(ValueError, match="13"):
        await waiting[1]


async def test_an_error_as_answer_reaches_only_the_item_that_it_is_for() -> None:
    async def work(numbers: Sequence[int]) -> Sequence[int | Exception]:
        return [Unavailable("odd") if number % 2 else number for number in numbers]

    group: GroupCommit[int, int] = GroupCommit(work, FirstCome(10))
    waiting = [group.add(number) for number in (2, 3, 4)]

    await group.turn()

    assert (await waiting[0], await waiting[2]) == (2, 4)
    with pytest.raises(Unavailable, match="odd"):
        await waiting[1]


async def test_items_that_must_be_tried_again_come_first_and_in_their_order() -> None:
    groups: list[list[int]] = []

    async def work(numbers: Sequence[int]) -> Sequence[int | Exception]:
        groups.append(list(numbers))
        return [CommitAgain() if len(groups) == 1 and number > 1 else number for number in numbers]

    group: GroupCommit[int, int] = GroupCommit(work, FirstCome(3))
    waiting = [group.add(number) for number in (1, 2, 3, 4)]

    await group.turn()
    await group.turn()

    assert groups == [[1, 2, 3], [2, 3, 4]]
    assert await asyncio.gather(*waiting) == [1, 2, 3, 4]


async def test_an_item_for_which_nobody_waits_is_not_tried_again() -> None:
    groups: list[list[int]] = []

    async def work(numbers: Sequence[int]) -> Sequence[int | Exception]:
        groups.append(list(numbers))
        waiting[0].cancel()
        return [CommitAgain() if len(groups) == 1 else number for number in numbers]

    group: GroupCommit[int, int] = GroupCommit(work, FirstCome(3))
    waiting = [group.add(number) for number in (1, 2)]

    await group.turn()
    await group.turn()

    assert groups == [[1, 2], [2]]
    assert await waiting[1] == 2


async def test_items_that_are_not_chosen_wait_in_their_order() -> None:
    class Even(BatchSelector[int]):
        """Chooses even numbers before the first odd ones."""

        def choose(self, waiting: Iterable[int]) -> Sequence[int]:
            numbers = list(waiting)
            return [place for place, number in enumerate(numbers) if number % 2 == 0] or [0]

    work = Doubling()
    group: GroupCommit[int, int] = GroupCommit(work, Even())
    waiting = [group.add(number) for number in (1, 2, 3, 4, 5)]

    for _ in range(4):
        await group.turn()

    assert work.groups == [[2, 4], [1], [3], [5]]
    assert await asyncio.gather(*waiting) == [2, 4, 6, 8, 10]


async def test_when_the_database_is_away_all_are_told_so_and_it_goes_on_later() -> None:
    work = Doubling()
    work.away = True
    group: GroupCommit[int, int] = GroupCommit(work, FirstCome(10))
    waiting = [group.add(number) for number in (1, 2)]

    with pytest.raises(Unavailable):
        await group.turn()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    work.away = False
    later = group.add(3)
    await group.turn()

    assert all(isinstance(answer, Unavailable) for answer in answers)
    assert await later == 6


async def test_who_waits_is_told_when_it_stops() -> None:
    started = asyncio.Event()

    async def work(_: Sequence[int]) -> Sequence[int]:
        started.set()
        await asyncio.sleep(60)
        return []

    group: GroupCommit[int, int] = GroupCommit(work, FirstCome(10))
    waiting = group.add(1)
    turn = asyncio.create_task(group.turn())
    await started.wait()
    turn.cancel()

    with suppress(asyncio.CancelledError):
        await turn
    with pytest.raises(Exception, match="stops"):
        await waiting


async def test_a_turn_in_which_nothing_comes_ends_and_the_next_takes_what_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(group_commit, "REST_S", 0.01)
    group: GroupCommit[int, int] = GroupCommit(Doubling(), FirstCome(10))
    assert await group.turn()

    waiting = group.add(1)
    await group.turn()

    assert await waiting == 2
