"""Deliveries through channels of every type: by one machinery, each with what its type adds."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.notifications.channels import CHANNELS
from collector.notifications.jobs.budget import PER_CHANNEL
from collector.notifications.jobs.channel_alarms import ChannelAlarms
from collector.notifications.jobs.router import Router
from collector.notifications.jobs.sender import Sender
from collector.notifications.storage import deliveries as table
from collector.platform.mailer import Mailer
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from shared import ids
from shared.clock import utc_now
from tests.mailbox import mailbox
from tests.notifications.channels.every import HTTP
from tests.notifications.ground import (
    KEYRING,
    PUBLIC_URL,
    attempts,
    deliveries,
    happen,
    make_any,
    make_due,
    make_team,
)
from tests.receiver import Receiver, answer, receiving


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = Transport(allow_private=True)
    yield transport
    await transport.close()


async def tell(db: Db, team: int, *channel_ids: UUID, kind: str = "alert.fired") -> None:
    """Queue a new event for these channels, as a rule that fires does."""
    stream = ids.uuid7()
    await happen(db, team, stream, kind)
    async with db.transaction() as tx:
        event_id = await tx.fetchval("SELECT id FROM events WHERE stream_id = $1", stream)
        await tx.execute("UPDATE streams SET routed = sequence")
        new = [table.NewDelivery(team, ids.uuid7(), id_, stream, 1, event_id, kind) for id_ in channel_ids]
        assert await table.insert(tx, new, "rule") == len(new)


async def settle(db: Db, transport: Transport) -> None:
    """Try everything that is due, once, and record how it went."""
    sender = Sender(db, KEYRING, transport, public_url=PUBLIC_URL, now=utc_now)
    await sender.turn()
    await sender.close()


async def again(db: Db, transport: Transport) -> None:
    await make_due(db)
    await settle(db, transport)


async def faults(db: Db) -> list[Any]:
    async with db.connection() as tx:
        return list(await tx.fetch("SELECT * FROM channel_faults WHERE works_since IS NULL"))


async def an_hour_passes(db: Db) -> None:
    async with db.connection() as tx:
        await tx.execute("UPDATE channel_faults SET failing_since = failing_since - interval '1 hour'")


async def flag(db: Db) -> None:
    await ChannelAlarms(db, now=utc_now).turn()


async def test_one_event_goes_to_channels_of_all_types(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(always=answer(200, body=b"ok")) as receiver, mailbox() as box:
        transport.mailer = Mailer(box.url(), "alerts@example.com")
        made = [await make_any(db, team, type_, receiver.url("")) for type_ in CHANNELS]
        await tell(db, team, *made)
        await settle(db, transport)

    assert {row["status"] for row in await deliveries(db)} == {1}
    assert (len(receiver.received), len(box.mails)) == (len(HTTP), 1)
    assert {row["status_code"] for row in await attempts(db)} == {200, 250, None}


async def test_a_failure_that_lasts_is_not_tried_again(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(always=answer(404, body=b"no_service")) as receiver:
        await tell(db, team, await make_any(db, team, "slack", receiver.url("")))
        await settle(db, transport)

    [delivery] = await deliveries(db)
    assert (delivery["status"], delivery["attempt"]) == (2, 1)
    assert (await attempts(db))[0]["error"] == "answered 404: no_service"


@pytest.mark.oldest
async def test_a_chat_s_wish_for_a_pause_is_granted_at_once_and_a_webhook_s_is_not(
    db: Db, transport: Transport
) -> None:
    team = await make_team(db)
    async with receiving(always=answer(429, {"Retry-After": "90"})) as receiver:
        chat, hook = (
            await make_any(db, team, "slack", receiver.url("")),
            await make_any(db, team, "webhook", receiver.url("")),
        )
        await tell(db, team, chat, hook)
        await settle(db, transport)

    async with db.connection() as tx:
        rows = await tx.fetch("SELECT channel_id, due_at - clock_timestamp() AS wait FROM deliveries")
    waits = {row["channel_id"]: row["wait"] for row in rows}
    assert timedelta(seconds=80) < waits[chat] <= timedelta(seconds=90)
    assert waits[hook] <= timedelta(seconds=1)


async def test_a_chat_that_wants_a_pause_is_sent_nothing_and_what_waits_loses_no_try(
    db: Db, transport: Transport
) -> None:
    team = await make_team(db)
    async with receiving(always=answer(429, {"Retry-After": "90"})) as chat, receiving() as other:
        busy, quick = (
            await make_any(db, team, "slack", chat.url("")),
            await make_any(db, team, "slack", other.url("")),
        )
        for _ in range(PER_CHANNEL + 4):
            await tell(db, team, busy, quick)
        for _ in range(3):
            await settle(db, transport)

    assert (len(chat.received), len(other.received)) == (PER_CHANNEL, PER_CHANNEL + 4)
    async with db.connection() as tx:
        rows = await tx.fetch(
            "SELECT attempt, due_at - clock_timestamp() AS wait FROM deliveries WHERE channel_id = $1", busy
        )
    assert sorted(row["attempt"] for row in rows) == [0] * 4 + [1] * PER_CHANNEL
    assert all(timedelta(seconds=75) < row["wait"] <= timedelta(seconds=90) for row in rows)


async def test_a_mail_goes_again_only_to_whom_it_did_not_reach(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with mailbox() as box:
        transport.mailer = Mailer(box.url(), "alerts@example.com")
        box.answers["two@example.com"] = ["450 later", "450 later", "250 fine"]
        box.answers["three@example.com"] = ["451 later", "250 fine"]
        recipients = ["one@example.com", "two@example.com", "three@example.com"]
        await tell(db, team, await make_any(db, team, "email", recipients=recipients))
        await settle(db, transport)
        await again(db, transport)
        await again(db, transport)

    assert [mail.recipients for mail in box.mails] == [
        [name] for name in ("one@example.com", "three@example.com", "two@example.com")
    ]
    assert len({mail.message["Message-ID"] for mail in box.mails}) == 1
    assert (await deliveries(db))[0]["status"] == 1


async def test_a_template_that_breaks_is_noted_in_the_try(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving() as receiver:
        templates = {"title": "{{ monitor.owner.name }}"}
        await tell(db, team, await make_any(db, team, "discord", receiver.url(""), templates=templates))
        await settle(db, transport)

    [attempt] = await attempts(db)
    assert attempt["error"] is None
    assert "template of the title failed" in attempt["note"]


async def test_what_is_sent_again_does_not_hold_up_what_is_new(db: Db, transport: Transport) -> None:
    team, stream = await make_team(db), ids.uuid7()
    async with receiving(answer(200), always=answer(500)) as receiver:
        await make_any(db, team, "webhook", receiver.url(""))
        await happen(db, team, stream, "monitor.down")
        await Router(db).turn()
        await settle(db, transport)
        async with db.transaction() as tx:
            old = await tx.fetchval("SELECT id FROM deliveries")
            assert await table.again(tx, team, old, ids.uuid7())
        await happen(db, team, stream, "monitor.up")
        await Router(db).turn()
        await settle(db, transport)

    assert [request.json["sequence"] for request in receiver.received[1:]] == [1, 2]


async def failing(db: Db, transport: Transport, team: int, receiver: Receiver) -> UUID:
    """A channel whose first delivery has failed once."""
    broken = await make_any(db, team, "slack", receiver.url(""))
    await tell(db, team, broken)
    await settle(db, transport)
    return broken


async def test_a_channel_that_fails_for_an_hour_is_told_of_once_through_those_that_work(
    db: Db, transport: Transport
) -> None:
    team, other_team = await make_team(db), await make_team(db, "Other")
    async with receiving(always=answer(500)) as bad, receiving() as good:
        broken = await failing(db, transport, team, bad)
        working = await make_any(db, team, "webhook", good.url("/mine"), events=["monitor.down"])
        await make_any(db, other_team, "webhook", good.url("/theirs"))
        await flag(db)
        await settle(db, transport)
        assert good.received == [], "not before the hour is over"
        await an_hour_passes(db)
        for _ in range(2):
            await flag(db)
            await settle(db, transport)

    [received] = good.received
    assert received.target.startswith("/mine")
    assert received.json["event"] == "channel.failing"
    assert received.json["channel"]["id"] == ids.show("chan", broken)
    assert (received.json["channel"]["name"], received.json["channel"]["lastError"]) == (
        "Ops slack",
        "answered 500",
    )
    assert "monitor" not in received.json["links"]
    assert [row["channel_id"] for row in await deliveries(db) if row["event_kind"] == "channel.failing"] == [
        working
    ]


async def test_who_was_told_hears_that_it_works_again(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(answer(500), always=answer(200)) as bad, receiving() as good:
        await failing(db, transport, team, bad)
        await make_any(db, team, "discord", good.url(""))
        await an_hour_passes(db)
        await flag(db)
        await settle(db, transport)
        await again(db, transport)
        await flag(db)
        await settle(db, transport)

    assert [request.json["embeds"][0]["title"] for request in good.received] == [
        "Alert channel fails: Ops slack",
        "Alert channel works again: Ops slack",
    ]
    assert await faults(db) == []


async def test_one_that_works_again_within_the_hour_is_told_of_to_nobody(
    db: Db, transport: Transport
) -> None:
    team = await make_team(db)
    async with receiving(answer(500), always=answer(200)) as bad, receiving() as good:
        await failing(db, transport, team, bad)
        assert len(await faults(db)) == 1
        await make_any(db, team, "discord", good.url(""))
        await again(db, transport)
        await flag(db)
        await settle(db, transport)

    assert (await faults(db), good.received) == ([], [])


async def test_the_clock_of_a_failing_channel_is_not_set_back_by_its_further_failures(
    db: Db, transport: Transport
) -> None:
    team = await make_team(db)
    async with receiving(answer(500), answer(502)) as bad:
        await failing(db, transport, team, bad)
        before = (await faults(db))[0]["failing_since"]
        await again(db, transport)

    [fault] = await faults(db)
    assert (fault["failing_since"], fault["last_error"]) == (before, "answered 502")


async def test_two_that_fail_do_not_tell_of_each_other(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(always=answer(500)) as bad:
        await failing(db, transport, team, bad)
        await failing(db, transport, team, bad)
        await an_hour_passes(db)
        await flag(db)

    assert not [row for row in await deliveries(db) if row["event_kind"] == "channel.failing"]
    assert len(await faults(db)) == 2


async def test_a_disabled_channel_does_not_count_as_failing(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    disabled = await make_any(db, team, "slack")
    await tell(db, team, disabled)
    async with db.connection() as tx:
        await tx.execute("UPDATE channels SET enabled = false")
    await settle(db, transport)

    assert await faults(db) == []


async def test_one_that_was_disabled_since_is_told_of_to_nobody(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(always=answer(500)) as bad:
        broken = await failing(db, transport, team, bad)
        await make_any(db, team, "discord")
        async with db.connection() as tx:
            await tx.execute("UPDATE channels SET enabled = false WHERE id = $1", broken)
        await an_hour_passes(db)
        await flag(db)

    assert not [row for row in await deliveries(db) if row["event_kind"] == "channel.failing"]


async def test_a_webhook_that_hears_everything_is_not_told_of_itself(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(always=answer(500)) as bad:
        broken = await make_any(db, team, "webhook", bad.url(""), events=["*"])
        await tell(db, team, broken)
        await settle(db, transport)
    other = await make_any(db, team, "webhook", events=["*"])
    await an_hour_passes(db)
    await flag(db)
    await Router(db).turn()

    told = [row["channel_id"] for row in await deliveries(db) if row["event_kind"] == "channel.failing"]
    assert told == [other]


@pytest.mark.oldest
async def test_several_collectors_tell_of_it_once(db: Db, transport: Transport) -> None:
    team = await make_team(db)
    async with receiving(always=answer(500)) as bad:
        await failing(db, transport, team, bad)
        await make_any(db, team, "discord")
        await an_hour_passes(db)
        await asyncio.gather(*(flag(db) for _ in range(4)))

    assert len([row for row in await deliveries(db) if row["event_kind"] == "channel.failing"]) == 1
