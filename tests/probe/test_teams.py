"""Teams that share a probe share its room: what one leaves hanging slows no other down."""

import asyncio
from dataclasses import replace

from probe.schedule.slots import ASIDE, QUICK, SLOW, Slots
from tests.probe.test_scheduler import SECOND, World, assigned


async def hang(world: World, team: int, first: int, count: int) -> None:
    """Monitors of a team that hang until they are given up, for long enough that this is known of them."""
    world.slow.update(range(first, first + count))
    for monitor in range(first, first + count):
        world.scheduler.take(replace(assigned(monitor, 10), team=team))


async def give_up(world: World) -> None:
    """What hung for ten seconds times out."""
    world.release.set()
    await world.settle()
    world.release = asyncio.Event()


async def test_what_hangs_of_one_team_slows_no_other_down() -> None:
    world = World(max_concurrency=100)
    quick, slow = replace(assigned(1, 1), team=1), replace(assigned(2, 5), team=1)
    world.scheduler.take(quick)
    world.scheduler.take(slow)
    world.slow.add(2)
    await hang(world, 2, 100, 400)
    for _ in range(6):
        await world.pass_(10 * SECOND)
        await give_up(world)

    assert len(world.starts(1)) >= 58, "each second but for the first moments"
    assert len(world.starts(2)) >= 6, "though it is slow itself"
    hanging = sum(len(world.starts(monitor)) for monitor in range(100, 500))
    assert hanging >= 6 * 40, "and the other team is served from what is left"
    world.release.set()
    await world.scheduler.stop(1)


async def test_a_team_alone_has_all_the_room() -> None:
    world = World(max_concurrency=100)
    await hang(world, 2, 100, 400)
    await world.pass_(10 * SECOND)

    assert world.scheduler.running > 100, "what stalls goes aside"
    world.release.set()
    await world.scheduler.stop(1)


async def test_those_who_wait_get_their_turns_team_by_team() -> None:
    world = World(max_concurrency=1)
    world.slow.update(range(1, 40))
    for monitor in range(1, 21):
        world.scheduler.take(replace(assigned(monitor, 60, at_once=True), team=1))
    for monitor in range(21, 24):
        world.scheduler.take(replace(assigned(monitor, 60, at_once=True), team=2))
    await world.pass_(SECOND // 10)
    await world.pass_(SECOND // 2)
    for _ in range(12):
        await give_up(world)
        await world.pass_(SECOND // 10)

    order = [2 if monitor > 20 else 1 for monitor, _ in world.started[:8]]
    assert order.count(2) == 3, "the second team waits for one turn of the first, not for all of them"
    world.release.set()
    await world.scheduler.stop(1)


def test_a_team_leaves_as_much_free_as_it_holds() -> None:
    slots = Slots(10)
    slots.divided = True

    assert [slots.take(1, slow=False) for _ in range(6)] == [True] * 5 + [False]
    assert [slots.take(2, slow=False) for _ in range(4)] == [True] * 3 + [False]
    assert slots.take(3, slow=False)
    for team, count in ((1, 5), (2, 3), (3, 1)):
        for _ in range(count):
            slots.give(team, QUICK)

    assert [slots.take(1, slow=True) for _ in range(5)] == [True] * 4 + [False]
    assert slots.take(2, slow=True)
    slots.give(1, SLOW)
    slots.give(2, SLOW)
    assert slots.take(1, slow=True)
    assert [slots.set_aside(3) for _ in range(5)] == [True] * 4 + [False]
    slots.give(3, ASIDE)
    assert slots.set_aside(3)
