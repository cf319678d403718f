"""The walk through the protocol, the collector's half: who gets a session, what becomes of batches."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from datetime import datetime, timedelta
from typing import Any

import grpc
import pytest

from collector.platform.storage.db import Db
from collector.probes.sessions.batches import MAX_UNACKED
from shared.clock import EPOCH, utc_now
from shared.errors import Unavailable
from shared.wire import convert
from shared.wire.v1 import probe_pb2
from tests.probes.ground import eventually
from tests.probes.peer import (
    Collector,
    Peer,
    batch,
    collecting,
    connected,
    dialled,
    enrolled,
    hello,
    identity,
    refusal,
    refused,
    sealed,
    spooled,
)

pytestmark = pytest.mark.races


@pytest.fixture
async def collector(db: Db) -> AsyncIterator[Collector]:
    async with collecting(db) as one:
        yield one


def positions(welcome: probe_pb2.Welcome) -> dict[int, int]:
    return {position.incarnation: position.last_seq for position in welcome.committed}


async def stored(collector: Collector) -> int:
    [row] = await collector.fetch("SELECT count(*) AS count FROM results")
    count: int = row["count"]
    return count


async def test_a_committed_batch_is_acknowledged_and_stored(collector: Collector) -> None:
    [monitor] = await collector.placed()
    async with connected(collector, hello()) as peer:
        for seq in (1, 2, 3):
            await peer.say(batch=sealed(seq, monitor=monitor))
        await peer.hear_until(lambda: peer.acked.get(7) == 3)

    assert await stored(collector) == 3
    assert collector.changes == 1


async def test_after_a_reconnect_the_probe_hears_where_it_stands_and_a_replay_is_stored_once(
    collector: Collector,
) -> None:
    [monitor] = await collector.placed()
    said = hello()
    async with connected(collector, said) as peer:
        await peer.say(batch=sealed(1, monitor=monitor))
        await peer.hear_until(lambda: peer.acked.get(7) == 1)
        await peer.stream.done_writing()
        await peer.ended()
    again = hello(probe_id=said.probe_id, incarnation=8, spooled=[spooled(7, 1, 2)])
    async with connected(collector, again) as peer:
        assert positions(peer.welcome) == {7: 1, 8: 0}
        for seq in (1, 2):
            await peer.say(batch=sealed(seq, monitor=monitor))
        await peer.hear_until(lambda: peer.acked.get(7) == 2)

    assert await stored(collector) == 2


async def test_a_later_incarnation_has_the_higher_ordinal(collector: Collector) -> None:
    said = hello(incarnation=5, spooled=[spooled(9, 1, 1), spooled(3, 1, 1)])
    async with connected(collector, said):
        rows = await collector.fetch("SELECT incarnation FROM probe_cursors ORDER BY ordinal")

    assert [row["incarnation"] for row in rows] == [9, 3, 5]


async def test_incarnations_of_all_64_bits_come_back_as_they_were(collector: Collector) -> None:
    [monitor] = await collector.placed()
    highest = 2**64 - 1
    async with connected(collector, hello(incarnation=highest)) as peer:
        assert positions(peer.welcome) == {highest: 0}
        await peer.say(batch=sealed(1, monitor=monitor, incarnation=highest))
        await peer.hear_until(lambda: peer.acked.get(highest) == 1)


async def test_a_restored_database_takes_what_the_probe_still_has(collector: Collector) -> None:
    """What it has no more it tells as a gap, so that the loss is counted."""
    [monitor] = await collector.placed()
    lost = convert.Batch(7, 1, 3, "boot-1", base_us=0, wall_us=0, gap=convert.Gap(0, "not in the spool"))
    async with connected(collector, hello(spooled=[spooled(7, 4, 5)])) as peer:
        assert positions(peer.welcome) == {7: 0}
        await peer.say(batch=convert.encode(lost))
        await peer.say(batch=sealed(4, monitor=monitor))
        await peer.say(batch=sealed(5, monitor=monitor))
        await peer.hear_until(lambda: peer.acked.get(7) == 5)

    assert await stored(collector) == 2
    assert await collector.fetch("SELECT first_seq, last_seq FROM result_gaps") == [
        {"first_seq": 1, "last_seq": 3}
    ]


async def test_a_gap_stands_for_the_batches_it_names(collector: Collector) -> None:
    lost = convert.Batch(7, 1, 4, "boot-1", base_us=0, wall_us=0, gap=convert.Gap(30, "spool full"))
    async with connected(collector, hello()) as peer:
        await peer.say(batch=convert.encode(lost))
        await peer.hear_until(lambda: peer.acked.get(7) == 4)

    assert await collector.fetch("SELECT first_seq, last_seq, results, reason FROM result_gaps") == [
        {"first_seq": 1, "last_seq": 4, "results": 30, "reason": "spool full"}
    ]


async def test_an_incarnation_that_begins_within_the_session_is_taken(collector: Collector) -> None:
    """So it is when the probe was rewound: it learns that from the welcome."""
    [monitor] = await collector.placed()
    async with connected(collector, hello()) as peer:
        await peer.say(batch=sealed(1, monitor=monitor, incarnation=8))
        await peer.hear_until(lambda: peer.acked.get(8) == 1)


@pytest.mark.oldest
async def test_incarnations_without_end_are_refused(collector: Collector) -> None:
    async with connected(collector, hello()) as peer:
        for incarnation in range(100, 130):
            await peer.say(batch=sealed(1, incarnation=incarnation))
        code, why = await peer.ended()

    assert (code, why) == (grpc.StatusCode.INVALID_ARGUMENT, "too many incarnations in one session")


async def test_a_clone_on_another_machine_is_refused_by_the_firsts_address(collector: Collector) -> None:
    said = hello()
    async with connected(collector, said):
        code, why = await refusal(collector, hello(probe_id=said.probe_id, boot_id="boot-2"))
        rows = await collector.fetch("SELECT address FROM probes")

    assert code is grpc.StatusCode.ALREADY_EXISTS
    assert f"connected from {rows[0]['address']} since 20" in why
    assert rows[0]["address"].startswith("ipv4:127.0.0.1:")


async def test_the_machine_that_was_cloned_may_come_when_the_other_has_gone(collector: Collector) -> None:
    said = hello()
    async with connected(collector, said) as peer:
        await peer.stream.done_writing()
        await peer.ended()
    await collector.sessions.turn()
    async with connected(collector, hello(probe_id=said.probe_id, boot_id="boot-2")) as peer:
        assert peer.welcome.session > 0


async def test_another_process_of_the_same_machine_is_refused_while_the_first_goes_on(
    collector: Collector,
) -> None:
    said = hello()
    async with connected(collector, said) as first:
        code, why = await refusal(collector, hello(probe_id=said.probe_id, incarnation=8))
        [row] = await collector.fetch("SELECT session, address FROM probes")
        await first.say(batch=sealed(1))
        await first.hear_until(lambda: first.acked)

    assert code is grpc.StatusCode.ALREADY_EXISTS
    assert f"connected from {row['address']} since 20" in why
    assert row["session"] == first.welcome.session


async def test_of_two_processes_that_find_different_collectors_one_stays(
    db: Db, collector: Collector
) -> None:
    """Else each would take over from the other, again and again."""
    said = hello()
    clone = hello(probe_id=said.probe_id, incarnation=8)
    async with (
        connected(collector, said) as first,
        collecting(db) as other,
        connected(other, clone) as second,
    ):
        ended = asyncio.create_task(first.ended())
        while not ended.done():  # what it says has to arrive first
            with suppress(grpc.aio.AioRpcError):  # it ended just now
                await first.say(vitals=probe_pb2.Vitals(started=1))
            await collector.sessions.turn()
            await asyncio.wait([ended], timeout=0.1)
        assert (await ended)[0] is grpc.StatusCode.ABORTED
        for _ in range(2):
            assert (await refusal(collector, said))[0] is grpc.StatusCode.ALREADY_EXISTS
        await second.say(batch=sealed(1, incarnation=8))
        await second.hear_until(lambda: second.acked)


@pytest.mark.oldest
async def test_a_restarted_process_takes_over_at_once(collector: Collector) -> None:
    said = hello()
    async with connected(collector, said) as older:
        await older.stream.done_writing()
        assert (await older.ended())[0] is grpc.StatusCode.OK
    async with connected(collector, hello(probe_id=said.probe_id, incarnation=8)) as younger:
        assert younger.welcome.session > older.welcome.session


async def test_a_process_takes_over_from_its_own_older_stream(collector: Collector) -> None:
    """The network dropped the older stream, which the collector has not noticed."""
    [monitor] = await collector.placed()
    said = hello()
    async with connected(collector, said) as older:
        await older.say(batch=sealed(1, monitor=monitor))
        await older.hear_until(lambda: older.acked.get(7) == 1)
        async with connected(collector, said) as younger:
            assert younger.welcome.session > older.welcome.session
            code, _ = await older.ended()
            assert code is grpc.StatusCode.ABORTED
            await younger.say(batch=sealed(2, monitor=monitor))
            await younger.hear_until(lambda: younger.acked.get(7) == 2)
            await collector.sessions.turn()
            [row] = await collector.fetch("SELECT session, ended_at FROM probes")

    assert row == {"session": younger.welcome.session, "ended_at": None}


async def test_a_fenced_session_writes_nothing_more_and_its_stream_ends(db: Db, collector: Collector) -> None:
    """The younger session hangs on another collector, which this one hears of at the cursor only."""
    [monitor] = await collector.placed()
    said = hello()
    again = hello(probe_id=said.probe_id, incarnation=8, spooled=[spooled(7, 1, 1)])
    async with connected(collector, said) as older, collecting(db) as other, connected(other, again):
        await older.say(batch=sealed(1, monitor=monitor))
        code, why = await older.ended()

    assert (code, why) == (grpc.StatusCode.ABORTED, "another session of this probe has taken over")
    assert await stored(collector) == 0


async def test_a_session_that_lost_its_probe_to_another_collector_ends_without_a_batch(
    db: Db, collector: Collector
) -> None:
    said = hello()
    again = hello(probe_id=said.probe_id)
    async with connected(collector, said) as older, collecting(db) as other, connected(other, again):
        await older.say(vitals=probe_pb2.Vitals(started=1))
        ended = asyncio.create_task(older.ended())

        async def over() -> bool:
            await collector.sessions.turn()
            return ended.done()

        await eventually(over)

    assert (await ended)[0] is grpc.StatusCode.ABORTED


async def test_vitals_and_the_end_of_a_session_are_written_down(collector: Collector) -> None:
    said = hello()
    async with connected(collector, said) as peer:
        await peer.say(vitals=probe_pb2.Vitals(started=41, spool_batches=3))
        # Answered in order: the vitals are in when this is.
        await peer.say(batch=sealed(1))
        await peer.hear_until(lambda: peer.acked.get(7) == 1)
        await collector.sessions.turn()
        [alive] = await collector.fetch("SELECT seen_at, connected_at, ended_at, vitals FROM probes")
        await peer.stream.done_writing()
        assert (await peer.ended())[0] is grpc.StatusCode.OK
    await collector.sessions.turn()
    [gone] = await collector.fetch("SELECT seen_at, ended_at FROM probes")

    assert alive["vitals"]["started"] == 41
    assert alive["ended_at"] is None
    assert alive["seen_at"] > alive["connected_at"]
    assert gone["ended_at"] >= gone["seen_at"] == alive["seen_at"]


async def test_a_lost_stream_ends_the_session(collector: Collector) -> None:
    async with dialled(collector) as (stream, channel):
        await stream.write(probe_pb2.FromProbe(sent_us=1, hello=hello()))
        await stream.read()
        await channel.close()

    async def over() -> object:
        await collector.sessions.turn()
        return (await collector.fetch("SELECT ended_at FROM probes"))[0]["ended_at"]

    await eventually(over)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"revision": [1, 2]}, "revision is ragged"),
        ({"outcome": [9]}, "outcome out of range"),
        ({"error": [3]}, "error out of range"),
    ],
)
async def test_a_bad_batch_is_kept_with_its_reason_and_the_probe_goes_on(
    collector: Collector, fault: dict[str, Any], reason: str
) -> None:
    [monitor] = await collector.placed()
    said = hello()
    async with connected(collector, said) as peer:
        await peer.say(batch=sealed(1, monitor=monitor))
        await peer.say(batch=sealed(2, monitor=monitor, **fault))
        await peer.say(batch=sealed(3, monitor=monitor))
        await peer.hear_until(lambda: peer.acked.get(7) == 3)

    assert await stored(collector) == 2
    assert await collector.fetch("SELECT probe_id, seq, position, reason FROM refused_results") == [
        {"probe_id": identity(said), "seq": 2, "position": -1, "reason": reason}
    ]


@pytest.mark.parametrize("data", [b"\xff\xff\xff", b"", convert.encode(batch(3, first_seq=5))])
async def test_a_batch_that_does_not_say_which_it_is_ends_the_stream(
    collector: Collector, data: bytes
) -> None:
    async with connected(collector, hello()) as peer:
        await peer.say(batch=data)
        code, _ = await peer.ended()

    assert code is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_hole_in_the_seqs_ends_the_stream_for_another_try(collector: Collector) -> None:
    async with connected(collector, hello()) as peer:
        await peer.say(batch=sealed(2))
        code, why = await peer.ended()

    assert code is grpc.StatusCode.UNAVAILABLE
    assert "does not follow" in why


async def test_times_come_from_our_clock_and_the_probes_boot_clock(collector: Collector) -> None:
    """The probe's wall clock is an hour wrong; its result began 3 s before it was sent."""
    [monitor] = await collector.placed()
    wrong = int((utc_now().timestamp() + 3600) * 1e6)
    async with connected(collector, hello(wall_us=wrong)) as peer:
        before = utc_now()
        await peer.say(batch=sealed(1, monitor=monitor, base_us=peer.boot_us - 3_000_000, wall_us=wrong))
        await peer.hear_until(lambda: peer.acked.get(7) == 1)
    [row] = await collector.fetch("SELECT ts FROM results")

    assert near(row["ts"], before - timedelta(seconds=3))


async def test_a_batch_of_an_earlier_boot_is_dated_by_its_wall_clock_less_the_skew(
    collector: Collector,
) -> None:
    [monitor] = await collector.placed()
    ahead = timedelta(hours=1)
    wall_us = int(((utc_now() + ahead) - EPOCH).total_seconds() * 1e6)
    async with connected(collector, hello(wall_us=wall_us)) as peer:
        before = utc_now()
        hour_ago = wall_us - 3_600_000_000
        data = sealed(1, monitor=monitor, boot_id="boot-0", base_us=99, wall_us=hour_ago)
        await peer.say(batch=data)
        await peer.hear_until(lambda: peer.acked.get(7) == 1)
    [row] = await collector.fetch("SELECT ts FROM results")

    assert near(row["ts"], before - ahead)


def near(moment: datetime, expected: datetime) -> bool:
    return abs(moment - expected) < timedelta(seconds=30)


@pytest.mark.parametrize(
    ("says", "code"),
    [
        ({"protocol": 2}, grpc.StatusCode.FAILED_PRECONDITION),
        ({"boot_id": ""}, grpc.StatusCode.INVALID_ARGUMENT),
        ({"locations": []}, grpc.StatusCode.INVALID_ARGUMENT),
        ({"locations": ["Not a slug"]}, grpc.StatusCode.INVALID_ARGUMENT),
        ({"version": "n" * 1000}, grpc.StatusCode.INVALID_ARGUMENT),
        ({"version": "\0"}, grpc.StatusCode.INVALID_ARGUMENT),
        ({"locations": ["us"]}, grpc.StatusCode.PERMISSION_DENIED),
        ({"locations": ["eu", "us"]}, grpc.StatusCode.PERMISSION_DENIED),
        ({"kinds": ["k"] * 2000}, grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
async def test_a_hello_that_cannot_be_meant_is_refused(
    collector: Collector, says: dict[str, Any], code: grpc.StatusCode
) -> None:
    enrolled_as = hello()
    mine = await enrolled(collector, enrolled_as)
    said = hello(**{"probe_id": enrolled_as.probe_id, **says})

    assert (await refusal(collector, said, mine))[0] is code
    assert await collector.fetch("SELECT session FROM probes") == [{"session": None}]


async def test_a_revoked_probe_is_refused(collector: Collector) -> None:
    said = hello()
    async with connected(collector, said):
        pass
    await collector.fetch("UPDATE probes SET revoked_at = now()")

    assert (await refusal(collector, said))[0] is grpc.StatusCode.PERMISSION_DENIED


async def test_the_first_word_must_be_hello(collector: Collector) -> None:
    async with dialled(collector) as (stream, _):
        await stream.write(probe_pb2.FromProbe(sent_us=1, batch=sealed(1)))
        assert await refused(stream) == (grpc.StatusCode.INVALID_ARGUMENT, "the first message must be hello")


async def test_everything_sent_before_a_half_close_is_acknowledged_before_the_end(
    collector: Collector,
) -> None:
    [monitor] = await collector.placed()
    async with connected(collector, hello()) as peer:
        for seq in range(1, 101):
            await peer.say(batch=sealed(seq, monitor=monitor))
        await peer.stream.done_writing()
        assert (await peer.ended())[0] is grpc.StatusCode.OK
        assert peer.acked == {7: 100}

    assert await stored(collector) == 100


async def test_of_many_sessions_of_one_probe_at_once_the_youngest_stays(collector: Collector) -> None:
    said = hello()
    async with AsyncExitStack() as stack:
        peers = await asyncio.gather(
            *(stack.enter_async_context(connected(collector, said)) for _ in range(6)), return_exceptions=True
        )
        [row] = await collector.fetch("SELECT session FROM probes")
        welcomed = [peer for peer in peers if isinstance(peer, Peer)]
        [youngest] = [peer for peer in welcomed if peer.welcome.session == row["session"]]
        for peer in welcomed:
            if peer is not youngest:
                assert (await peer.ended())[0] is grpc.StatusCode.ABORTED
        await youngest.say(batch=sealed(1))
        await youngest.hear_until(lambda: youngest.acked)

    assert all(
        peer.code() is grpc.StatusCode.ABORTED for peer in peers if isinstance(peer, grpc.aio.AioRpcError)
    )


@pytest.mark.parametrize("moments", range(5))
async def test_a_session_that_is_ended_while_it_is_welcomed_says_so(
    collector: Collector, moments: int
) -> None:
    """However far the welcome has come: gRPC can end no stream whose first write was broken off."""
    async with dialled(collector) as (stream, channel):
        await stream.write(probe_pb2.FromProbe(sent_us=1, hello=hello()))
        while not collector.sessions._links:
            await asyncio.sleep(0)
        for _ in range(moments):
            await asyncio.sleep(0)
        [link] = collector.sessions._links.values()
        link.close(Unavailable("try another"))
        ended = await Peer(stream, channel, probe_pb2.Welcome()).ended()

    assert ended == (grpc.StatusCode.UNAVAILABLE, "try another")


async def test_while_results_cannot_be_stored_the_stream_ends_and_the_probe_sends_again(
    collector: Collector,
) -> None:
    [monitor] = await collector.placed()
    said = hello()
    await collector.fetch("ALTER TABLE results RENAME TO elsewhere")
    async with connected(collector, said) as peer:
        await peer.say(batch=sealed(1, monitor=monitor))
        assert await peer.ended() == (grpc.StatusCode.UNAVAILABLE, "results cannot be stored right now")
    await collector.fetch("ALTER TABLE elsewhere RENAME TO results")
    async with connected(collector, said) as peer:
        assert positions(peer.welcome) == {7: 0}
        await peer.say(batch=sealed(1, monitor=monitor))
        await peer.hear_until(lambda: peer.acked)

    assert await stored(collector) == 1


async def test_a_stopping_collector_sends_its_probes_elsewhere(db: Db) -> None:
    async with collecting(db) as collector, connected(collector, hello()) as peer:
        await collector.sessions.stop()
        code, _ = await peer.ended()
        [row] = await collector.fetch("SELECT ended_at FROM probes")

    assert code is grpc.StatusCode.UNAVAILABLE
    assert row["ended_at"] is not None


async def test_reading_stops_while_too_much_waits_for_its_commit(db: Db) -> None:
    """What the collector holds is bounded, and the probe's own writes wait."""
    data = sealed(1, errors=["e" * 500], error=[1], state={0: bytes(60_000)})
    async with collecting(db, writes=False) as collector, connected(collector, hello()) as peer:

        async def flood() -> None:
            while True:
                await peer.say(batch=data)

        flooding = asyncio.create_task(flood())
        most = 2 * MAX_UNACKED + 2  # one is being waited for, one waits for room

        async def full() -> bool:
            return len(collector.writer._group._queue) >= most

        async def stalled() -> bool:
            sent = peer.boot_us
            await asyncio.sleep(0.2)
            return peer.boot_us == sent

        await eventually(full)
        await eventually(stalled)
        held = len(collector.writer._group._queue)
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)

    assert held == most
