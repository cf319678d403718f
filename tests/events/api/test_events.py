"""GET /v1/events: events arrive in order, once, for their team alone, and the stream resumes anywhere."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.events import api as handler
from collector.events import stream as following
from collector.events.storage import events
from collector.events.stream import EventStreamHub
from collector.platform.access import Permission
from collector.platform.storage.db import Db
from collector.server import Features, make, serve
from shared import ids
from shared.clock import utc_now
from tests.events.payloads import payload_of
from tests.events.sse import Block, connected, listening
from tests.http.client import Api
from tests.http.fixtures import PUBLIC_URL
from tests.notifications.ground import happen, make_incident
from tests.probes.ground import eventually
from tests.waiting import WAITING

pytestmark = pytest.mark.races

MONITOR, OTHER = ids.uuid7(), ids.uuid7()


async def occur(api: Api, *kinds: str, monitor: UUID = MONITOR) -> None:
    """Events of the caller's team; its streams are woken at once."""
    await happen(api.context.db, api.team_id, monitor, *kinds)
    api.features.following.bell.ring()


async def newest(api: Api) -> str:
    async with api.context.db.connection() as tx:
        found = await tx.fetchval(
            "SELECT id FROM events WHERE team_id = $1 ORDER BY position DESC LIMIT 1", api.team_id
        )
    return ids.show("evt", found)


def kinds(blocks: list[Block]) -> list[str | None]:
    return [block.event for block in blocks]


def followers() -> list[str]:
    """Background work of following, in this process."""
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name() == "following"]


@pytest.fixture(autouse=True)
def _short_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a client that went is missed soon."""
    monkeypatch.setattr(following, "_REST", timedelta(milliseconds=50))


@pytest.fixture
async def second(api: Api, database_url: str) -> AsyncIterator[Api]:
    """The same team at another collector of the same database."""
    db = await Db.open(database_url, size=4, name="second")
    context = replace(api.context, db=db)
    features = Features(following=EventStreamHub(db, public_url=PUBLIC_URL, now=api.clock))
    runner = await serve(make(context, features), "127.0.0.1:0")
    try:
        yield replace(
            api, url=f"http://127.0.0.1:{runner.addresses[0][1]}", context=context, features=features
        )
    finally:
        await features.following.close()
        await runner.cleanup()
        await db.close()


async def test_an_event_is_told_as_webhooks_tell_it(api: Api) -> None:
    incident = await make_incident(api.context.db, api.team_id, MONITOR)
    async with listening(api) as stream:
        await happen(api.context.db, api.team_id, MONITOR, "monitor.down", incident_id=incident)
        api.features.following.bell.ring()
        [block] = await stream.events(1)

    assert block.event == block.data["event"] == "monitor.down"
    assert block.id == block.data["id"] == await newest(api)
    assert block.data["sequence"] == 1
    assert block.data["monitor"]["name"] == "api é"
    assert block.data["links"] == {
        "monitor": f"{PUBLIC_URL}/monitors/{ids.show('mon', MONITOR)}",
        "incident": f"{PUBLIC_URL}/incidents/{ids.show('inc', incident)}",
    }


async def test_the_answer_is_a_stream_that_nobody_keeps(api: Api) -> None:
    async with listening(api) as stream:
        assert stream.headers["content-type"] == "text/event-stream"
        assert stream.headers["cache-control"] == "no-store"
        assert stream.headers["x-accel-buffering"] == "no"
        assert stream.headers["x-request-id"]
        assert stream.opening[0] == Block(retry="2000")
        assert stream.opening[1].id


async def test_head_answers_without_a_stream(api: Api) -> None:
    answer = await api.call("HEAD", "/v1/events")

    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
    assert followers() == []


async def test_it_begins_now_and_keeps_the_order(api: Api) -> None:
    await occur(api, "monitor.down", "monitor.up")
    async with listening(api) as stream:
        for number in range(20):
            await occur(api, "monitor.down", "monitor.up", monitor=(MONITOR, OTHER)[number % 2])
        blocks = await stream.events(40)

    assert kinds(blocks) == ["monitor.down", "monitor.up"] * 20
    assert [block.data["sequence"] for block in blocks if MONITOR_ID in block.data["links"]["monitor"]] == [
        *range(3, 23)
    ]


MONITOR_ID = ids.show("mon", MONITOR)


@pytest.mark.parametrize("as_header", [True, False])
async def test_it_resumes_with_what_happened_in_between(api: Api, as_header: bool) -> None:
    async with listening(api) as stream:
        await occur(api, "monitor.down")
        [last] = await stream.events(1)
    await occur(api, "monitor.up", "monitor.down", "monitor.up")
    assert last.id

    query = "" if as_header else f"?lastEventId={last.id}"
    headers = {"Last_Event_ID": last.id} if as_header else {}
    async with listening(api, query, **headers) as stream:
        await occur(api, "monitor.degraded")
        blocks = await stream.events(4)

    assert kinds(blocks) == ["monitor.up", "monitor.down", "monitor.up", "monitor.degraded"]
    assert [block.data["sequence"] for block in blocks] == [2, 3, 4, 5]


async def test_a_client_that_reconnects_by_itself_is_believed_its_header(api: Api) -> None:
    await occur(api, "monitor.down")
    first = await newest(api)
    await occur(api, "monitor.up")
    second = await newest(api)
    await occur(api, "monitor.degraded")

    async with listening(api, f"?lastEventId={first}", Last_Event_ID=second) as stream:
        assert kinds(await stream.events(1)) == ["monitor.degraded"]


async def test_a_stream_that_told_nothing_resumes_where_it_began(api: Api) -> None:
    async with listening(api) as stream:
        before_any = stream.opening[1].id
    await occur(api, "monitor.down")
    async with listening(api) as stream:
        after_one = stream.opening[1].id
    await occur(api, "monitor.up")
    assert before_any
    assert after_one

    async with listening(api, Last_Event_ID=before_any) as stream:
        assert kinds(await stream.events(2)) == ["monitor.down", "monitor.up"]
    async with listening(api, Last_Event_ID=after_one) as stream:
        assert kinds(await stream.events(1)) == ["monitor.up"]


async def test_a_long_absence_is_told_page_by_page(api: Api) -> None:
    async with listening(api) as stream:
        start = stream.opening[1].id
    assert start
    await happen(api.context.db, api.team_id, MONITOR, *["monitor.down", "monitor.up"] * 600)

    async with listening(api, Last_Event_ID=start) as stream:
        await occur(api, "monitor.degraded")
        blocks = await stream.events(1201)

    assert [block.data["sequence"] for block in blocks] == list(range(1, 1202))


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?lastEventId=garbage", "lastEventId"),
        ("?lastEventId=mon_00000000000000000000000000", "lastEventId"),
        ("?lastEventId=%00", "lastEventId"),
        ("?monitor_id=7", "monitor_id"),
        (f"?monitor_id={MONITOR_ID},evt_1", "monitor_id"),
        ("?kind=monitor.exploded", "kind"),
        ("?kind=monitor.down,*", "kind"),
    ],
)
async def test_what_cannot_be_is_refused(api: Api, query: str, field: str) -> None:
    answer = await api.get("/v1/events" + query)

    assert answer.status == 400
    assert set(answer.json["details"]) == {field}
    assert followers() == []


async def test_an_id_older_than_what_is_kept_begins_with_a_reset(api: Api) -> None:
    await occur(api, "monitor.down")
    gone = await newest(api)
    await occur(api, "monitor.up", "monitor.degraded")
    async with api.context.db.connection() as tx:
        await tx.execute("DELETE FROM events WHERE position = 1")

    for query in (f"?lastEventId={gone}", f"?lastEventId={ids.show('evt', following.ORIGIN)}"):
        async with listening(api, query) as stream:
            assert stream.opening[1] == Block(event="reset", data={"event": "reset"}, id=await newest(api))
            await occur(api, "monitor.up")
            assert kinds(await stream.events(1)) == ["monitor.up"], "and goes on from now"


async def test_an_id_is_still_good_when_everything_before_it_has_gone(api: Api) -> None:
    await occur(api, "monitor.down", "monitor.up")
    last = await newest(api)
    async with api.context.db.connection() as tx:
        await tx.execute("DELETE FROM events WHERE position = 1")

    async with listening(api, Last_Event_ID=last) as stream:
        await occur(api, "monitor.degraded")
        assert kinds(await stream.events(1)) == ["monitor.degraded"]


async def test_it_is_narrowed_to_kinds_and_monitors(api: Api) -> None:
    third = ids.show("mon", ids.uuid7())
    query = f"?monitor_id={MONITOR_ID},{third}&monitor_id={third}&kind=monitor.up&kind=monitor.degraded"
    async with listening(api, query) as stream:
        await occur(api, "monitor.down", "monitor.up", monitor=OTHER)
        await occur(api, "monitor.down", "monitor.up", "monitor.degraded")
        blocks = await stream.events(2)

    assert kinds(blocks) == ["monitor.up", "monitor.degraded"]
    assert {block.data["monitor"]["id"] for block in blocks} == {MONITOR_ID}


async def test_a_quiet_stream_says_that_it_lives_and_where_it_is(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "_COMMENT_EVERY_S", 0.05)
    async with listening(api, "?kind=monitor.up") as stream:
        assert await stream.block() == Block(comments=1)
        await occur(api, "monitor.down")
        async with asyncio.timeout(20):
            while (block := await stream.block()).id is None:
                assert block == Block(comments=1)

        assert block == Block(comments=1, id=await newest(api)), "past what it did not ask for"


async def test_another_team_s_events_are_never_seen(api: Api) -> None:
    other = await api.other_team()
    await occur(other, "monitor.down")
    async with listening(api) as stream, listening(other) as beside:
        await occur(other, "monitor.up")
        await occur(api, "monitor.degraded")
        assert kinds(await stream.events(1)) == ["monitor.degraded"]
        assert kinds(await beside.events(1)) == ["monitor.up"]


async def test_an_id_that_is_not_known_here_begins_with_a_reset(api: Api) -> None:
    """Of another team, or newer than a restored database: a browser gives up for good at a 400."""
    other = await api.other_team()
    await occur(api, "monitor.down")
    await occur(other, "monitor.down")

    for unknown in (await newest(other), ids.show("evt", ids.uuid7(2**47))):
        async with listening(api, Last_Event_ID=unknown) as stream:
            assert stream.opening[1] == Block(event="reset", data={"event": "reset"}, id=await newest(api))


async def test_a_token_is_needed(api: Api) -> None:
    async with connected(api.with_token(None)) as stream:
        assert stream.status == 401
    async with connected(await api.reader()) as stream:
        assert stream.status == 200, "any token may read"


async def test_a_collector_hears_of_another_s_commits(api: Api, second: Api) -> None:
    async with listening(second) as far, listening(api) as near:
        await occur(api, "monitor.down", "monitor.up")
        assert kinds(await near.events(2)) == ["monitor.down", "monitor.up"]
        blocks = await far.events(2)
    await occur(api, "monitor.degraded")
    assert blocks[1].id

    async with listening(second, Last_Event_ID=blocks[0].id or "") as far:
        assert kinds(await far.events(2)) == ["monitor.up", "monitor.degraded"]


async def test_who_commits_later_is_told_later_and_not_missed(api: Api) -> None:
    """Two transactions: the one that began first, and whose ids are lower, commits last."""
    db = api.context.db
    async with listening(api) as stream:
        async with db.transaction() as tx:
            first = events.Event(api.team_id, MONITOR, "monitor.down", payload_of({"event": "monitor.down"}))
            await events.append_all(tx, [first], utc_now())
            later = asyncio.create_task(happen(db, api.team_id, OTHER, "monitor.up"))
            await eventually(lambda: _waits(db))
            api.features.following.bell.ring()
            assert not later.done()
        await later
        api.features.following.bell.ring()
        blocks = await stream.events(2)

    assert kinds(blocks) == ["monitor.down", "monitor.up"]


async def _waits(db: Db) -> bool:
    async with db.connection() as tx:
        return bool(await tx.fetchval(WAITING))


async def test_many_at_once_are_all_told_in_one_order_to_all(api: Api, second: Api) -> None:
    monitors = [ids.uuid7() for _ in range(4)]
    async with listening(api) as near, listening(second) as far:
        await asyncio.gather(
            *(
                occur(api if number % 2 else second, *["monitor.down", "monitor.up"] * 5, monitor=monitor)
                for number, monitor in enumerate(monitors)
            )
        )
        blocks, beside = await near.events(40), await far.events(40)

    assert [block.id for block in blocks] == [block.id for block in beside]
    assert len({block.id for block in blocks}) == 40


async def test_a_client_that_does_not_read_is_closed_and_can_resume(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "_STUCK_S", 0.2)
    big = {"event": "monitor.down", "monitor": {"name": "x" * 100_000}}
    async with listening(api) as stream:
        start = stream.opening[1].id
        for _ in range(100):
            async with api.context.db.transaction() as tx:
                await events.append(tx, api.team_id, MONITOR, "monitor.down", payload_of(big), utc_now())
        api.features.following.bell.ring()
        await eventually(_nobody_follows)
    assert start

    async with listening(api, Last_Event_ID=start) as stream:
        blocks = await stream.events(100)
    assert [block.data["sequence"] for block in blocks] == list(range(1, 101))


async def _nobody_follows() -> bool:
    return not followers()


async def test_what_waits_for_one_client_is_bounded(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "MOST_WAITING", 10)
    async with listening(api) as stream:
        await occur(api, *["monitor.down", "monitor.up"] * 10)
        await stream.end()

    await eventually(_nobody_follows)


async def test_nothing_runs_when_nobody_listens(api: Api, second: Api, db: Db) -> None:
    async def reads() -> int:
        async with db.connection() as tx:
            found: int = await tx.fetchval(
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name = 'second' AND query LIKE '%head%'"
            )
        return found

    assert followers() == []
    async with listening(second):
        assert followers() == ["following"]
        await eventually(reads)
    await eventually(_nobody_follows)


@pytest.mark.parametrize("how", ["revoked", "expired", "deleted"])
async def test_a_token_that_ends_ends_its_streams(
    api: Api, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "_TOKENS_EVERY_S", 0.0)
    doomed = await api.allowed(Permission.READ_ONLY, expires_at=api.clock() + timedelta(hours=1))
    async with listening(doomed) as stream, listening(api) as beside:
        if how == "expired":
            api.clock.ahead = timedelta(hours=2)
        else:
            deed = {"revoked": "UPDATE tokens SET revoked_at = now()", "deleted": "DELETE FROM tokens"}[how]
            async with api.context.db.connection() as tx:
                await tx.execute(f"{deed} WHERE name = 'read-only'")
        await stream.end()
        await occur(api, "monitor.down")

        assert kinds(await beside.events(1)) == ["monitor.down"]


async def test_streams_are_bounded_by_team_and_by_process(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: Any = api.context.plans
    monkeypatch.setitem(plans, "pro", replace(plans["pro"], streams=2))
    monkeypatch.setattr(following, "MOST", 4)
    other = await api.other_team()
    async with listening(api), listening(api), listening(other):
        async with connected(other) as full:
            assert (full.status, full.headers["retry-after"]) == (503, "5")
        monkeypatch.setattr(following, "MOST", 6)
        async with connected(api) as one_more:
            assert one_more.status == 409
            assert b"The team's plan allows 2 streams of events at a time" in await one_more.rest()

    await eventually(_nobody_follows)
    async with listening(api):
        pass


async def test_streams_end_with_the_server(second: Api) -> None:
    async with listening(second) as stream, listening(second) as beside:
        async with asyncio.timeout(5):
            await second.features.following.close()
            await asyncio.gather(stream.end(), beside.end())

        assert (await second.get("/v1/events")).status == 503
