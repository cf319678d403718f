"""Channels are notified that a maintenance window begins and that it ends, once each."""

import asyncio
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from collector.events.core.events import Fact, body
from collector.maintenance.jobs.news import MaintenanceNews
from collector.maintenance.jobs.windows import Maintenance
from collector.maintenance.service import windows as deeds
from collector.notifications.jobs.router import Router
from collector.platform.access import system
from collector.platform.committed_events import commit_hook
from collector.platform.storage.db import Db
from shared.clock import iso, utc_now
from shared.ids import show
from tests.notifications.ground import make_channel, make_team

MINUTE = timedelta(minutes=1)
NOW = utc_now().replace(microsecond=0)
BOTH = ["maintenance.started", "maintenance.ended"]


async def plan(db: Db, team_id: int, start: datetime = NOW, **fields: Any) -> UUID:
    """A window of half an hour, for every monitor."""
    wanted = {"name": "upgrade", "all": True, "start": iso(start), "duration": 1800, **fields}
    return (await deeds.create(db, system(team_id), wanted, NOW - MINUTE)).row.id


async def look(db: Db, *minutes: float) -> list[float]:
    """So many minutes after its start; return when something was announced."""
    rung: list[float] = []
    for minute in minutes:
        now = NOW + minute * MINUTE
        db.pass_on = commit_hook(partial(rung.append, minute), lambda: None)
        await Maintenance(db, now=lambda now=now: now).turn()
        turns = MaintenanceNews(db, now=lambda now=now: now)
        while await turns.turn():
            pass
    return rung


async def told(db: Db) -> list[dict[str, Any]]:
    async with db.connection() as tx:
        rows = await tx.fetch("SELECT * FROM events ORDER BY position")
    return [
        body(
            Fact(row["id"], row["kind"], row["stream_id"], row["sequence"], row["payload"], None),
            "https://tocsin.example.com",
        )
        for row in rows
    ]


async def kinds(db: Db) -> list[str]:
    return [item["event"] for item in await told(db)]


async def test_a_window_is_told_of_when_it_begins_and_when_it_is_over(db: Db) -> None:
    team = await make_team(db)
    window = await plan(db, team, description="New disks")
    assert await look(db, -0.5, 0, 0.1, 29.9, 30, 30.1, 90) == [0, 30]

    begins, ends = await told(db)
    shown = show("mw", window)
    assert begins == {
        "event": "maintenance.started",
        "id": begins["id"],
        "sequence": 1,
        "timestamp": iso(NOW),
        "maintenanceWindow": {
            "id": shown,
            "name": "upgrade",
            "description": "New disks",
            "all": True,
            "monitors": [],
            "tags": {},
            "startsAt": iso(NOW),
            "endsAt": iso(NOW + 30 * MINUTE),
        },
        "links": {"maintenanceWindow": f"https://tocsin.example.com/maintenance-windows/{shown}"},
    }
    assert (ends["event"], ends["sequence"]) == ("maintenance.ended", 2)
    assert ends["maintenanceWindow"] == begins["maintenanceWindow"]


async def test_of_several_collectors_one_tells_it_even_if_their_clocks_differ(db: Db) -> None:
    await plan(db, await make_team(db))
    for minute in (0.0, 30.0):
        await asyncio.gather(*(look(db, minute) for _ in range(4)))
    await look(db, 29.99, 30.01, 29.98)
    assert await kinds(db) == BOTH


@pytest.mark.parametrize("deed", ["end", "delete", "disable"])
async def test_one_that_somebody_cuts_short_is_over_then(db: Db, deed: str) -> None:
    team = await make_team(db)
    window, who, early = await plan(db, team), system(team), NOW + 10 * MINUTE
    await look(db, 1)
    if deed == "end":
        await deeds.end(db, who, window, early)
    elif deed == "delete":
        await deeds.delete(db, who, window, early)
    else:
        await deeds.update(db, who, window, {"enabled": False}, early)
    await look(db, 10.1, 40)

    assert await kinds(db) == BOTH
    assert (await told(db))[1]["maintenanceWindow"]["endsAt"] == iso(early)


@pytest.mark.oldest
async def test_one_that_is_made_longer_or_is_for_others_goes_on(db: Db) -> None:
    team = await make_team(db)
    window, who = await plan(db, team), system(team)
    await look(db, 1)
    await deeds.update(db, who, window, {"tags": ["db"], "all": False}, NOW + 5 * MINUTE)
    await look(db, 6)
    await deeds.update(db, who, window, {"duration": 3600}, NOW + 10 * MINUTE)
    await look(db, 11, 31)
    assert await kinds(db) == BOTH[:1]
    await look(db, 60)
    assert await kinds(db) == BOTH


async def test_one_that_recurs_is_told_of_each_time(db: Db) -> None:
    await plan(db, await make_team(db), timezone="UTC", rrule="FREQ=DAILY;COUNT=3")
    day = 24 * 60
    await look(db, *(day * number + minute for number in range(4) for minute in (1, 31)))
    assert await kinds(db) == BOTH * 3


async def test_one_that_was_over_before_anybody_looked_is_no_news(db: Db) -> None:
    await plan(db, await make_team(db))
    assert await look(db, 45) == []
    assert await kinds(db) == []


async def test_a_channel_that_asks_for_it_hears_it_and_no_other_team_s(db: Db) -> None:
    team, other = await make_team(db), await make_team(db, "Other")
    elsewhere = [show("mon", UUID(int=1))]
    asks = await make_channel(db, team, "http://127.0.0.1:9/", events=["maintenance.*"], monitors=[])
    narrowed = await make_channel(db, team, "http://127.0.0.1:9/", events=["*"], monitors=elsewhere)
    await make_channel(db, team, "http://127.0.0.1:9/")
    await make_channel(db, other, "http://127.0.0.1:9/", events=["*"])
    await plan(db, team)
    await look(db, 0, 30)
    await Router(db).turn()

    async with db.connection() as tx:
        rows = await tx.fetch("SELECT channel_id, event_kind FROM deliveries ORDER BY sequence")
    assert {(row["channel_id"], row["event_kind"]) for row in rows} == {
        (channel, kind) for channel in (asks, narrowed) for kind in BOTH
    }
