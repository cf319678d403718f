"""What is known of chains, as those read it who show it or go by it."""

from datetime import timedelta

from collector.ops.storage import retention
from collector.platform.storage.db import Db
from collector.web3.storage import news, web3
from shared.clock import utc_now
from tests.evaluation.world import make_world
from tests.web3.ground import (
    EVENTS,
    HIGH,
    WHALE,
    finding,
    gone,
    hash_of,
    heard,
    log,
    of_chains,
    raised,
    recovered,
    submit,
)

DAY = timedelta(days=1)


async def test_what_is_raised_is_read_with_where_and_since_when(db: Db) -> None:
    world = await of_chains(await make_world(db, locations=("ap", "eu")))
    await submit(world, finding(world, raised(), location="eu"), finding(world, raised(), location="ap"))
    team, id_ = world.team_id, world.ids[world.monitors[0]]
    async with db.connection() as tx:
        [one] = await web3.raised(tx, team, id_)
        assert await web3.raised_and_announced(tx, [(team, id_)]) == []
        assert await web3.raised(tx, team + 1, id_) == []
    assert (one.key, one.locations, one.data, one.told_at) == ("high_gas", ["ap", "eu"], HIGH, None)
    await heard(world)
    async with db.connection() as tx:
        [told] = await web3.raised_and_announced(tx, [(team, id_)])
    assert told.told_at is not None
    assert told.raised_at == one.raised_at
    await submit(
        world, finding(world, recovered(), location="eu"), finding(world, recovered(), location="ap")
    )
    async with db.connection() as tx:
        assert await web3.raised(tx, team, id_) == []
        assert await web3.raised_and_announced(tx, [(team, id_)]) == []


async def test_of_what_happened_once_the_newest_of_each_kind_is_read_while_it_stands(db: Db) -> None:
    world = await of_chains(await make_world(db), WHALE)
    team, id_ = world.team_id, world.ids[world.monitors[0]]
    alert = {"type": "large_transfer", **HIGH}
    await submit(world, finding(world, log("t1", 5, alert=alert), log("t2", 6, alert=alert)))
    async with db.connection() as tx:
        assert await web3.announced_lately(tx, [(team, id_)], utc_now() - DAY) == []
    await heard(world)
    async with db.connection() as tx:
        [off] = await web3.announced_lately(tx, [(team, id_)], utc_now() - DAY)
        assert await web3.announced_lately(tx, [(team, id_)], utc_now() + DAY) == []
        assert await web3.announced_lately(tx, [(team + 1, id_)], utc_now() - DAY) == []
    assert (off.data["alert"]["type"], off.data["blockNumber"]) == ("large_transfer", 6)
    await submit(world, finding(world, gone(6, 6)))
    await heard(world)
    async with db.connection() as tx:
        [left] = await web3.announced_lately(tx, [(team, id_)], utc_now() - DAY)
    assert left.data["blockNumber"] == 5


async def test_logs_are_read_newest_first_by_time_and_place(db: Db) -> None:
    world = await of_chains(await make_world(db, locations=("ap", "eu")), EVENTS)
    team, id_ = world.team_id, world.ids[world.monitors[0]]
    await submit(world, finding(world, log("t1", 5), log("t2", 6), location="ap", ago=timedelta(hours=1)))
    await submit(world, finding(world, log("t3", 7), gone(6, 6), location="eu"))
    now = utc_now()
    async with db.connection() as tx:
        everything = await web3.logs_between(tx, team, id_, now - DAY, now, 10)
        newest = await web3.logs_between(tx, team, id_, now - DAY, now, 1)
        there = await web3.logs_between(tx, team, id_, now - DAY, now, 10, "ap")
        lately = await web3.logs_between(tx, team, id_, now - DAY / 48, now, 10)
        others = await web3.logs_between(tx, team + 1, id_, now - DAY, now, 10)
    assert [
        (stored_log.data["blockNumber"], stored_log.location, stored_log.removed) for stored_log in everything
    ] == [
        (7, "eu", False),
        (6, "ap", True),
        (5, "ap", False),
    ]
    assert newest == everything[:1] == lately
    assert there == everything[1:]
    assert others == []
    assert everything[0].key == f"{hash_of('t3')}:0"


async def test_the_chain_is_named_as_the_configuration_does(db: Db) -> None:
    world = await make_world(db)
    shown = []
    for config in (
        {"chain": "ethereum", "subType": "gas_price"},
        {"chainId": 137, "subType": "web3_contract_event"},
        {"source": {"chain": "base"}, "destination": {"chain": 1}, "subType": "bridge"},
        {"url": "https://example.com", "subType": "subgraph"},
        {"url": "https://example.com", "chain": None, "subType": "subgraph"},
    ):
        await of_chains(world, config, "web3")
        async with db.connection() as tx:
            chain = (await news.chains(tx, world.monitors))[world.monitors[0]]
        shown.append((chain.sub_type, chain.chain))
    assert shown == [
        ("gas_price", "ethereum"),
        ("web3_contract_event", 137),
        ("bridge", "base"),
        ("subgraph", None),
        ("subgraph", None),
    ]


async def test_logs_go_when_their_days_are_over(db: Db) -> None:
    world = await of_chains(await make_world(db), EVENTS)
    await submit(world, finding(world, log("t1", 5), ago=2 * DAY), finding(world, log("t2", 6)))
    async with db.transaction() as tx:
        assert await retention.rows(tx, "chain_logs", utc_now() - DAY, 100) == 1
    assert await world.value("SELECT block FROM web3_logs") == 6
