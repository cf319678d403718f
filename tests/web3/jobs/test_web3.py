"""A crossed threshold is announced at its edges, a log once, and holds apply."""

import asyncio
from datetime import timedelta

import pytest

from collector.ops.jobs.retention import Retention
from collector.platform.storage.db import Db
from collector.web3.storage import news
from shared import ids
from shared.clock import utc_now
from tests.evaluation.world import World, make_world, new_incarnation
from tests.web3.ground import (
    EVENTS,
    HIGH,
    LOW,
    WHALE,
    finding,
    gone,
    heard,
    log,
    of_chains,
    raised,
    recovered,
    submit,
    teller,
    types,
)

pytestmark = pytest.mark.races

SILENCE = "UPDATE monitors SET silenced_until = now() + interval '1 hour'"
SPEAK = "UPDATE monitors SET silenced_until = NULL"
HOLDS = [
    pytest.param(SILENCE, SPEAK, id="silenced"),
    pytest.param(
        "UPDATE monitors SET flapping_since = now(), turned_at = ARRAY[now()]",
        "UPDATE monitors SET flapping_since = NULL",
        id="flapping",
    ),
    pytest.param(
        "UPDATE monitors SET paused_at = now()", "UPDATE monitors SET paused_at = NULL", id="paused"
    ),
    pytest.param(
        """
        INSERT INTO maintenance_spans
            (team_id, window_id, starts_at, ends_at, every, monitors, names, pairs)
        SELECT team_id, gen_random_uuid(), now() - interval '1 hour', now() + interval '1 hour', true,
            '{}', '{}', '{}' FROM teams
        """,
        "DELETE FROM maintenance_spans",
        id="maintenance",
    ),
]


async def gas(db: Db, **options: tuple[str, ...]) -> World:
    return await of_chains(await make_world(db, **options))  # type: ignore[arg-type]


async def contract(db: Db, **options: tuple[str, ...]) -> World:
    return await of_chains(await make_world(db, **options), EVENTS)  # type: ignore[arg-type]


async def test_a_gas_alert_is_as_the_interface_shows_it(db: Db) -> None:
    world = await gas(db)
    await submit(world, finding(world, raised()))
    [told] = await heard(world)
    timestamp = told.pop("timestamp")
    assert timestamp.endswith("Z")
    assert told == {
        "event": "web3.gas.alert",
        "monitor": {
            "id": ids.show("mon", world.ids[world.monitors[0]]),
            "name": "api 1",
            "type": "gas_price",
            "chain": "ethereum",
        },
        "alert": {
            "type": "high_gas",
            "currentGwei": 251.3,
            "thresholdGwei": 200,
            "message": "gas costs 251.3 gwei",
        },
    }


async def test_its_recovery_is_the_same_event_of_another_type(db: Db) -> None:
    world = await gas(db)
    await submit(world, finding(world, raised()))
    assert types(await heard(world)) == ["high_gas"]
    await submit(world, finding(world, recovered()))
    told = await heard(world)
    assert told[1]["alert"] == {
        "type": "high_gas_recovered",
        "currentGwei": 150,
        "thresholdGwei": 200,
        "message": "gas costs 150 gwei",
    }
    assert types(await heard(world)) == ["high_gas", "high_gas_recovered"]
    assert await world.value("SELECT count(*) FROM web3_alerts") == 0


async def test_other_thresholds_are_told_in_decimal_texts(db: Db) -> None:
    world = await of_chains(await make_world(db), {"subType": "liquidation", "chain": "base"}, type_="web3")
    said = {"current": "1.05", "threshold": "1.1", "unit": "", "message": "health factor is 1.05"}
    await submit(world, finding(world, raised("low_health_factor", **said)))
    [told] = await heard(world)
    assert (told["event"], told["monitor"]["type"], told["monitor"]["chain"]) == (
        "web3.alert",
        "web3",
        "base",
    )
    assert told["alert"] == {
        "type": "low_health_factor",
        "subType": "liquidation",
        "current": "1.05",
        "threshold": "1.1",
        "unit": None,
        "message": "health factor is 1.05",
    }


async def test_a_threshold_that_is_gone_is_over(db: Db) -> None:
    world = await gas(db)
    await submit(world, finding(world, raised()))
    await heard(world)
    await submit(world, finding(world, recovered(current=None, threshold=None, unit="", message="")))
    told = await heard(world)
    assert told[1]["alert"] == {
        "type": "high_gas_recovered",
        "currentGwei": None,
        "thresholdGwei": 200,
        "message": "high_gas is not watched any more",
    }


async def test_it_is_told_once_however_many_locations_and_tellers_there_are(db: Db) -> None:
    world = await gas(db, locations=("ap", "eu", "us"))
    await submit(world, *(finding(world, raised(), location=name) for name in ("ap", "eu", "us")))
    tellers = [teller(world) for _ in range(4)]
    await asyncio.gather(*(one.turn() for one in tellers))
    assert types(await heard(world)) == ["high_gas"]
    await submit(world, *(finding(world, recovered(), location=name) for name in ("ap", "us")))
    assert types(await heard(world)) == ["high_gas"]
    await submit(world, finding(world, recovered(), location="eu"))
    await asyncio.gather(*(one.turn() for one in tellers))
    assert types(await heard(world)) == ["high_gas", "high_gas_recovered"]


async def test_a_crossing_that_was_over_before_anybody_told_it_is_told_with_its_end(db: Db) -> None:
    world = await gas(db)
    await submit(world, finding(world, raised()), finding(world, recovered()))
    assert types(await heard(world)) == ["high_gas", "high_gas_recovered"]


async def test_one_that_is_crossed_again_before_its_end_was_told_goes_on(db: Db) -> None:
    world = await gas(db)
    await submit(world, finding(world, raised()))
    await heard(world)
    await submit(world, finding(world, recovered()), finding(world, raised()))
    assert types(await heard(world)) == ["high_gas"]
    assert await world.value("SELECT told_at IS NOT NULL AND locations <> '{}' FROM web3_alerts")


@pytest.mark.parametrize(("hold", "release"), HOLDS)
async def test_a_crossing_that_is_held_back_is_told_at_the_end_of_the_hold(
    db: Db, hold: str, release: str
) -> None:
    world = await gas(db)
    await world.run(hold)
    await submit(world, finding(world, raised()))
    assert await heard(world) == []
    await world.run(release)
    assert types(await heard(world)) == ["high_gas"]


@pytest.mark.parametrize(("hold", "release"), HOLDS)
async def test_a_crossing_that_came_back_while_it_was_held_is_told_to_nobody(
    db: Db, hold: str, release: str
) -> None:
    world = await gas(db)
    await world.run(hold)
    await submit(world, finding(world, raised()), finding(world, recovered()))
    told = await heard(world)
    if "paused" not in hold:
        await world.run(release)
        told = await heard(world)
    assert told == []


async def test_who_was_told_of_a_crossing_hears_of_its_end_in_a_silence_but_not_in_a_pause(db: Db) -> None:
    world = await gas(db)
    await submit(world, finding(world, raised(), raised("low_gas")))
    await heard(world)
    await world.run(SILENCE)
    await submit(world, finding(world, recovered()))
    assert types(await heard(world)) == ["high_gas", "low_gas", "high_gas_recovered"]
    await world.run("UPDATE monitors SET paused_at = now()")
    await submit(world, finding(world, recovered("low_gas")))
    assert len(await heard(world)) == 3
    await world.run("UPDATE monitors SET paused_at = NULL")
    assert types(await heard(world))[3:] == ["low_gas_recovered"]


async def test_logs_are_told_once_each_in_the_order_of_the_chain(db: Db) -> None:
    world = await contract(db, locations=("ap", "eu"))
    found = (log("t3", 8), log("t2", 7, index=2), log("t1", 7, index=1))
    await submit(world, finding(world, *found, location="ap"), finding(world, *found, location="eu"))
    told = await heard(world)
    assert [(item["log"]["blockNumber"], item["log"]["logIndex"]) for item in told] == [
        (7, 1),
        (7, 2),
        (8, 0),
    ]
    assert (told[0]["event"], told[0]["monitor"]["chain"]) == ("web3.event", 1)
    assert sorted(told[0]["log"]) == [
        "address", "args", "blockNumber", "logIndex", "name", "removed", "transactionHash",
    ]  # fmt: skip
    assert len(await heard(world)) == 3


async def test_a_single_transfer_is_an_alert_with_its_log(db: Db) -> None:
    world = await of_chains(await make_world(db), WHALE)
    alert = {"type": "large_transfer", **HIGH, "unit": "ETH"}
    native = log("t1", 9, alert=alert, logIndex=None)
    native = type(native)(native.found, native.key.replace(":0", ":native"), native.data)
    await submit(world, finding(world, native))
    await heard(world)
    await submit(world, finding(world, gone(9, 9)))
    told = await heard(world)
    assert types(told) == ["large_transfer", "large_transfer_removed"]
    assert {item["event"] for item in told} == {"web3.alert"}
    assert [item["log"]["removed"] for item in told] == [False, True]
    assert told[0]["alert"]["subType"] == "whale_wallet"
    assert told[0]["log"]["logIndex"] is None


async def test_what_the_chain_takes_back_is_told_once_to_who_was_told_of_it(db: Db) -> None:
    world = await contract(db, locations=("ap", "eu"))
    await submit(world, finding(world, log("t1", 5), log("t2", 6), location="ap"))
    await heard(world)
    for location in ("ap", "eu"):
        await submit(world, finding(world, log("t2", 7, branch="b"), gone(5, 7), location=location))
    told = await heard(world)
    assert [(item["log"]["blockNumber"], item["log"]["removed"]) for item in told] == [
        (5, False),
        (6, False),
        (5, True),
    ]


async def test_what_was_taken_back_before_anybody_told_it_is_told_to_nobody(db: Db) -> None:
    world = await contract(db)
    await submit(world, finding(world, log("t1", 5)), finding(world, gone(5, 5)))
    assert await heard(world) == []


async def test_what_lies_in_the_chain_again_is_told_again(db: Db) -> None:
    world = await contract(db)
    await submit(world, finding(world, log("t1", 5)))
    await heard(world)
    await submit(world, finding(world, gone(5, 5)))
    await heard(world)
    await submit(world, finding(world, log("t1", 9, branch="b")))
    told = await heard(world)
    assert [(item["log"]["blockNumber"], item["log"]["removed"]) for item in told] == [
        (5, False),
        (5, True),
        (9, False),
    ]


@pytest.mark.oldest
async def test_logs_that_fall_into_a_silence_are_kept_and_never_told(db: Db) -> None:
    world = await contract(db)
    await world.run(SILENCE)
    await submit(world, finding(world, log("t1", 5), log("t2", 6)))
    assert await heard(world) == []
    await world.run(SPEAK)
    await submit(world, finding(world, gone(5, 5), log("t3", 7)))
    assert [item["log"]["blockNumber"] for item in await heard(world)] == [7]
    assert await world.value("SELECT count(*) FROM web3_logs") == 3


async def test_logs_found_while_the_nodes_come_and_go_are_told_when_that_is_over(db: Db) -> None:
    world = await contract(db)
    await world.run("UPDATE monitors SET flapping_since = now(), turned_at = ARRAY[now()]")
    await submit(world, finding(world, log("t1", 5)))
    assert await heard(world) == []
    await world.run("UPDATE monitors SET flapping_since = NULL")
    assert len(await heard(world)) == 1


async def test_more_logs_than_one_turn_tells_are_told_in_order_and_no_faster_than_anybody_reads(
    db: Db,
) -> None:
    world = await contract(db)
    for part in range(3):
        numbers = range(part * 450, part * 450 + 450)
        await submit(world, finding(world, *(log(f"t{n}", n) for n in numbers)))
    told = await heard(world)
    assert [item["log"]["blockNumber"] for item in told] == list(range(1000))
    await world.run("UPDATE web3_logs SET told_at = told_at - interval '1 minute'")
    assert [item["log"]["blockNumber"] for item in await heard(world)] == list(range(1350))


async def test_of_many_monitors_that_have_much_to_tell_one_turn_tells_some_of_each(db: Db) -> None:
    world = await of_chains(await make_world(db, monitors=3), EVENTS)
    for monitor in world.monitors:
        await submit(world, finding(world, *(log(f"{monitor}-{n}", n) for n in range(60)), monitor=monitor))
    assert await teller(world).turn() is True
    text = "SELECT count(*) AS told FROM events WHERE kind = 'web3.event' GROUP BY stream_id ORDER BY told"
    assert [row["told"] for row in await world.fetch(text)] == [33, 33, 34]
    assert len(await heard(world)) == 180


async def test_nobody_is_told_twice_by_a_teller_that_dies_before_its_commit(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await contract(db)
    await submit(world, finding(world, log("t1", 5), raised("paused")))
    dying = asyncio.create_task(teller(world).turn())
    await asyncio.sleep(0)
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    assert len(await heard(world)) == 2


async def test_more_monitors_than_one_turn_takes_are_all_told_of(db: Db) -> None:
    world = await of_chains(await make_world(db, monitors=45))
    await submit(world, *(finding(world, raised(), monitor=monitor) for monitor in world.monitors))
    one = teller(world)
    assert [await one.turn() for _ in range(3)] == [True, True, False]
    assert len(await heard(world)) == 45


async def test_what_a_silence_holds_back_is_not_looked_at_until_it_ends(db: Db) -> None:
    world = await gas(db)
    await world.run(SILENCE)
    await submit(world, finding(world, raised()))
    async with db.connection() as tx:
        assert await news.waiting(tx, 0, utc_now(), 10) == []
        assert await news.waiting(tx, 0, utc_now() + timedelta(hours=2), 10) == world.monitors


async def test_a_deleted_monitor_takes_all_of_it_along(db: Db) -> None:
    world = await contract(db)
    await submit(world, finding(world, log("t1", 5), raised("paused")))
    await world.run("DELETE FROM states")
    await world.run("DELETE FROM monitors")
    assert (
        await world.value("SELECT (SELECT count(*) FROM web3_logs) + (SELECT count(*) FROM web3_alerts)") == 0
    )


async def test_the_end_of_a_crossing_is_told_of_by_another_process_of_the_probe(db: Db) -> None:
    world = await gas(db)
    await submit(world, finding(world, raised()))
    await heard(world)
    await new_incarnation(world, 99)
    await submit(world, finding(world, recovered(**LOW)))
    assert types(await heard(world)) == ["high_gas", "high_gas_recovered"]


async def test_logs_go_when_results_of_their_age_do(db: Db) -> None:
    world = await contract(db)
    await submit(world, finding(world, log("t1", 5), log("t2", 6)))
    await world.run("UPDATE web3_logs SET found_at = found_at - interval '31 days' WHERE block = 5")
    days = timedelta(days=30)
    work = Retention(db, keep=days, keep_rollups=days, now=utc_now)
    while await work.turn():
        pass
    assert await world.value("SELECT array_agg(block) FROM web3_logs") == [6]
