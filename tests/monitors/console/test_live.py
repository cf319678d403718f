"""Open lists follow checks: one read for all of a team, each list only what it shows."""

from datetime import timedelta

import pytest

from collector.monitors.console.live import draw
from collector.monitors.service.pulse import CheckFeed
from shared import ids
from shared.clock import utc_now
from tests.http.client import Api
from tests.http.rows import insert
from tests.monitors.monitors import location, make, number, result

pytestmark = pytest.mark.shares_server


@pytest.mark.oldest
async def test_a_list_is_sent_the_checks_of_its_monitors_and_no_other_team_any(api: Api) -> None:
    shop, mail = await make(api, name="shop"), await make(api, name="mail")
    shown = {name: ids.read("mon", name) for name in (shop, mail)}
    shop_id, mail_id = shown[shop], shown[mail]
    assert shop_id
    assert mail_id
    now, where = utc_now(), await location(api, "local")
    async with api.context.db.transaction() as tx:
        await tx.execute("DELETE FROM states")
    for id_ in (shop, mail):
        monitor = await number(api, id_)
        row = {"monitor": monitor, "location": where, "turn": 0, "revision": 1, "last_status": 1}
        await insert(api.context.db, "states", {**row, "last_at": now, "last_ms": 5})
        await result(api, monitor, now, ms=5)
    pulse = CheckFeed(api.context.db, draw)
    both = pulse.join(api.team_id, {shop_id: None, mail_id: None})
    single = pulse.join(api.team_id, {shop_id: now - timedelta(minutes=1)})
    strange = pulse.join(api.team_id + 1, {shop_id: None})
    for reader in pulse._tasks.values():
        reader.cancel()  # else it takes turns between those of this test

    await pulse.turn(api.team_id)
    await pulse.turn(api.team_id + 1)

    assert (await both.take(1)).count(b"event: check") == 2
    mine = await single.take(1)
    assert mine.count(b"event: check") == 1
    assert shop.encode() in mine
    assert strange.news == {}
    await pulse.turn(api.team_id)
    assert both.news == {}
    for each in (both, single, strange):
        pulse.leave(each)


async def test_closing_ends_lists_at_once(api: Api) -> None:
    pulse = CheckFeed(api.context.db, draw)
    follower = pulse.join(api.team_id, {})

    pulse.close()

    assert follower.ended
    assert await follower.take(60) == b""
    pulse.leave(follower)
