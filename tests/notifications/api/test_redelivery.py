"""Sending a delivery again over the API."""

from typing import Any

import pytest

from collector.notifications.jobs.router import Router
from shared import ids
from tests.http.client import Api
from tests.notifications.api.test_channels import PATH, make
from tests.notifications.ground import deliveries, happen


async def sent(api: Api, status: int) -> tuple[str, Any]:
    """A channel with one delivery that ended so; the channel's id and the delivery as it is shown."""
    made = await make(api)
    await happen(api.context.db, api.team_id, ids.uuid7(), "monitor.down")
    await Router(api.context.db).turn()
    async with api.context.db.connection() as tx:
        await tx.execute("UPDATE deliveries SET status = $1, attempt = 4", status)
    [shown] = (await api.get(f"{PATH}/{made}/deliveries")).json["data"]
    return made, shown


@pytest.mark.parametrize("status", [1, 2])
async def test_the_same_event_is_queued_anew_and_the_old_delivery_stays(api: Api, status: int) -> None:
    made, before = await sent(api, status)

    answer = await api.post(f"/v1/deliveries/{before['id']}/redeliver")

    assert answer.status == 200
    assert answer.json["id"] != before["id"]
    assert (answer.json["event"], answer.json["eventId"]) == ("monitor.down", before["eventId"])
    assert (answer.json["status"], answer.json["attempts"]) == ("pending", [])
    shown = (await api.get(f"{PATH}/{made}/deliveries")).json["data"]
    assert [item["id"] for item in shown] == [answer.json["id"], before["id"]]
    assert shown[1] == before


async def test_what_is_still_being_tried_is_not_sent_twice(api: Api) -> None:
    _, before = await sent(api, 0)

    answer = await api.post(f"/v1/deliveries/{before['id']}/redeliver")

    assert (answer.status, answer.json["error"]) == (409, "Conflict")
    assert len(await deliveries(api.context.db)) == 1


async def test_one_may_be_sent_again_as_often_as_one_likes(api: Api) -> None:
    _, before = await sent(api, 1)

    answers = [await api.post(f"/v1/deliveries/{before['id']}/redeliver") for _ in range(3)]

    assert {answer.status for answer in answers} == {200}
    assert len(await deliveries(api.context.db)) == 4


async def test_another_team_s_delivery_is_like_none(api: Api) -> None:
    _, before = await sent(api, 2)
    other = await api.other_team()

    answers = [
        await other.post(f"/v1/deliveries/{id_}/redeliver")
        for id_ in (before["id"], ids.show("dlv", ids.uuid7()), "dlv_x", "1")
    ]

    assert {answer.status for answer in answers} == {404}
    assert len({answer.body for answer in answers}) == 1


async def test_who_may_only_read_sends_nothing(api: Api) -> None:
    _, before = await sent(api, 2)
    assert (await (await api.reader()).post(f"/v1/deliveries/{before['id']}/redeliver")).status == 403
