"""Which notifications of a deleted monitor are still sent, and to which channels."""

from typing import Any
from uuid import UUID

import pytest

from collector.events.storage import events
from collector.notifications.jobs.router import Router
from shared import ids
from shared.clock import utc_now
from tests.events.payloads import payload_of
from tests.http.client import Api
from tests.http.rows import incident
from tests.monitors.monitors import change, make, rows

UP, DOWN = "monitor.up", "monitor.down"
# How a delivery stands: its columns in the database.
WAITS: dict[str, Any] = {}
TRIED = {"attempt": 1}
FLYING = {"attempt": 1, "leased": True}
ARRIVED = {"attempt": 1, "status": 1}
GIVEN_UP = {"attempt": 4, "status": 2}


@pytest.mark.parametrize(
    ("before", "left"),
    [
        pytest.param([(DOWN, ARRIVED)], [UP], id="who was told hears of the end"),
        pytest.param([(DOWN, WAITS)], [], id="who was not told hears of nothing"),
        pytest.param([(DOWN, TRIED)], [UP], id="who may have heard is not asked again, but told of the end"),
        pytest.param([(DOWN, FLYING)], [DOWN, UP], id="a try under way goes first"),
        pytest.param([(DOWN, GIVEN_UP)], [UP], id="who was tried in vain may have heard"),
        pytest.param([(DOWN, ARRIVED), (UP, ARRIVED)], [], id="who knows that it is over needs no more"),
        pytest.param([(DOWN, ARRIVED), (UP, WAITS)], [UP], id="one end is enough"),
        pytest.param([(DOWN, ARRIVED), (UP, TRIED)], [UP], id="an end that did not arrive is owed"),
        pytest.param([(DOWN, ARRIVED), (UP, GIVEN_UP)], [], id="an end that was given up is not begun again"),
        pytest.param([(DOWN, WAITS), (UP, WAITS)], [], id="an outage that nobody heard of"),
        pytest.param(
            [(DOWN, ARRIVED), (UP, WAITS), (DOWN, WAITS)], [UP], id="of several outages the end is told once"
        ),
        pytest.param([(DOWN, ARRIVED), (UP, ARRIVED), (DOWN, ARRIVED)], [UP], id="down again"),
    ],
)
async def test_what_waits_is_dropped_but_for_the_end_to_who_was_told(
    api: Api, before: list[tuple[str, dict[str, Any]]], left: list[str]
) -> None:
    down = before[-1][0] == DOWN
    id_ = await failed(api, down=down)
    channel = await hook(api)
    for kind, delivery in before:
        await happened(api, id_, kind, channel, **delivery)

    await api.delete(f"/v1/monitors/{id_}")
    await Router(api.context.db).turn()

    waiting = await rows(
        api,
        """
        SELECT event_kind, payload #>> '{monitor,status}' AS status FROM deliveries
        JOIN events ON events.id = event_id WHERE deliveries.status = 0 ORDER BY events.sequence
        """,
    )
    assert [item["event_kind"] for item in waiting] == left
    if UP in left:
        assert waiting[-1]["status"] == "deleted"


async def test_what_no_router_has_seen_yet_is_told_to_nobody(api: Api) -> None:
    await hook(api)
    id_ = await failed(api, down=True)
    await append(api, id_, DOWN)

    await api.delete(f"/v1/monitors/{id_}")
    await Router(api.context.db).turn()

    assert await rows(api, "SELECT FROM deliveries") == []


async def test_only_who_was_told_and_wants_to_know_hears_of_the_end(api: Api) -> None:
    id_ = await failed(api, down=True)
    told, new = await hook(api), await hook(api)
    narrow, off = await hook(api, events=[DOWN]), await hook(api)
    for channel in (told, narrow, off):
        await happened(api, id_, DOWN, channel, **ARRIVED)
    await change(api, "channels", "id", off, enabled=False)

    await api.delete(f"/v1/monitors/{id_}")
    await Router(api.context.db).turn()

    assert [row["channel_id"] for row in await rows(api, "SELECT * FROM deliveries WHERE status = 0")] == [
        told
    ]
    assert new != told


async def failed(api: Api, *, down: bool) -> str:
    """A monitor with an incident, open when it is *down*."""
    id_ = await make(api)
    uuid = ids.read("mon", id_)
    await change(api, "monitors", "id", uuid, down=down, told=down)
    ended = {} if down else {"status": "resolved", "resolved_at": utc_now()}
    await incident(api.context.db, api.team_id, monitor_id=uuid, started_at=utc_now(), **ended)
    return id_


async def hook(api: Api, **config: Any) -> UUID:
    body = {"name": "hook", "type": "webhook", "config": {"url": "http://127.0.0.1:1/", **config}}
    answer = await api.post("/v1/alert-channels", body)
    id_ = ids.read("chan", answer.json["id"])
    assert id_ is not None
    return id_


async def append(api: Api, id_: str, kind: str) -> UUID:
    """An event of the monitor's that waits for a router; its id."""
    stream = ids.read("mon", id_)
    assert stream is not None
    async with api.context.db.transaction() as tx:
        await events.append(tx, api.team_id, stream, kind, payload_of({"event": kind}), utc_now())
        found: UUID = await tx.fetchval("SELECT id FROM events ORDER BY sequence DESC LIMIT 1")
    return found


async def happened(api: Api, id_: str, kind: str, channel: UUID, **delivery: Any) -> None:
    """An event of the monitor's that was routed to *channel*; *delivery* says how that stands."""
    event = await append(api, id_, kind)
    row = {"attempt": 0, "status": 0, "leased": False, **delivery}
    async with api.context.db.transaction() as tx:
        await tx.execute("UPDATE streams SET routed = sequence")
        await tx.execute(
            f"""
            INSERT INTO deliveries (team_id, id, channel_id, stream_id, sequence, event_id, event_kind,
                                    due_at, created_at, {", ".join(row)})
            SELECT team_id, $2, $3, stream_id, sequence, id, kind, now(), now(), $4, $5, $6
            FROM events WHERE id = $1
            """,
            event,
            ids.uuid7(),
            channel,
            *row.values(),
        )
