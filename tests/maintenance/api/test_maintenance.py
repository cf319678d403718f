"""Maintenance windows over HTTP: made, read, changed, ended, deleted, and in force meanwhile."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from collector.maintenance.service.windows import MOST
from collector.maintenance.storage import spans
from shared.clock import iso, utc_now
from tests.http.client import Api
from tests.monitors.monitors import details, make, number, rows

pytestmark = pytest.mark.shares_server

PATH = "/v1/maintenance-windows"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def soon(hours: float) -> str:
    return iso(utc_now() + hours * HOUR)


async def plan(api: Api, **fields: Any) -> dict[str, Any]:
    """A window of every monitor that began an hour ago and takes two, but for *fields*."""
    body = {"name": "upgrade", "all": True, "start": soon(-1), "duration": 7200, **fields}
    answer = await api.post(PATH, {name: value for name, value in body.items() if value is not None})
    assert answer.status == 201, answer.body
    return dict(answer.json)


async def held(api: Api, *monitors: str, ahead: timedelta = timedelta()) -> list[bool]:
    """Is each under maintenance, then?"""
    keys = [await number(api, id_) for id_ in monitors]
    async with api.context.db.connection() as tx:
        found = await spans.active(tx, keys, api.clock() + ahead)
    return [key in found for key in keys]


async def test_a_window_is_shown_as_it_was_planned(api: Api) -> None:
    shop = await make(api, tags={"env": "prod"})
    body = {
        "name": "Patch day",
        "description": "kernel",
        "monitors": [shop],
        "tags": {"env": "prod"},
        "start": "2099-03-03T02:30:00",
        "duration": 3600,
        "timezone": "europe/berlin",
        "rrule": "RRULE:FREQ=MONTHLY;BYDAY=1TU",
        "exdates": ["2099-04-07"],
    }
    answer = await api.post(PATH, body)
    assert (answer.status, answer.headers["ETag"]) == (201, '"1"')
    made = answer.json
    shown = (await api.get(f"{PATH}/{made['id']}")).json
    assert made == shown
    assert made.pop("id").startswith("mw_")
    assert made.pop("createdAt") == made.pop("updatedAt")
    assert made == {
        **body,
        "start": "2099-03-03T01:30:00.000Z",
        "end": "2099-03-03T02:30:00.000Z",
        "localStart": "2099-03-03T02:30:00",
        "timezone": "Europe/Berlin",
        "rrule": "FREQ=MONTHLY;BYDAY=1TU",
        "all": False,
        "enabled": True,
        "status": "scheduled",
        "until": None,
        "nextStart": "2099-03-03T01:30:00.000Z",
        "nextEnd": "2099-03-03T02:30:00.000Z",
        "occurrences": [
            {"start": f"2099-{day}:30:00.000Z", "end": f"2099-{end}:30:00.000Z"}
            for day, end in [
                ("03-03T01", "03-03T02"),
                ("05-05T00", "05-05T01"),
                ("06-02T00", "06-02T01"),
                ("07-07T00", "07-07T01"),
                ("08-04T00", "08-04T01"),
            ]
        ],
        "revision": 1,
    }


@pytest.mark.parametrize(
    ("fields", "bad"),
    [
        ({"name": " "}, {"name": "must not be blank"}),
        ({"start": None}, {"start": "Start is required"}),
        (
            {"start": "tomorrow"},
            {
                "start": "must be an RFC 3339 timestamp, or a local time such as 2026-12-01T02:00:00, "
                "in a year from 2000 to 2100"
            },
        ),
        ({"duration": None}, {"end": "End or duration is required"}),
        ({"duration": 0}, {"duration": "must be between 1 and 31622400"}),
        ({"duration": None, "end": soon(-2)}, {"end": "must be after start, by 366 days at most"}),
        ({"duration": None, "end": soon(9000)}, {"end": "must be after start, by 366 days at most"}),
        (
            {"start": "2099-01-01T00:00:00Z", "end": "2099-01-01T01:00:00Z"},
            {"duration": "must be 3600 to fit start and end; one of them is enough"},
        ),
        ({"timezone": "Mars/Olympus"}, {"timezone": "must be an IANA time zone, such as Europe/Berlin"}),
        ({"timezone": "../../etc/passwd"}, {"timezone": "must be an IANA time zone, such as Europe/Berlin"}),
        (
            {"rrule": "FREQ=SECONDLY", "exdates": ["never"]},
            {
                "rrule": "FREQ must be one of HOURLY, DAILY, WEEKLY, MONTHLY, YEARLY",
                "exdates[0]": "must be a date (YYYY-MM-DD)",
            },
        ),
        ({"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}, {"rrule": "names no time from start on"}),
        ({"all": False}, {"monitors": "name monitors or tags, or say all: true"}),
        ({"monitors": ["mon_1"]}, {"monitors[0]": "must be the id of a monitor"}),
        ({"monitors": ["mon_01jd0000000000000000000000"]}, {"monitors[0]": "there is no such monitor"}),
        ({"tags": ["", "a"]}, {"tags[0]": "must be the name of a tag, or name:value"}),
        (
            {"tags": 3, "enabled": "maybe"},
            {
                "tags": "must be an object, or a list of name or name:value",
                "enabled": "must be true or false",
            },
        ),
    ],
)
async def test_what_cannot_be_run_is_refused_field_by_field(
    api: Api, fields: dict[str, Any], bad: dict[str, str]
) -> None:
    body = {"name": "upgrade", "all": True, "start": soon(-1), "duration": 7200, **fields}
    answer = await api.post(PATH, {name: value for name, value in body.items() if value is not None})
    assert details(answer) == bad


@pytest.mark.parametrize("zone", ["localtime", "Factory", "UTC\0", "Europe/", "posix/UTC", 5, "a" * 500])
async def test_a_strange_time_zone_is_never_an_error_of_ours(api: Api, zone: object) -> None:
    body = {"name": "upgrade", "all": True, "start": "2099-01-01T00:00:00", "duration": 60, "timezone": zone}
    assert (await api.post(PATH, body)).status in {201, 400}


async def test_another_teams_windows_and_monitors_are_not_there(api: Api) -> None:
    other = await api.other_team()
    theirs, mine = await plan(other), await make(api)
    for answer in (
        await api.get(f"{PATH}/{theirs['id']}"),
        await api.put(f"{PATH}/{theirs['id']}", {"name": "mine"}),
        await api.delete(f"{PATH}/{theirs['id']}"),
        await api.post(f"{PATH}/{theirs['id']}/end"),
    ):
        assert (answer.status, answer.json["message"]) == (404, "Maintenance window not found")
    body = {"name": "theirs", "monitors": [mine], "start": soon(1), "duration": 60}
    assert details(await other.post(PATH, body)) == {"monitors[0]": "there is no such monitor"}
    assert (await api.get(PATH)).json["meta"]["total"] == 0
    assert await held(api, mine) == [False]


async def test_who_may_read_may_not_plan(api: Api) -> None:
    window, reader = await plan(api), await api.reader()
    assert (await reader.get(f"{PATH}/{window['id']}")).status == 200
    assert (await reader.post(PATH, {})).status == 403
    assert (await reader.post(f"{PATH}/{window['id']}/end")).status == 403


async def test_the_list_is_paged_and_tells_windows_by_their_status(api: Api) -> None:
    windows: dict[str, dict[str, Any]] = {
        "now": {},
        "over": {"start": soon(-9)},
        "later": {"start": soon(9)},
        "off": {"enabled": False},
    }
    for name, fields in windows.items():
        await plan(api, **{"name": name, **fields})

    async def names(query: str = "") -> list[str]:
        answer = await api.get(PATH + query)
        assert answer.status == 200, answer.body
        return [item["name"] for item in answer.json["data"]]

    assert await names() == ["off", "later", "over", "now"]
    assert [await names(f"?status={status}") for status in ("active", "ended", "scheduled", "disabled")] == [
        ["now"], ["over"], ["later"], ["off"],
    ]  # fmt: skip
    answer = await api.get(PATH + "?limit=3&page=2")
    assert answer.json["meta"] == {"page": 2, "limit": 3, "total": 4}
    assert details(await api.get(PATH + "?status=odd"))["status"].startswith("must be one of")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"all": True}, [True, True, True]),
        ({"monitors": [0]}, [True, False, False]),
        ({"tags": {"env": "prod"}}, [True, True, False]),
        ({"tags": {"env": "prod", "tier": "1"}}, [True, False, False]),
        ({"tags": ["tier:2", "legacy"]}, [False, True, True]),
        ({"monitors": [2], "tags": ["tier:1"]}, [True, False, True]),
        ({"tags": ["env:test"]}, [False, False, False]),
    ],
)
async def test_a_window_is_for_monitors_by_name_or_by_tag(
    api: Api, fields: dict[str, Any], expected: list[bool]
) -> None:
    monitors = [
        await make(api, tags=tags)
        for tags in ({"env": "prod", "tier": "1"}, {"env": "prod", "tier": "2"}, {"legacy": "yes"})
    ]
    named = {"monitors": [monitors[n] for n in fields["monitors"]]} if "monitors" in fields else {}
    window = await plan(api, **{"all": None, **fields, **named})
    assert await held(api, *monitors) == expected
    assert ("warnings" in window) == (not any(expected))
    assert window["tags"] == fields.get("tags", {})


async def test_windows_that_touch_are_one_and_others_are_not(api: Api) -> None:
    monitor, now = await make(api), utc_now().replace(microsecond=0)
    for start, duration in ((-1, 7200), (1, 3600), (1.5, 7200), (5, 60)):
        await plan(api, start=iso(now + start * HOUR), duration=duration)
    key = await number(api, monitor)
    async with api.context.db.connection() as tx:
        assert await spans.active(tx, [key], now) == {key: now + 3.5 * HOUR}
        assert await spans.active(tx, [key, 999_999], now + 4 * HOUR) == {}
        assert await spans.active(tx, [key], now + 3.5 * HOUR) == {}
        assert await spans.active(tx, [key], now - HOUR) == {key: now + 3.5 * HOUR}


async def test_what_is_sent_as_it_was_shown_changes_nothing(api: Api) -> None:
    window = await plan(api, timezone="America/New_York", rrule="FREQ=DAILY", tags=["env:prod"])
    answer = await api.put(f"{PATH}/{window['id']}", window)
    window.pop("warnings")
    assert {name: answer.json[name] for name in window} == window
    assert (await api.put(f"{PATH}/{window['id']}", {})).json["revision"] == 1


@pytest.mark.parametrize(
    ("sent", "start", "end", "duration"),
    [
        ({"duration": 60}, "01:00", "01:01", 60),
        ({"end": "2099-01-01T05:00:00Z"}, "01:00", "05:00", 4 * 3600),
        ({"start": "2099-01-01T02:00:00Z"}, "02:00", "04:00", 7200),
        ({"start": "2099-01-01T03:30:00+01:00", "end": None, "duration": None}, "02:30", "04:30", 7200),
        ({"end": "2099-01-01T02:00:00Z", "duration": 3600}, "01:00", "02:00", 3600),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
async def test_of_start_end_and_duration_what_is_news_counts(
    api: Api, sent: dict[str, Any], start: str, end: str, duration: int, whole: bool
) -> None:
    """Whether only the news are sent, or all that was shown with them."""
    window = await plan(api, start="2099-01-01T01:00:00Z")
    answer = await api.put(f"{PATH}/{window['id']}", {**window, **sent} if whole else sent)
    assert answer.status == 200, answer.body
    assert answer.json["start"] == f"2099-01-01T{start}:00.000Z"
    assert answer.json["end"] == f"2099-01-01T{end}:00.000Z"
    assert (answer.json["duration"], answer.json["revision"]) == (duration, 2)


async def test_an_end_that_comes_without_a_duration_is_meant_though_it_is_as_it_was(api: Api) -> None:
    window = await plan(api, start="2099-01-01T01:00:00Z")
    sent = {"start": "2099-01-01T02:00:00Z", "end": window["end"]}
    assert (await api.put(f"{PATH}/{window['id']}", sent)).json["duration"] == 3600


async def test_in_another_zone_it_keeps_the_time_of_the_clock(api: Api) -> None:
    window = await plan(api, start="2099-01-01T02:00:00", timezone="Europe/Berlin")
    moved = await api.put(f"{PATH}/{window['id']}", {**window, "timezone": "America/New_York"})
    assert (moved.json["start"], moved.json["localStart"]) == (
        "2099-01-01T07:00:00.000Z",
        "2099-01-01T02:00:00",
    )


async def test_a_change_is_made_only_to_the_revision_that_it_is_meant_for(api: Api) -> None:
    window = await plan(api)
    path = f"{PATH}/{window['id']}"
    assert (await api.put(path, {"name": "a"}, headers={"If-Match": '"9"'})).status == 412
    assert (await api.delete(path, headers={"If-Match": '"9"'})).status == 412
    assert (await api.put(path, {"name": "a"}, headers={"If-Match": '"1"'})).headers["ETag"] == '"2"'
    assert (await api.get(path, headers={"If-None-Match": '"2"'})).status == 304
    assert (await api.delete(path, headers={"If-Match": '"2"'})).status == 204
    assert (await api.get(path)).status == 404


async def test_what_is_under_way_can_be_ended_once_and_recurs_all_the_same(api: Api) -> None:
    monitor = await make(api)
    once = await plan(api)
    ended = await api.post(f"{PATH}/{once['id']}/end")
    assert (ended.status, ended.json["status"], ended.json["revision"]) == (200, "ended", 2)
    assert await held(api, monitor) == [False]
    assert (await api.post(f"{PATH}/{once['id']}/end")).status == 409
    daily = await plan(api, rrule="FREQ=DAILY")
    ended = await api.post(f"{PATH}/{daily['id']}/end")
    assert (ended.json["status"], ended.json["revision"]) == ("scheduled", 1)
    assert (await held(api, monitor), await held(api, monitor, ahead=DAY)) == ([False], [True])
    renamed = await api.put(f"{PATH}/{daily['id']}", {"name": "other", "monitors": [monitor], "all": False})
    assert renamed.json["status"] == "scheduled"
    assert await held(api, monitor) == [False]


@pytest.mark.own_server
async def test_what_is_past_stays_when_a_window_is_changed_or_goes(api: Api) -> None:
    monitor, other = await make(api), await make(api)
    window = await plan(api, monitors=[monitor], all=None, rrule="FREQ=DAILY")
    path = f"{PATH}/{window['id']}"
    await api.put(path, {"monitors": [other]})
    assert await held(api, monitor, other) == [False, True]
    assert await held(api, monitor, other, ahead=-HOUR / 2) == [True, False]
    assert await held(api, monitor, other, ahead=DAY) == [False, True]
    await api.put(path, {"duration": 9000})
    assert await held(api, monitor, other, ahead=1.25 * HOUR) == [False, True]
    await api.put(path, {"enabled": False})
    assert await held(api, monitor, other) == [False, False]
    await api.put(path, {"enabled": True})
    assert await held(api, monitor, other) == [False, True]
    assert (await api.delete(path)).status == 204
    assert await held(api, monitor, other, ahead=DAY) == [False, False]
    assert await held(api, monitor, other, ahead=-HOUR / 2) == [True, False]
    left = await rows(api, "SELECT ends_at FROM maintenance_spans")
    assert all(row["ends_at"] <= api.clock() for row in left)


async def test_a_caller_is_told_what_may_not_be_meant(api: Api) -> None:
    over = await plan(api, start="2020-01-01T00:00:00Z", colour="red")
    assert over["warnings"] == [
        "unknown field colour was ignored",
        "no monitor is selected as things are",
        "it is over: it comes no more",
    ]
    await make(api, tags={"env": "prod"})
    endless = await plan(api, rrule="FREQ=HOURLY", tags=["env"])
    assert endless["warnings"] == [
        "all: true takes every monitor of the team, whatever monitors and tags say",
        "duration reaches to the next start: it does not end in between",
    ]
    astray = await plan(api, start="2099-01-01T00:00:00Z", rrule="FREQ=MONTHLY;BYMONTHDAY=2")
    assert astray["warnings"] == [
        "start is none of the rule's times: the first one is 2099-01-02T00:00:00.000Z"
    ]


async def test_of_many_who_end_it_one_does(api: Api) -> None:
    window = await plan(api)
    answers = await asyncio.gather(*[api.post(f"{PATH}/{window['id']}/end") for _ in range(20)])
    assert sorted(answer.status for answer in answers) == [200] + [409] * 19


async def test_a_team_does_not_have_windows_without_end(api: Api) -> None:
    window = await plan(api)
    await rows(
        api,
        """
        INSERT INTO maintenance_windows
        SELECT (json_populate_record(w, json_build_object('id', gen_random_uuid()))).*
        FROM maintenance_windows w, generate_series(2, $1)
        """,
        MOST,
    )
    body = {"name": "one more", "all": True, "start": soon(1), "duration": 60}
    assert (await api.post(PATH, body)).status == 409
    await api.delete(f"{PATH}/{window['id']}")
    assert (await api.post(PATH, body)).status == 201


@pytest.mark.own_server
async def test_each_deed_is_in_the_audit_log(api: Api) -> None:
    window = await plan(api, rrule="FREQ=DAILY")
    path = f"{PATH}/{window['id']}"
    await api.put(path, {"name": "other", "duration": 60 * 100})
    await api.put(path, {"name": "other"})
    await api.post(f"{path}/end")
    await api.delete(path)
    found = await rows(
        api,
        "SELECT action, resource_id, fields FROM audit_log WHERE resource = 'maintenance-window' ORDER BY at",
    )
    assert [(row["action"], row["resource_id"], row["fields"]) for row in found] == [
        ("create", window["id"], []),
        ("update", window["id"], ["duration", "end", "name"]),
        ("end", window["id"], []),
        ("delete", window["id"], []),
    ]
