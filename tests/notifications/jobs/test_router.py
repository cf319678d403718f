"""Events become deliveries: for those who hear of them, once each, in their order."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest

from collector.events.core.subscriptions import is_subscribed
from collector.notifications.jobs.router import Router
from collector.platform.committed_events import commit_hook
from collector.platform.storage.db import Db
from shared import ids
from tests.notifications.ground import deliveries, happen, make_channel, make_team

pytestmark = pytest.mark.races

URL = "https://example.com/hook"
ONE, OTHER = "mon_" + "0" * 26, "mon_" + "1" * 26


@pytest.mark.parametrize(
    ("events", "monitors", "kind", "heard"),
    [
        pytest.param([], [], "monitor.down", True, id="state events are heard by default"),
        pytest.param([], [], "monitor.up", True, id="both of them"),
        pytest.param([], [], "web3.gas.alert", True, id="and everything of web3"),
        pytest.param([], [], "incident.created", False, id="other kinds are not"),
        pytest.param(["monitor.up"], [], "monitor.down", False, id="what was not asked for is not heard"),
        pytest.param(["incident.*"], [], "incident.created", True, id="a star asks for all below"),
        pytest.param(["incident.*"], [], "incidental", False, id="but for nothing beside"),
        pytest.param(["*"], [], "probe.offline", True, id="a lone star asks for everything"),
        pytest.param(["probe.*"], [OTHER], "probe.offline", True, id="a probe is no monitor's"),
        pytest.param(["*"], [], "monitor.created", False, id="but what is only for those who follow"),
        pytest.param(["monitor.*"], [], "monitor.paused", False, id="and so does none of them"),
        pytest.param([], [ONE], "monitor.down", True, id="the monitor that was named"),
        pytest.param([], [OTHER], "monitor.down", False, id="not one that was not"),
    ],
)
def test_hears(events: Sequence[str], monitors: Sequence[str], kind: str, heard: bool) -> None:
    assert is_subscribed(events, monitors, kind, ONE) is heard


async def route(db: Db) -> int:
    """Take turns until there is nothing to do; return how often the sender was woken."""
    told: list[None] = []
    db.pass_on = commit_hook(lambda: None, lambda: told.append(None))
    router = Router(db)
    while await router.turn():
        pass
    return len(told)


async def test_every_enabled_channel_of_the_team_is_told_once(db: Db) -> None:
    team, other = await make_team(db), await make_team(db, "Other")
    heard = {await make_channel(db, team, URL), await make_channel(db, team, URL)}
    await make_channel(db, team, URL, enabled=False)
    await make_channel(db, other, URL)
    monitor = ids.uuid7()
    await happen(db, team, monitor, "monitor.down")

    assert await route(db) == 1
    assert await route(db) == 0

    found = await deliveries(db)
    assert {row["channel_id"] for row in found} == heard
    assert len(found) == 2


async def test_a_narrowed_channel_hears_what_it_asked_for(db: Db) -> None:
    team, monitor, other = await make_team(db), ids.uuid7(), ids.uuid7()
    await make_channel(db, team, URL, events=["monitor.down"], monitors=[ids.show("mon", monitor)])
    await happen(db, team, monitor, "monitor.down", "monitor.up")
    await happen(db, team, other, "monitor.down")

    await route(db)

    assert [(row["stream_id"], row["event_kind"]) for row in await deliveries(db)] == [
        (monitor, "monitor.down")
    ]


async def test_an_event_without_listeners_is_routed_to_nobody(db: Db) -> None:
    team = await make_team(db)
    await happen(db, team, ids.uuid7(), "monitor.down")

    assert await route(db) == 0
    await make_channel(db, team, URL)
    assert await route(db) == 0, "what happened before the channel is not told to it"


async def test_changes_of_a_monitor_are_passed_over(db: Db) -> None:
    team, monitor = await make_team(db), ids.uuid7()
    await make_channel(db, team, URL, events=["*"])
    await happen(db, team, monitor, "monitor.created", "monitor.down", "monitor.updated", "monitor.deleted")

    await route(db)

    assert [(row["sequence"], row["event_kind"]) for row in await deliveries(db)] == [(2, "monitor.down")]


async def test_routing_again_makes_nothing_twice(db: Db) -> None:
    team, monitor = await make_team(db), ids.uuid7()
    await make_channel(db, team, URL)
    await happen(db, team, monitor, "monitor.down", "monitor.up")
    await route(db)
    async with db.connection() as tx:
        await tx.execute("UPDATE streams SET routed = 0")

    assert await route(db) == 0
    assert [row["sequence"] for row in await deliveries(db)] == [1, 2]


async def test_a_long_stream_is_routed_to_its_end(db: Db) -> None:
    team, monitor = await make_team(db), ids.uuid7()
    await make_channel(db, team, URL)
    await happen(db, team, monitor, *["monitor.down", "monitor.up"] * 60)

    await route(db)

    assert [row["sequence"] for row in await deliveries(db)] == list(range(1, 121))


async def test_two_routers_never_swap_two_events_and_miss_none(db: Db) -> None:
    team = await make_team(db)
    await make_channel(db, team, URL)
    monitors = [ids.uuid7() for _ in range(8)]
    swapped: list[UUID] = []

    async def watch() -> None:
        for _ in range(60):
            async with db.connection() as tx:
                swapped.extend(
                    row["stream_id"]
                    for row in await tx.fetch(
                        "SELECT stream_id FROM deliveries GROUP BY stream_id HAVING count(*) <> max(sequence)"
                    )
                )

    async def happening() -> None:
        for kind in ["monitor.down", "monitor.up"] * 10:
            await asyncio.gather(*(happen(db, team, monitor, kind) for monitor in monitors))

    async def routing(router: Router, end: asyncio.Event) -> None:
        while not end.is_set():
            await router.turn()
        while await router.turn():
            pass

    end = asyncio.Event()
    async with asyncio.timeout(60):
        routers = [asyncio.create_task(routing(Router(db), end)) for _ in range(2)]
        await asyncio.gather(happening(), watch())
        end.set()
        await asyncio.gather(*routers)
        await route(db)

    assert swapped == []
    assert len(await deliveries(db)) == 8 * 20


async def test_a_stream_in_use_delays_no_other(db: Db) -> None:
    team, busy, free = await make_team(db), ids.uuid7(), ids.uuid7()
    await make_channel(db, team, URL)
    await happen(db, team, busy, "monitor.down")
    await happen(db, team, free, "monitor.down")

    async with asyncio.timeout(10), db.transaction() as tx:
        await tx.execute("SELECT FROM streams WHERE stream_id = $1 FOR UPDATE", busy)
        await route(db)

    assert [row["stream_id"] for row in await deliveries(db)] == [free]
