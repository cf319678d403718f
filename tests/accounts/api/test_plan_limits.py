"""What a team may have at most by its plan: counted exactly, whatever comes at the same time."""

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.http.client import Api
from tests.monitors.monitors import TCP, rows

pytestmark = pytest.mark.shares_server

MONITORS, CHANNELS = "/v1/monitors", "/v1/alert-channels"
HOOK = {"name": "Ops", "type": "webhook", "config": {"url": "https://hooks.example.com/"}}
MONITORS_409 = "The team's plan allows 3 monitors at most"
CHANNELS_409 = "The team's plan allows 2 alert channels at most"


@pytest.fixture
def few(api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    """The team's plan allows 3 monitors and 2 alert channels."""
    small: Any = api.context.plans
    monkeypatch.setitem(small, "pro", replace(small["pro"], monitors=3, channels=2))
    return api


async def counted(api: Api) -> int:
    [found] = await rows(
        api,
        """
        SELECT (SELECT monitors FROM monitor_counts WHERE team_id = $1) AS counted,
            (SELECT count(*) FROM monitors WHERE team_id = $1) AS there
        """,
        api.team_id,
    )
    assert found["counted"] == found["there"]
    return int(found["there"])


def applied(*names: str) -> dict[str, Any]:
    return {"monitors": [{**TCP, "name": name} for name in names]}


async def test_a_monitor_above_the_limit_is_refused_until_another_goes(few: Api) -> None:
    made = [await few.post(MONITORS, TCP) for _ in range(4)]
    first = made[0].json["id"]

    assert [answer.status for answer in made] == [201, 201, 201, 409]
    assert made[3].json["message"] == MONITORS_409
    assert await counted(few) == 3
    assert (await few.delete(f"{MONITORS}/{first}")).status == 204
    assert (await few.post(MONITORS, TCP, headers={"Idempotency-Key": "one"})).status == 201
    refused = await few.post(MONITORS, TCP, headers={"Idempotency-Key": "two"})
    assert (refused.status, refused.json["message"]) == (409, MONITORS_409)
    assert await counted(few) == 3


async def test_many_at_once_do_not_pass_the_limit_between_them(few: Api) -> None:
    other = await few.other_team()

    answers = await asyncio.gather(*(api.post(MONITORS, TCP) for api in (few, other) for _ in range(8)))

    assert Counter(answer.status for answer in answers[:8]) == {201: 3, 409: 5}
    assert Counter(answer.status for answer in answers[8:]) == {201: 3, 409: 5}
    assert await counted(few) == 3


async def test_files_above_the_limit_are_a_conflict_in_a_plan_already(few: Api) -> None:
    planned = await few.post("/v1/apply", {**applied("a", "b", "c", "d"), "plan": True})
    refused = await few.post("/v1/apply", applied("a", "b", "c", "d"))
    taken = await few.post("/v1/apply", applied("a", "b", "c"))

    assert planned.status == refused.status == 409
    assert planned.json["message"] == f"{MONITORS_409}; these files would make 4"
    assert taken.status == 200
    assert await counted(few) == 3
    swapped = await few.post("/v1/apply", {**applied("x", "y", "z"), "prune": True})
    assert [change["action"] for change in swapped.json["changes"]] == ["create"] * 3 + ["delete"] * 3
    assert await counted(few) == 3


async def test_files_and_requests_at_once_do_not_pass_it_either(few: Api) -> None:
    answers = await asyncio.gather(
        few.post("/v1/apply", applied("a", "b")), *(few.post(MONITORS, TCP) for _ in range(4))
    )

    assert {answer.status for answer in answers} <= {200, 201, 409}
    assert await counted(few) in (2, 3)


async def test_bulk_deletion_is_counted(few: Api) -> None:
    for _ in range(3):
        await few.post(MONITORS, TCP)

    await few.post(f"{MONITORS}/bulk", {"action": "delete", "filter": {"all": True}})

    assert await counted(few) == 0
    assert (await few.post(MONITORS, TCP)).status == 201


async def test_alert_channels_have_a_limit_that_holds_at_once_and_for_files(few: Api) -> None:
    answers = await asyncio.gather(*(few.post(CHANNELS, HOOK) for _ in range(6)))
    refused = [answer for answer in answers if answer.status != 201]
    by_files = await few.post("/v1/apply", {"channels": [{**HOOK, "name": "Another"}]})

    assert {answer.json["message"] for answer in refused} == {CHANNELS_409}
    assert [answer.status for answer in refused] == [409] * 4
    assert by_files.status == 409
    assert by_files.json["message"] == f"{CHANNELS_409}; these files would make 3"


async def test_the_team_shows_its_limits(few: Api) -> None:
    shown = (await few.get("/v1/team")).json

    assert shown["limits"] == {"monitors": 3, "channels": 2, "streams": 600, "mailsPerHour": 10_000}
    renamed = await few.put("/v1/team", {"name": "New", "limits": shown["limits"]})
    assert (renamed.status, renamed.json["limits"]) == (200, shown["limits"])
    assert "warnings" not in renamed.json
