"""The console's maintenance windows: planned, seen on the calendar, changed, ended, as the API would."""

from datetime import timedelta
from typing import Any

import pytest

from shared.clock import iso
from tests.console.client import Console
from tests.console.drawn import as_drawn

HERE = "/alerting/maintenance"
HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"
API = "/v1/maintenance-windows"


async def window(console: Console, **fields: Any) -> str:
    soon = console.api.clock() + timedelta(hours=2)
    answer = await console.api.post(
        API, {"name": "upgrade", "all": True, "start": iso(soon), "duration": 3600, **fields}
    )
    assert answer.status == 201, answer.json
    return str(answer.json["id"])


async def shown(console: Console, id_: str) -> dict[str, Any]:
    return dict((await console.api.get(f"{API}/{id_}")).json)


async def test_a_window_is_planned_with_what_the_form_says(console: Console) -> None:
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/new")).text)

    page = await console.post(
        HERE,
        {
            **fields,
            "name": "Upgrade",
            "start": "2090-12-01T02:00",
            "end": "2090-12-01T04:30",
            "timezone": "Europe/Berlin",
            "rrule": "FREQ=WEEKLY;BYDAY=FR",
            "exdates": "2090-12-08",
            "tags": "team:shop\ntier:1",
            "tagsMatch": "all",
        },
    )

    assert "Maintenance scheduled." in page.words
    [made] = (await console.api.get(API)).json["data"]
    assert (made["name"], made["duration"], made["timezone"]) == ("Upgrade", 9000, "Europe/Berlin")
    assert made["localStart"] == "2090-12-01T02:00:00"
    assert (made["rrule"], made["exdates"]) == ("FREQ=WEEKLY;BYDAY=FR", ["2090-12-08"])
    assert made["tags"] == {"team": "shop", "tier": "1"}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"description": "New disks", "enabled": False},
        {"all": False, "tags": ["team:shop", "critical"]},
        # By the clock of Berlin both begin at half past two that night; it is the second.
        {"start": "2090-10-29T01:30:00Z", "timezone": "Europe/Berlin", "duration": 5405},
        {"rrule": "FREQ=DAILY", "exdates": ["2090-12-24"], "timezone": "Asia/Kathmandu"},
    ],
    ids=str,
)
async def test_a_form_that_is_sent_as_it_is_drawn_changes_nothing(
    console: Console, fields: dict[str, Any]
) -> None:
    id_ = await window(console, **fields)
    before = await shown(console, id_)
    await console.sign_in()

    page = await console.post(f"{HERE}/{id_}/edit", as_drawn((await console.get(f"{HERE}/{id_}/edit")).text))

    assert "Saved." in page.words
    assert await shown(console, id_) == before


async def test_a_start_that_is_moved_leaves_the_end_as_it_stands(console: Console) -> None:
    id_ = await window(console, start="2090-12-01T02:00:00Z", duration=7200, description="x")
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/{id_}/edit")).text)
    assert (fields["start"], fields["end"]) == (["2090-12-01T02:00"], ["2090-12-01T04:00"])

    await console.post(f"{HERE}/{id_}/edit", {**fields, "start": "2090-12-01T03:00", "description": ""})

    after = await shown(console, id_)
    assert (after["start"], after["duration"]) == ("2090-12-01T03:00:00.000Z", 3600)
    assert after["description"] == ""


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", " "),
        ("start", "yesterday"),
        ("end", ""),
        ("end", "1999-01-01T00:00"),
        ("timezone", "Mars/Olympus"),
        ("rrule", "FREQ=SECONDLY"),
        ("exdates", "soon"),
        ("monitors", "mon_00000000000000000000000000"),
        ("tags", ":"),
        ("all", ""),
    ],
)
async def test_what_is_wrong_stands_at_its_field(console: Console, field: str, value: str) -> None:
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/new")).text)
    whole = {**fields, "name": "x", "start": "2090-12-01T02:00", "end": "2090-12-01T03:00", "all": "on"}

    page = await console.post(HERE, {**whole, field: value})

    assert page.status == 400
    assert 'class="fault"' in page.text


async def test_the_calendar_has_every_time_of_the_next_weeks(console: Console) -> None:
    await console.sign_in()
    assert "The next five weeks" not in (await console.get(HERE)).words
    await window(console, name="nightly", duration=60, rrule="FREQ=DAILY")

    page = await console.get(HERE)

    assert "The next five weeks" in page.words
    assert page.text.count('class="entry"') >= 27
    assert 'aria-current="date"' in page.text


async def test_what_is_under_way_is_ended_and_a_window_goes(console: Console) -> None:
    began = iso(console.api.clock() - timedelta(minutes=5))
    id_, later = await window(console, start=began), await window(console)
    await console.sign_in()
    page = await console.get(HERE)
    assert f"{HERE}/{id_}/end" in page.text
    assert f"{HERE}/{later}/end" not in page.text

    assert "Maintenance ended" in (await console.post(f"{HERE}/{id_}/end")).words
    assert "not under way" in (await console.post(f"{HERE}/{id_}/end")).words

    assert (await shown(console, id_))["status"] == "ended"
    assert "Maintenance deleted" in (await console.post(f"{HERE}/{id_}/delete")).words
    assert (await console.api.get(f"{API}/{id_}")).status == 404


async def test_who_is_late_is_told(console: Console) -> None:
    id_ = await window(console)
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/{id_}/edit")).text)
    await console.api.put(f"{API}/{id_}", {"name": "changed"})

    page = await console.post(f"{HERE}/{id_}/edit", {**fields, "name": "mine"})

    assert page.status == 412
    assert (await shown(console, id_))["name"] == "changed"


async def test_nothing_that_is_said_of_a_window_becomes_markup(console: Console) -> None:
    id_ = await window(console, name=HOSTILE, description=HOSTILE, all=False, tags=[HOSTILE])
    await console.sign_in()

    for path in (HERE, f"{HERE}/{id_}/edit", f"{HERE}?status=scheduled", f"{HERE}?status=%3Cimg"):
        page = await console.get(path)
        assert page.status == 200
        assert "onerror=alert" in page.text
        assert "<img" not in page.text


async def test_a_viewer_sees_all_and_does_nothing(console: Console) -> None:
    id_ = await window(console)
    await console.sign_in(await console.person("viewer"))

    page = await console.get(HERE)

    assert "upgrade" in page.words
    assert 'method="post" action="/alerting' not in page.text
    assert (await console.get(f"{HERE}/{id_}/edit")).status == 403


async def test_another_team_s_window_is_like_none(console: Console) -> None:
    other = await console.api.other_team()
    body = {"name": "x", "all": True, "start": "2090-01-01T00:00:00Z", "duration": 60}
    theirs = (await other.post(API, body)).json["id"]
    await console.sign_in()

    assert (await console.get(f"{HERE}/{theirs}/edit")).status == 404
    assert "upgrade" not in (await console.get(HERE)).words
    assert (await console.post(f"{HERE}/{theirs}/delete")).status == 404
