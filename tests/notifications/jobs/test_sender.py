"""From a delivery that is due to a request that arrived, and what becomes of those that did not."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import structlog

from collector.notifications.jobs.budget import PER_CHANNEL
from collector.notifications.jobs.router import Router
from collector.notifications.jobs.sender import Sender
from collector.platform.committed_events import commit_hook
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from shared import ids
from shared.clock import utc_now
from shared.loop import forever
from tests.notifications.ground import (
    KEYRING,
    PUBLIC_URL,
    SECRET,
    attempts,
    deliveries,
    happen,
    make_channel,
    make_due,
    make_incident,
    make_team,
)
from tests.probe.net.nameserver import NXDOMAIN, name_server
from tests.receiver import Receiver, answer, hang_up, receiving, reset, stall, until

pytestmark = pytest.mark.races

SCHEDULE_SLACK = timedelta(seconds=0.25)


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = Transport(allow_private=True)
    yield transport
    await transport.close()


def make_sender(db: Db, transport: Transport) -> Sender:
    return Sender(db, KEYRING, transport, public_url=PUBLIC_URL, now=utc_now)


@contextlib.asynccontextmanager
async def running(db: Db, transport: Transport) -> AsyncIterator[Sender]:
    """A sender at work, and a router that feeds it."""
    sender = make_sender(db, transport)
    router = Router(db)
    db.pass_on = commit_hook(router.bell.ring, sender.bell.ring)
    loops = [
        asyncio.create_task(forever("sender", sender.turn, timedelta(seconds=0.2), sender.bell)),
        asyncio.create_task(forever("router", router.turn, timedelta(seconds=0.05), router.bell)),
    ]
    try:
        yield sender
    finally:
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        await sender.close(grace_s=0.1)


async def route(db: Db) -> None:
    await Router(db).turn()


async def until_true(question: Callable[[], Awaitable[Any]], timeout_s: float = 10) -> None:
    async with asyncio.timeout(timeout_s):
        while not await question():
            await asyncio.sleep(0.01)


async def none_waits(db: Db) -> bool:
    return all(row["status"] != 0 for row in await deliveries(db))


async def tried(db: Db, times: int) -> bool:
    return all(row["attempt"] == times and not row["leased"] for row in await deliveries(db))


async def test_an_event_arrives_with_its_id_its_sequence_and_its_links(db: Db, transport: Transport) -> None:
    team, monitor = await make_team(db), ids.uuid7()
    incident = await make_incident(db, team, monitor)
    async with receiving() as receiver, running(db, transport):
        await make_channel(db, team, receiver.url(), signingSecret=SECRET)
        await happen(db, team, monitor, "monitor.down", incident_id=incident)
        [request] = await receiver.wait_for(1)
        await until_true(lambda: none_waits(db))

    async with db.connection() as tx:
        event_id = await tx.fetchval("SELECT id FROM events")
    [delivery] = await deliveries(db)
    assert request.json["event"] == "monitor.down"
    assert request.json["id"] == ids.show("evt", event_id)
    assert request.json["sequence"] == 1
    assert request.json["monitor"]["name"] == "api é"
    assert request.json["links"] == {
        "monitor": f"{PUBLIC_URL}/monitors/{ids.show('mon', monitor)}",
        "incident": f"{PUBLIC_URL}/incidents/{ids.show('inc', incident)}",
    }
    assert request.headers["x-service-delivery"] == ids.show("dlv", delivery["id"])
    [attempt] = await attempts(db)
    assert (delivery["status"], attempt["status_code"], attempt["error"]) == (1, 200, None)
    assert attempt["latency_ms"] >= 0


async def test_a_receiver_that_fails_at_first_gets_the_same_id_and_bytes_again(
    db: Db, transport: Transport
) -> None:
    team = await make_team(db)
    async with receiving(answer(500), reset, hang_up, answer(302, {"Location": "/elsewhere"})) as receiver:
        await make_channel(db, team, receiver.url(), signingSecret=SECRET, maxRetries=10)
        async with running(db, transport):
            await happen(db, team, ids.uuid7(), "monitor.down")
            for times in range(1, 5):
                await receiver.wait_for(times)
                await until_true(lambda times=times: tried(db, times))  # type: ignore[misc]
                await make_due(db)
            await until_true(lambda: none_waits(db))

    assert len(receiver.received) == 5
    assert len({request.body for request in receiver.received}) == 1
    assert {request.target for request in receiver.received} == {"/hook"}
    for name in ("webhook-id", "x-service-delivery", "x-service-signature"):
        assert len({request.headers[name] for request in receiver.received}) == 1
    [delivery] = await deliveries(db)
    assert (delivery["status"], delivery["attempt"], delivery["expiries"]) == (1, 5, 0)
    assert [(row["status_code"], row["error"]) for row in await attempts(db)] == [
        (500, "answered 500"),
        (None, "connection reset"),
        (None, "connection closed without an answer"),
        (302, "answered 302"),
        (200, None),
    ]


async def test_retries_are_due_1_5_and_30_seconds_after_the_failure_and_then_it_is_over(
    db: Db, transport: Transport
) -> None:
    team, monitor = await make_team(db), ids.uuid7()
    incident = await make_incident(db, team, monitor)
    waits = []
    async with receiving(always=answer(503, {"Retry-After": "600"})) as receiver:
        await make_channel(db, team, receiver.url())
        await happen(db, team, monitor, "monitor.down", incident_id=incident)
        await route(db)
        sender = make_sender(db, transport)
        for times in range(1, 5):
            await turn_until_tried(db, sender, times)
            async with db.connection() as tx:
                waits += await tx.fetch("SELECT status, due_at - clock_timestamp() AS wait FROM deliveries")
            await make_due(db)
        await sender.turn()
        await sender.close()

    for row, seconds in zip(waits[:3], (1, 5, 30), strict=True):
        assert row["status"] == 0
        assert timedelta(seconds=seconds) - SCHEDULE_SLACK < row["wait"] <= timedelta(seconds=seconds)
    assert waits[3]["status"] == 2
    assert len(receiver.received) == 4
    async with db.connection() as tx:
        [entry] = await tx.fetch("SELECT type, actor, details FROM timeline")
    assert tuple(entry) == ("notification_failed", "System", "monitor.down did not reach Hook: answered 503")


async def turn_until_tried(db: Db, sender: Sender, times: int) -> None:
    async def once() -> bool:
        await sender.turn()
        return await tried(db, times)

    await until_true(once)


async def test_the_first_retry_comes_after_a_second_to_the_tenth(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(answer(500)) as receiver, running(db, transport):
        await make_channel(db, team, receiver.url())
        await happen(db, team, ids.uuid7(), "monitor.down")
        first, second = await receiver.wait_for(2)

    assert 0.99 < second.at - first.at < 1.25


async def test_a_receiver_whose_name_was_missing_for_a_moment_is_reached_by_the_first_retry(db: Db) -> None:
    team = await make_team(db)
    with name_server() as names:
        names.names["hooks.example.com"] = NXDOMAIN
        transport = Transport(allow_private=True, nameservers=[names.address])
        async with receiving() as receiver, running(db, transport):
            await make_channel(db, team, f"http://hooks.example.com:{receiver.port}/hook")
            await happen(db, team, ids.uuid7(), "monitor.down")
            await until_true(lambda: tried_once(db))
            names.names["hooks.example.com"] = ["127.0.0.1"]
            await receiver.wait_for(1)
            await until_true(lambda: none_waits(db))
        await transport.close()

    assert [row["error"] for row in await attempts(db)] == ["the host name does not resolve", None]


async def tried_once(db: Db) -> bool:
    return [row["attempt"] for row in await deliveries(db) if not row["leased"]] == [1]


async def test_no_retry_where_none_is_wanted(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(always=answer(500)) as receiver, running(db, transport):
        await make_channel(db, team, receiver.url("/never"), retryOnFailure=False)
        await make_channel(db, team, receiver.url("/zero"), maxRetries=0)
        await happen(db, team, ids.uuid7(), "monitor.down")
        await receiver.wait_for(2)
        await until_true(lambda: none_waits(db))

    assert sorted(request.target for request in receiver.received) == ["/never", "/zero"]
    assert [row["status"] for row in await deliveries(db)] == [2, 2]


async def test_a_newer_event_waits_for_the_older_one_through_its_third_retry(
    db: Db, transport: Transport
) -> None:
    team, monitor = await make_team(db), ids.uuid7()
    async with receiving(always=answer(500)) as receiver:
        await make_channel(db, team, receiver.url(), maxRetries=10)
        await happen(db, team, monitor, "monitor.down", "monitor.up")
        await route(db)
        sender = make_sender(db, transport)
        seen = []
        for _ in range(5):
            await make_due(db)
            await sender.turn()
            await settled(db, sender)
            seen.append([row["attempt"] for row in await deliveries(db)])
        await sender.close()

    assert seen[:3] == [[1, 0], [2, 0], [3, 0]]
    assert seen[3] in ([4, 0], [4, 1]), "free to go once the third retry has failed"
    assert seen[4][1] >= 1
    assert [request.json["sequence"] for request in receiver.received[:4]] == [1, 1, 1, 1]


async def settled(db: Db, sender: Sender) -> None:
    async def none_leased() -> bool:
        await sender.turn()
        return not any(row["leased"] for row in await deliveries(db))

    await until_true(none_leased)


async def test_events_of_one_monitor_arrive_in_order_with_two_routers_and_two_senders(
    db: Db, transport: Transport
) -> None:
    team = await make_team(db)
    monitors = [ids.uuid7() for _ in range(6)]
    async with (
        receiving() as receiver,
        running(db, transport),
        running(db, transport),
    ):
        await make_channel(db, team, receiver.url())
        for kind in ["monitor.down", "monitor.up"] * 5:
            await asyncio.gather(*(happen(db, team, monitor, kind) for monitor in monitors))
        await receiver.wait_for(60, 30)
        await until_true(lambda: none_waits(db))

    heard: dict[str, list[int]] = {}
    for request in receiver.received:
        heard.setdefault(request.json["monitor"]["id"], []).append(request.json["sequence"])
    assert list(heard.values()) == [list(range(1, 11))] * 6


async def test_two_senders_never_claim_the_same_delivery(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving() as receiver, running(db, transport), running(db, transport):
        await make_channel(db, team, receiver.url())
        await asyncio.gather(*(happen(db, team, ids.uuid7(), "monitor.down") for _ in range(100)))
        await receiver.wait_for(100, 30)
        await until_true(lambda: none_waits(db))

    assert set(Counter(request.headers["x-service-delivery"] for request in receiver.received).values()) == {
        1
    }
    assert {row["attempt"] for row in await deliveries(db)} == {1}


async def test_a_channel_that_stalls_delays_no_other(db: Db, transport: Transport) -> None:
    team, end = await make_team(db), asyncio.Event()
    async with (
        receiving(always=until(end, answer())) as slow,
        receiving() as quick,
        running(db, transport),
    ):
        await make_channel(db, team, slow.url())
        for _ in range(PER_CHANNEL * 5):
            await happen(db, team, ids.uuid7(), "monitor.down")
        await slow.wait_for(PER_CHANNEL)
        await make_channel(db, team, quick.url())
        for _ in range(20):
            await happen(db, team, ids.uuid7(), "monitor.down")
        await quick.wait_for(20, 3)
        assert len(slow.received) == PER_CHANNEL, "no more at a time than it is given"
        end.set()
        await until_true(lambda: none_waits(db))

    assert len(slow.received) == PER_CHANNEL * 5 + 20


async def test_a_receiver_that_never_answers_times_out_and_is_tried_again(
    db: Db, transport: Transport
) -> None:
    team = await make_team(db)
    async with receiving(stall) as receiver, running(db, transport):
        await make_channel(db, team, receiver.url(), timeout=1)
        await happen(db, team, ids.uuid7(), "monitor.down")
        await receiver.wait_for(1)
        await until_true(lambda: tried(db, 1))
        await make_due(db)
        await receiver.wait_for(2)
        await until_true(lambda: none_waits(db))

    assert [row["error"] for row in await attempts(db)] == ["no answer within 1 s", None]


@contextlib.asynccontextmanager
async def killed_in_flight(db: Db, transport: Transport, receiver: Receiver) -> AsyncIterator[None]:
    """A sender that has a request under way, and does nothing any more: not even say goodbye."""
    sender = make_sender(db, transport)
    arrived = len(receiver.received) + 1
    await sender.turn()
    await receiver.wait_for(arrived)
    try:
        yield
    finally:
        for _, task in sender._flying.values():
            task.cancel()
        await asyncio.gather(*(task for _, task in sender._flying.values()), return_exceptions=True)


async def forget_the_dead(db: Db) -> None:
    async with db.connection() as tx:
        await tx.execute("UPDATE leases SET until = now() - interval '1 s'")


async def test_what_a_dead_sender_had_under_way_is_counted_and_sent_again_with_the_same_id(
    db: Db, transport: Transport
) -> None:
    team = await make_team(db)
    async with receiving(stall) as receiver:
        await make_channel(db, team, receiver.url())
        await happen(db, team, ids.uuid7(), "monitor.down")
        await route(db)
        async with killed_in_flight(db, transport, receiver):
            [delivery] = await deliveries(db)
            assert (delivery["attempt"], delivery["leased"]) == (1, True), "counted before it was sent"
            await make_due(db)
            async with running(db, transport):
                await receiver.wait_for(2)
                await until_true(lambda: none_waits(db))

    assert len({request.headers["webhook-id"] for request in receiver.received}) == 1
    assert len({request.body for request in receiver.received}) == 1
    [delivery] = await deliveries(db)
    assert (delivery["status"], delivery["attempt"], delivery["expiries"]) == (1, 2, 1)
    assert [row["error"] for row in await attempts(db)] == ["no word of this try: its sender stopped", None]


async def test_the_lease_is_the_timeout_and_fifteen_seconds(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(stall) as receiver:
        await make_channel(db, team, receiver.url(), timeout=7)
        await happen(db, team, ids.uuid7(), "monitor.down")
        await route(db)
        async with killed_in_flight(db, transport, receiver), db.connection() as tx:
            lease = await tx.fetchval(
                "SELECT d.due_at - a.at FROM deliveries d JOIN delivery_attempts a ON a.delivery_id = d.id"
            )
    assert lease == timedelta(seconds=22)


async def test_a_sender_that_is_alone_takes_over_at_once_what_a_dead_one_left(
    db: Db, transport: Transport
) -> None:
    team = await make_team(db)
    async with receiving(stall) as receiver:
        await make_channel(db, team, receiver.url())
        await happen(db, team, ids.uuid7(), "monitor.down")
        await route(db)
        async with killed_in_flight(db, transport, receiver):
            await forget_the_dead(db)
            async with running(db, transport):
                await receiver.wait_for(2, 3)


async def test_a_sender_beside_a_living_one_leaves_it_what_it_has(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(stall) as receiver:
        await make_channel(db, team, receiver.url())
        await happen(db, team, ids.uuid7(), "monitor.down")
        await route(db)
        async with killed_in_flight(db, transport, receiver):
            other = make_sender(db, transport)
            await other.turn()
            await other.close()

    assert len(receiver.received) == 1


async def test_senders_that_die_use_up_no_retry_but_only_two_are_forgiven(
    db: Db, transport: Transport
) -> None:
    team, monitor = await make_team(db), ids.uuid7()
    incident = await make_incident(db, team, monitor)
    async with receiving(stall, answer(500), always=stall) as receiver:
        await make_channel(db, team, receiver.url())
        await happen(db, team, monitor, "monitor.down", incident_id=incident)
        await route(db)
        async with killed_in_flight(db, transport, receiver):
            await make_due(db)
        sender = make_sender(db, transport)
        await turn_until_tried(db, sender, 2)
        [delivery] = await deliveries(db)
        assert (delivery["attempt"], delivery["expiries"]) == (2, 1)
        for _ in range(2):
            await make_due(db)
            async with killed_in_flight(db, transport, receiver):
                await make_due(db)
        await sender.turn()
        await sender.close()

    [delivery] = await deliveries(db)
    assert (delivery["status"], delivery["attempt"], delivery["expiries"]) == (2, 4, 2)
    assert len(receiver.received) == 4
    async with db.connection() as tx:
        assert "did not reach Hook" in await tx.fetchval("SELECT details FROM timeline")


async def test_a_sender_that_comes_back_late_moves_nothing(db: Db, transport: Transport) -> None:
    team, end = await make_team(db), asyncio.Event()
    async with receiving(until(end, answer(500))) as receiver:
        await make_channel(db, team, receiver.url())
        await happen(db, team, ids.uuid7(), "monitor.down")
        await route(db)
        late = make_sender(db, transport)
        await late.turn()
        await receiver.wait_for(1)
        await make_due(db)
        async with running(db, transport):
            await until_true(lambda: none_waits(db))
        end.set()
        await late.close()

    [delivery] = await deliveries(db)
    assert (delivery["status"], delivery["attempt"]) == (1, 2)


async def test_stopping_lets_a_send_end_and_records_it(db: Db, transport: Transport) -> None:
    team, end = await make_team(db), asyncio.Event()
    async with receiving(until(end, answer())) as receiver:
        await make_channel(db, team, receiver.url())
        await happen(db, team, ids.uuid7(), "monitor.down")
        await route(db)
        sender = make_sender(db, transport)
        await sender.turn()
        await receiver.wait_for(1)
        stopping = asyncio.create_task(sender.close())
        await asyncio.sleep(0)
        end.set()
        await stopping

    [delivery] = await deliveries(db)
    assert (delivery["status"], delivery["leased"]) == (1, False)


async def test_stopping_gives_up_what_does_not_end_for_the_next_sender_to_take_at_once(
    db: Db, transport: Transport
) -> None:
    team = await make_team(db)
    async with receiving(stall) as receiver:
        await make_channel(db, team, receiver.url())
        await happen(db, team, ids.uuid7(), "monitor.down")
        await route(db)
        sender = make_sender(db, transport)
        await sender.turn()
        await receiver.wait_for(1)
        await sender.close(grace_s=0)
        async with running(db, transport):
            await receiver.wait_for(2, 3)
            await until_true(lambda: none_waits(db))

    [delivery] = await deliveries(db)
    assert (delivery["status"], delivery["attempt"], delivery["expiries"]) == (1, 2, 1)


async def test_a_disabled_channel_is_sent_nothing_more(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving() as receiver:
        await make_channel(db, team, receiver.url())
        await happen(db, team, ids.uuid7(), "monitor.down")
        await route(db)
        async with db.connection() as tx:
            await tx.execute("UPDATE channels SET enabled = false")
        async with running(db, transport):
            await until_true(lambda: none_waits(db))

    assert receiver.received == []
    assert [row["error"] for row in await attempts(db)] == ["the channel is disabled"]


async def test_a_channel_deleted_in_the_middle_of_a_send_harms_nobody(db: Db, transport: Transport) -> None:
    team, end = await make_team(db), asyncio.Event()
    async with receiving(until(end, answer())) as receiver, running(db, transport):
        gone = await make_channel(db, team, receiver.url("/gone"))
        await happen(db, team, ids.uuid7(), "monitor.down")
        await receiver.wait_for(1)
        async with db.connection() as tx:
            await tx.execute("DELETE FROM channels WHERE id = $1", gone)
        end.set()
        await make_channel(db, team, receiver.url("/here"))
        await happen(db, team, ids.uuid7(), "monitor.down")
        await receiver.wait_for(2)
        await until_true(lambda: none_waits(db))

    assert [row["status"] for row in await deliveries(db)] == [1]


async def test_no_secret_is_in_a_log_or_an_error(
    db: Db, transport: Transport, capsys: pytest.CaptureFixture[str]
) -> None:
    team = await make_team(db)
    secrets = {"Authorization": "Bearer SEEDED-1", "X-API-Key": "SEEDED-2"}
    bad: list[UUID] = []
    async with receiving(always=answer(500, body=b"SEEDED-3")) as receiver:
        for path in ("/SEEDED-4", "/SEEDED-5?token=SEEDED-6"):
            await make_channel(db, team, receiver.url(path), headers=secrets, signingSecret="SEEDED-7")
        await make_channel(db, team, "http://user:SEEDED-8@127.0.0.1:1/SEEDED-9", headers={"X": "SEEDED-10"})
        bad.append(await make_channel(db, team, receiver.url(), signingSecret="SEEDED-11"))
        async with db.connection() as tx:
            await tx.execute("UPDATE channels SET secrets = 'SEEDED-12' WHERE id = $1", bad[0])
        with structlog.testing.capture_logs() as logs:
            async with running(db, transport):
                await happen(db, team, ids.uuid7(), "monitor.down")
                await until_true(lambda: all_tried(db))

    assert len([entry for entry in logs if entry["event"] == "tried"]) == 4
    text = "".join(map(str, logs)) + "".join(str(dict(row)) for row in await attempts(db))
    assert "SEEDED" not in text + "".join(capsys.readouterr())
    assert sorted(row["error"] for row in await attempts(db)) == [
        "answered 500",
        "answered 500",
        "connection refused",
        "something went wrong here",
    ]


async def all_tried(db: Db) -> bool:
    found = await deliveries(db)
    return len(found) == 4 and all(row["attempt"] == 1 and not row["leased"] for row in found)
