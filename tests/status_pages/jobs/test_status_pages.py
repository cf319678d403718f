"""Maintenance that a status page planned begins and ends by itself; what nobody waits for is forgotten."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from collector.platform.storage.db import Db
from collector.status_pages.jobs.pages import StatusPages
from collector.status_pages.service import incidents
from collector.status_pages.storage.incidents import PageIncidentFilter
from shared.clock import iso, utc_now
from tests.status_pages.page_ground import left, mails, make_page, publish, subscribe, update

HOUR = timedelta(hours=1)


async def plan(db: Db, start: timedelta, end: timedelta | None, **more: Any) -> Any:
    who, page = await make_page(db)
    now = utc_now()
    body = {"severity": "maintenance", "scheduledStart": iso(now + start), **more}
    if end is not None:
        body["scheduledEnd"] = iso(now + end)
    return who, page, await publish(db, who, page, **body)


async def told(db: Db, page: Any) -> list[tuple[str, str]]:
    """Status and message of each update of the page's only incident."""
    async with db.connection() as tx:
        [details] = await incidents.newest(tx, page.team_id, page.id, PageIncidentFilter(), None)
    return [(update.status, update.message) for update in details.updates]


async def occasions(db: Db) -> list[str]:
    async with db.connection() as tx:
        rows = await tx.fetch("SELECT occasion FROM status_news ORDER BY created_at")
    return [row["occasion"] for row in rows]


async def test_it_begins_and_ends_when_that_was_planned_and_each_is_told_once(db: Db) -> None:
    _, page, _ = await plan(db, HOUR, 2 * HOUR)
    ahead = [timedelta()]
    sweepers = [StatusPages(db, now=lambda: utc_now() + ahead[0]) for _ in range(2)]

    for hours in (0, 1, 1, 2, 2):
        ahead[0] = hours * HOUR + timedelta(minutes=1)
        for sweeper in sweepers:
            await sweeper.turn()

    assert await told(db, page) == [
        ("investigating", "We look into it"),
        ("identified", "The maintenance has begun."),
        ("resolved", "The maintenance is over."),
    ]
    assert await occasions(db) == ["planned", "begun", "done"]


@pytest.mark.oldest
async def test_subscribers_are_reminded_once_ahead_of_it(db: Db) -> None:
    _, _, _ = await plan(db, 3 * HOUR, None, reminderMinutes=60)
    ahead = [timedelta()]
    sweepers = [StatusPages(db, now=lambda: utc_now() + ahead[0]) for _ in range(2)]

    async def at(hours: float) -> list[str]:
        ahead[0] = hours * HOUR
        await asyncio.gather(*(sweeper.turn() for sweeper in sweepers))
        return await occasions(db)

    assert await at(1.9) == ["planned"]
    assert await at(2.1) == ["planned", "reminder"]
    assert await at(2.2) == ["planned", "reminder"]
    assert await at(3.1) == ["planned", "reminder", "begun"]


async def test_a_new_start_is_reminded_of_again(db: Db) -> None:
    who, page, id_ = await plan(db, 3 * HOUR, None, reminderMinutes=60)
    await StatusPages(db, now=lambda: utc_now() + 2.5 * HOUR).turn()
    start = iso(utc_now() + 9 * HOUR)
    await update(db, who, page, id_, "investigating", scheduledStart=start)

    counted = []
    for hours in (2.5, 7.9, 8.1, 8.2):
        await StatusPages(db, now=lambda hours=hours: utc_now() + hours * HOUR).turn()
        counted.append((await occasions(db)).count("reminder"))

    assert counted == [1, 1, 2, 2]


@pytest.mark.oldest
async def test_what_somebody_said_by_hand_is_not_said_again(db: Db) -> None:
    who, page, id_ = await plan(db, HOUR, None)
    await update(db, who, page, id_, "identified")

    await StatusPages(db, now=lambda: utc_now() + 2 * HOUR).turn()

    assert [status for status, _ in await told(db, page)] == ["investigating", "identified"]
    assert await occasions(db) == ["planned", "begun"]


async def test_it_begins_late_where_no_collector_ran_and_says_only_how_it_is(db: Db) -> None:
    _, page, _ = await plan(db, HOUR, 2 * HOUR)

    await StatusPages(db, now=lambda: utc_now() + 5 * HOUR).turn()

    assert [status for status, _ in await told(db, page)] == ["investigating", "resolved"]


async def test_an_incident_that_is_no_maintenance_ends_by_hand(db: Db) -> None:
    who, page = await make_page(db)
    await publish(db, who, page)

    await StatusPages(db, now=lambda: utc_now() + 500 * HOUR).turn()

    assert len(await told(db, page)) == 1


@pytest.mark.parametrize(("by_form", "stays"), [(True, False), (False, True)])
async def test_who_subscribed_on_the_page_and_never_confirmed_goes(
    db: Db, by_form: bool, stays: bool
) -> None:
    _, page = await make_page(db)
    await subscribe(db, page, ["name@example.com"], verified_at=None, by_form=by_form)

    await StatusPages(db, now=utc_now).turn()
    assert await subscribers(db) == 1
    await StatusPages(db, now=lambda: utc_now() + 49 * HOUR).turn()

    assert await subscribers(db) == int(stays)


async def test_news_of_yesterday_are_told_to_nobody(db: Db) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, ["name@example.com"])
    await publish(db, who, page)
    await mails(db, "smtp://localhost:1?starttls=0", most=0).turn()
    async with db.transaction() as tx:
        await tx.execute("UPDATE status_letters SET created_at = now() - interval '25 hours'")
        await tx.execute("UPDATE status_news SET created_at = now() - interval '25 hours'")

    await StatusPages(db, now=utc_now).turn()

    assert await left(db) == 0


async def subscribers(db: Db) -> int:
    async with db.connection() as tx:
        total: int = await tx.fetchval("SELECT count(*) FROM status_subscribers")
    return total
