"""Following events: one reader for everybody, which reads nothing while there is nobody."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import asyncpg
import orjson
import pytest

from collector.app import _hear
from collector.evaluation import event_writer
from collector.events import stream
from collector.events.core.kinds import CHANGES, EventKind
from collector.events.storage import events
from collector.events.stream import EventStreamHub, Start, StreamFollower
from collector.monitors.storage import monitors
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import utc_now
from shared.errors import Conflict, Unavailable
from shared.loop import forever
from tests.notifications.ground import happen, make_team
from tests.probes.ground import eventually, make_monitors

pytestmark = pytest.mark.races

PUBLIC_URL = "https://tocsin.example.com"


@pytest.fixture
async def hub(db: Db) -> AsyncIterator[EventStreamHub]:
    hub = EventStreamHub(db, public_url=PUBLIC_URL, now=utc_now)
    yield hub
    await hub.close()


async def follow(hub: EventStreamHub, team: int, after: UUID | None = None) -> StreamFollower:
    return hub.join(team, ids.uuid7(), await hub.start(team, after), lambda: False, most=600)


async def heard(listener: StreamFollower, count: int) -> list[str]:
    """The kinds of the next *count* events."""
    found: list[str] = []
    async with asyncio.timeout(20):
        while len(found) < count:
            found.extend(note.kind for note in await listener.take(20))
    return found


def at_work() -> int:
    return sum(task.get_name() == "following" for task in asyncio.all_tasks())


async def last_asked(database_url: str) -> datetime:
    """When somebody but us asked this database last."""
    own = await asyncpg.connect(database_url)
    try:
        moment: datetime = await own.fetchval(
            "SELECT max(query_start) FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return moment
    finally:
        await own.close()


async def test_one_reader_serves_all_teams(db: Db, hub: EventStreamHub) -> None:
    teams = [await make_team(db, f"team {number}") for number in range(5)]
    listeners = [await follow(hub, team) for team in teams for _ in range(2)]
    for team in teams:
        await happen(db, team, ids.uuid7(), "monitor.down")
    hub.bell.ring()

    assert [await heard(each, 1) for each in listeners] == [["monitor.down"]] * 10
    assert at_work() == 1


async def test_nobody_s_following_costs_nothing(db: Db, database_url: str, hub: EventStreamHub) -> None:
    team = await make_team(db)
    assert at_work() == 0
    hub.bell.ring()
    listener = await follow(hub, team)
    hub.leave(listener)
    await asyncio.sleep(0)
    assert at_work() == 0

    before = await last_asked(database_url)
    await asyncio.sleep(1.5)  # longer than a reader's rest
    assert await last_asked(database_url) == before


async def test_one_who_stands_further_than_the_reader_hears_nothing_twice(
    db: Db, hub: EventStreamHub
) -> None:
    team, monitor = await make_team(db), ids.uuid7()
    early = await follow(hub, team)
    await happen(db, team, monitor, "monitor.down", "monitor.up")
    late = await follow(hub, team)
    await happen(db, team, monitor, "monitor.degraded")
    hub.bell.ring()

    assert await heard(early, 3) == ["monitor.down", "monitor.up", "monitor.degraded"]
    assert await heard(late, 1) == ["monitor.degraded"]


@pytest.mark.oldest
async def test_what_happens_while_one_catches_up_is_told_once(db: Db, hub: EventStreamHub) -> None:
    team, monitor = await make_team(db), ids.uuid7()
    await happen(db, team, monitor, *["monitor.down", "monitor.up"] * 10)
    other = await follow(hub, team)
    listener = await follow(hub, team, stream.ORIGIN)
    await happen(db, team, monitor, "monitor.degraded")
    hub.bell.ring()
    await heard(other, 1)

    missed = [note.position async for page in hub.missed(listener) for note in page]
    new = [note.position for note in await listener.take(20)]
    assert missed + new == list(range(1, 22))


async def test_a_commit_elsewhere_is_heard_by_its_notification(
    db: Db, hub: EventStreamHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_REST", timedelta(hours=1))
    near, far = Signals(db), Signals(db)
    hour = timedelta(hours=1)
    loops = [
        asyncio.create_task(forever("near", near.turn, hour, near.bell)),
        asyncio.create_task(forever("listen", far.listen, hour)),
        asyncio.create_task(forever("far", partial(_hear, far, hub), hour, far.bell)),
    ]
    await eventually(partial(_listens, db))
    team = await make_team(db)
    listener = await follow(hub, team)

    await happen(db, team, ids.uuid7(), "monitor.down")
    near.ring()

    assert await heard(listener, 1) == ["monitor.down"]
    for loop in loops:
        loop.cancel()
    await asyncio.gather(*loops, return_exceptions=True)


async def _listens(db: Db) -> bool:
    async with db.connection() as tx:
        return bool(
            await tx.fetchval(
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE 'LISTEN %'"
            )
        )


async def test_a_lost_connection_loses_no_event(db: Db, hub: EventStreamHub, database_url: str) -> None:
    team, monitor = await make_team(db), ids.uuid7()
    listener = await follow(hub, team)
    await happen(db, team, monitor, "monitor.down")
    other = await Db.open(database_url, size=1, name="other")
    async with other.connection() as tx:
        await tx.execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        )
    hub.bell.ring()
    await happen(other, team, monitor, "monitor.up")

    assert await heard(listener, 2) == ["monitor.down", "monitor.up"]
    await other.close()


async def test_after_the_end_nobody_joins(db: Db, hub: EventStreamHub) -> None:
    team = await make_team(db)
    listener = await follow(hub, team)
    await hub.close()

    assert await listener.take(20) == []
    assert listener.ended
    with pytest.raises(Unavailable):
        await follow(hub, team)


@pytest.mark.parametrize("kind", sorted(CHANGES))
async def test_a_change_says_how_the_monitor_stands(db: Db, hub: EventStreamHub, kind: EventKind) -> None:
    team = await make_team(db)
    listener = await follow(hub, team)
    await make_monitors(db, team, now=utc_now())
    async with db.transaction() as tx:
        id_ = await tx.fetchval("SELECT id FROM monitors")
        monitor = await monitors.get(tx, team, id_)
        assert monitor is not None
        await events.append_all(tx, [event_writer.change(kind, monitor, utc_now())], utc_now())
    hub.bell.ring()
    [note] = await listener.take(20)

    told = orjson.loads(note.data)
    assert told.pop("timestamp")
    assert told == {
        "event": kind,
        "id": note.id,
        "sequence": 1,
        "monitor": {
            "id": ids.show("mon", id_),
            "name": "api",
            "type": "http",
            "url": "https://example.com/",
            "status": "deleted" if kind == EventKind.MONITOR_DELETED else "up",
        },
        "links": {"monitor": f"{PUBLIC_URL}/monitors/{ids.show('mon', id_)}"},
    }


async def test_no_four_teams_take_all_places_of_a_process(hub: EventStreamHub) -> None:
    start = Start(0, ids.uuid7(), 0)
    held = []
    for team in range(1, 11):
        taken = 0
        with pytest.raises((Conflict, Unavailable)):
            while True:
                hub.join(team, ids.uuid7(), start, lambda: False, most=600)
                taken += 1
        held.append(taken)

    assert held[:4] == [600, 600, 400, 200]
    assert all(taken > 0 for taken in held)
