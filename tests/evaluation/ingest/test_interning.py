"""Texts of errors: ids make no new ones of them, and those that nothing names any more go."""

from datetime import timedelta
from uuid import uuid4

import pytest

from collector.evaluation.error_texts import Interner, normal
from collector.ops.jobs.retention import Retention
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.results import Status
from tests.evaluation.world import make_world, writing
from tests.probes.ground import fetch

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"request {uuid4()} failed", "request … failed"),
        (f"request {str(uuid4()).upper()} failed", "request … failed"),
        ("trace 4bf92f3577b34da6a3ce929d0e0e4736 failed", "trace … failed"),
        ("request 01HZX3KQ9T8YV2N5M7R4P6W1D0 failed", "request … failed"),
        ("key req_8fjK2lm9XaB3zz01Qp failed", "key req_… failed"),
        ("order 1234567 failed", "order … failed"),
        ("connection to 192.0.2.17:8443 refused", "connection to 192.0.2.17:8443 refused"),
        ("status 503, expected 200", "status 503, expected 200"),
        ("cannot resolve ec2-52-14-1-200.compute.example.com", None),
        ("the certificate of gateway2.eu-west-1.example.com ends on 2026-12-01", None),
        ("unexpected content: internationalization", None),
        ("no cipher: ECDHE-RSA-AES128-GCM-SHA256", None),
    ],
)
def test_ids_are_cut_out_and_what_says_something_stays(text: str, kept: str | None) -> None:
    assert normal(text) == (kept or text)


async def texts(db: Db) -> list[str]:
    return [row["text"] for row in await fetch(db, "SELECT text FROM errors ORDER BY text")]


async def sweep(db: Db, after: timedelta) -> None:
    """A round; whoever did the one before is gone."""
    await fetch(db, "DELETE FROM leases")
    sweeper = Retention(db, keep=30 * DAY, keep_rollups=365 * DAY, now=lambda: utc_now() + after)
    while await sweeper.turn():
        pass


async def test_texts_that_nothing_names_any_more_go(db: Db) -> None:
    """In pieces: more than one turn deletes."""
    await Interner(db).numbers([f"found {'x' * (n % 50)} {n}" for n in range(4_500)])
    await sweep(db, 31 * DAY)
    assert len(await texts(db)) == 4_500
    await sweep(db, 33 * DAY)
    assert await texts(db) == []


async def test_a_text_stays_while_a_state_or_a_day_of_results_may_name_it(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(Status.DOWN, error="of a state"))
    await Interner(db).numbers(["of a day"])
    await world.run("UPDATE errors SET seen_at = now() - interval '100 days'")
    await world.run(
        f"""
        CREATE TABLE results_{(utc_now() - 120 * DAY):%Y_%m_%d} PARTITION OF results
        FOR VALUES FROM ('{(utc_now() - 120 * DAY).date()}') TO ('{(utc_now() - 119 * DAY).date()}')
        """
    )
    await sweep(db, timedelta())
    assert await texts(db) == ["of a day", "of a state"]
    await world.run(f"DROP TABLE results_{(utc_now() - 120 * DAY):%Y_%m_%d}")
    await sweep(db, timedelta())
    assert await texts(db) == ["of a state"]


async def test_a_text_that_is_used_is_noted_twice_a_day_and_stays(db: Db) -> None:
    elapsed = [0.0]
    interner = Interner(db, clock=lambda: elapsed[0])
    [number] = (await interner.numbers(["used"])).values()
    await fetch(db, "UPDATE errors SET seen_at = now() - interval '13 hours' RETURNING 1")
    elapsed[0] = 12 * 3600 - 1
    assert await interner.numbers(["used"]) == {"used": number}
    assert await fetch(db, "SELECT 1 FROM errors WHERE seen_at < now() - interval '12 hours'")
    elapsed[0] = 12 * 3600
    assert await interner.numbers(["used"]) == {"used": number}
    assert not await fetch(db, "SELECT 1 FROM errors WHERE seen_at < now() - interval '12 hours'")


async def test_a_text_that_was_deleted_long_after_its_last_use_is_added_again(db: Db) -> None:
    elapsed = [0.0]
    interner = Interner(db, clock=lambda: elapsed[0])
    await interner.numbers(["back"])
    await sweep(db, 40 * DAY)
    assert await texts(db) == []
    elapsed[0] = 40 * 86_400.0
    async with db.transaction() as tx:
        found = await interner.within(tx, ["back", "new"])
    interner.remember(found)
    assert await interner.numbers(["back", "new"]) == found
    assert await texts(db) == ["back", "new"]
