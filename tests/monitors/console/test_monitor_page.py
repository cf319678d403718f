"""A monitor's page: charts, days, checks, timeline and what can be done there."""

import csv
import io
import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs

import pytest

from shared import ids
from shared.clock import iso, utc_now
from shared.phases import pack
from shared.results import Phases
from tests.console.client import Console, Page
from tests.http.rows import incident, insert
from tests.monitors.monitors import make, number, result

MINUTE = timedelta(minutes=1)
SECRET = "correct-horse-battery"


async def measured(console: Console, **fields: Any) -> tuple[str, int]:
    """A monitor that was checked each minute of the last half an hour at two locations, one slower."""
    id_ = await make(console.api, locations=["east", "west"], **fields)
    monitor, now = await number(console.api, id_), utc_now()
    for at in range(1, 31):
        await result(console.api, monitor, now - at * MINUTE, "east", ms=100)
        await result(console.api, monitor, now - at * MINUTE, "west", ms=300)
    return id_, monitor


def lines(page: Page) -> list[str]:
    return re.findall(r'<path class="line ([^"]*)"', page.text.partition('id="checks"')[0])


def legend(page: Page) -> list[str]:
    [key] = re.findall(r'<p class="key soft">(.*?)</p>', page.text.partition('id="checks"')[0])
    return re.findall(r"</i>([^<]*)</span>", key)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["Median", "95th percentile"]),
        ("range=7d", ["Median", "95th percentile"]),
        ("range=nonsense&lines=nonsense&from=never&to=soon", ["Median", "95th percentile"]),
        ("lines=all", ["Median", "95th percentile", "99th percentile"]),
        ("lines=p99", ["99th percentile"]),
        ("by=location", ["east", "west"]),
        ("compare=week", ["Median", "95th percentile", "Median, a week before"]),
        ("range=1h", ["east", "west"]),
    ],
)
async def test_the_chart_has_the_lines_that_the_query_asks_for(
    console: Console, query: str, expected: list[str]
) -> None:
    id_, _ = await measured(console)
    await console.sign_in()

    page = await console.get(f"/monitors/{id_}?{query}")

    assert legend(page) == expected
    assert len(lines(page)) == len(expected)
    assert re.search(r'<text x="100%"[^>]*>0</text><text x="100%"[^>]*>\d+ ms</text>', page.text)


@pytest.mark.parametrize("range_", ["1h", "24h", "7d", "30d", "90d"])
async def test_each_range_is_a_link_and_keeps_the_rest_of_the_query(console: Console, range_: str) -> None:
    id_ = await make(console.api)
    await console.sign_in()

    page = await console.get(f"/monitors/{id_}?range={range_}&lines=p99&status=down")

    [current] = re.findall(r'href="([^"]*)#response" aria-current="true"', page.text)
    assert parse_qs(unescape(current)[1:]) == {"range": [range_], "lines": ["p99"], "status": ["down"]}


async def test_in_the_last_hour_each_check_is_a_point_with_its_own_text(console: Console) -> None:
    id_, monitor = await measured(console)
    failed = utc_now() - timedelta(minutes=2, seconds=30)
    await result(console.api, monitor, failed, "east", status=2, ms=500, code=None)
    await console.sign_in()

    page = await console.get(f"/monitors/{id_}?range=1h")

    points = re.findall(r'<path class="points ([^"]*)" d="([^"]*)"', page.text)
    assert {style: path.count("M") for style, path in points} == {"series-0": 30, "series-1": 30, "failed": 1}
    titles = [unescape(text) for text in re.findall(r"<title>([^<]*)</title></rect>", page.text)]
    assert sum("east: 100 ms" in text for text in titles) == 30
    assert [text.splitlines()[1:] for text in titles if "down" in text] == [["east: down, 500 ms"]]


async def test_a_window_of_its_own_shows_its_checks_and_no_others(console: Console) -> None:
    id_, _ = await measured(console)
    now = utc_now()
    await console.sign_in()

    page = await console.get(
        f"/monitors/{id_}?from={iso(now - timedelta(minutes=9, seconds=30))}&to={iso(now)}"
    )

    assert page.text.count("<tr><td><time") == 18
    assert 'aria-current="true"' not in page.text.partition('id="checks"')[0].partition('class="ranges"')[2]


@pytest.mark.oldest
async def test_outages_and_maintenance_are_bands_of_the_chart(console: Console) -> None:
    id_, monitor = await measured(console)
    now = utc_now()
    for location, start, end in ((0, 20, 15), (0, 5, None), (1, 25, 24), (0, 60 * 48, 60 * 47)):
        row = {"monitor": monitor, "location": location, "started_at": now - start * MINUTE}
        await insert(
            console.api.context.db,
            "outages",
            {**row, "ended_at": None if end is None else now - end * MINUTE},
        )
    other = await make(console.api, name="other")
    for chosen in (id_, other):
        body = {
            "name": "move",
            "start": iso(now + MINUTE),
            "duration": 540,
            "monitors": [chosen],
        }
        answer = await console.api.post("/v1/maintenance-windows", body)
        assert answer.status == 201, answer.json
    await console.sign_in()

    page = await console.get(f"/monitors/{id_}?from={iso(now - 30 * MINUTE)}&to={iso(now + 30 * MINUTE)}")

    bands = re.findall(r'<rect class="flag (\w+)".*?<title>([^<]*)</title>', page.text)
    assert [(style, text.splitlines()[1].partition(" for ")[0]) for style, text in bands] == [
        ("planned", "Maintenance, 9 min"),
        ("down", "Down"),
        ("down", "Down"),
    ]
    assert "Down for 5 min" in bands[1][1]


async def test_each_of_ninety_days_leads_to_itself(console: Console) -> None:
    id_, _ = await measured(console)
    await console.sign_in()

    page = await console.get(f"/monitors/{id_}")

    [bars] = re.findall(r'<div class="days".*?</div>', page.text, re.DOTALL)
    assert bars.count("<a ") == 90
    link, title = re.findall(r'href="([^"#]*)#response" title="([^"]*)"', bars)[-1]
    assert title.startswith(f"{utc_now():%d %b %Y}\n")
    assert "not measured" in bars
    day = await console.get(f"/monitors/{id_}{unescape(link)}")
    assert day.status == 200
    assert "No data in this period." not in day.words


async def test_the_checks_are_filtered_and_more_are_shown_on_request(console: Console) -> None:
    id_, monitor = await measured(console)
    await result(console.api, monitor, utc_now(), "west", status=2, ms=900, code=None)
    await console.sign_in()
    here = f"/monitors/{id_}"

    few = await console.get(here)
    down = await console.get(f"{here}?status=down")
    west = await console.get(f"{here}?location=west&status=up")
    [more] = re.findall(r'href="(\?[^"]*checks=100)#checks">([^<]*)<', few.text)
    every = await console.get(f"{here}{unescape(more[0])}")
    none = await console.get(f"{here}?location=nowhere")

    rows = [page.text.count("<tr><td><time") for page in (few, down, west, every)]
    assert rows == [20, 1, 20, 61]
    assert more[1] == "Show all 61"
    assert "No results match." in none.words


async def test_checks_are_exported_as_csv_and_no_text_in_it_is_a_formula(console: Console) -> None:
    id_, monitor = await measured(console)
    async with console.api.context.db.transaction() as tx:
        error = await tx.fetchval("INSERT INTO errors (text) VALUES ('=1+1') RETURNING error")
    at = utc_now().replace(microsecond=0)
    phases = pack(Phases(dns_us=1_500, connect_us=2_000))
    await result(console.api, monitor, at, "east", status=2, ms=7, code=503, error=error, phases=phases)
    await console.sign_in()

    page = await console.get(f"/monitors/{id_}/results.csv?range=1h")
    down = await console.get(f"/monitors/{id_}/results.csv?range=1h&status=down")
    nobody = await console.get("/monitors/mon_00000000000000000000000000/results.csv")

    assert page.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert page.headers["Content-Disposition"] == f'attachment; filename="{id_}.csv"'
    found = list(csv.DictReader(io.StringIO(page.text)))
    assert len(found) == 61
    assert found[0] == {
        "time": iso(at), "location": "east", "status": "down", "duration_ms": "7", "code": "503",
        "error": "'=1+1", "dns": "1.5", "connect": "2.0", "tls": "", "firstByte": "", "transfer": "",
    }  # fmt: skip
    assert len(down.text.splitlines()) == 2
    assert nobody.status == 404


async def test_the_phases_of_the_latest_checks_are_areas_with_their_own_texts(console: Console) -> None:
    id_ = await make(console.api)
    monitor, now = await number(console.api, id_), utc_now()
    for at in range(3):
        phases = pack(Phases(dns_us=1_000, connect_us=20_000, first_byte_us=30_000))
        await result(console.api, monitor, now - at * MINUTE, ms=51, phases=phases)
    await console.sign_in()

    page = await console.get(f"/monitors/{id_}")

    [card] = re.findall(r"Response time breakdown</h2>(.*?)</div>\s*<div class", page.text, re.DOTALL)
    assert re.findall(r'<path class="line (\w+)"', card) == ["dns", "connect", "firstByte"]
    assert card.count("DNS 1 ms\nconnect 20 ms\nfirst byte 30 ms") == 3


async def test_a_check_now_without_a_probe_says_so(console: Console) -> None:
    id_ = await make(console.api)
    job = await make(console.api, type="heartbeat", config={"expectedInterval": 60})
    await console.sign_in()
    assert f'action="/monitors/{id_}/check"' in (await console.get(f"/monitors/{id_}")).text

    page = await console.post(f"/monitors/{id_}/check")

    assert "Not checked: no probe is connected that could run this." in page.words
    assert "/check" not in (await console.get(f"/monitors/{job}")).text
    assert (await console.post(f"/monitors/{job}/check")).status == 400


async def test_a_copy_has_the_settings_and_secrets_of_its_source(console: Console) -> None:
    config = {"host": "db.example.com", "username": "watch", "password": SECRET}
    id_ = await make(console.api, name="db", type="postgres", config=config, tags={"team": "shop"})
    await console.sign_in()

    form = await console.get(f"/monitors/new?from={id_}")
    assert 'value="Copy of db"' in form.text
    assert SECRET not in form.text
    sent = dict(re.findall(r'<input [^>]*name="([^"]*)"[^>]* value="([^"]*)"', form.text))
    fields = {**{name: unescape(text) for name, text in sent.items()}, "severity": "high"}
    page = await console.post("/monitors", {**fields, "tags": "team: shop", "locations": "local"})

    made = page.path.rpartition("/")[2]
    assert made != id_
    shown = (await console.api.get(f"/v1/monitors/{made}")).json
    assert shown["name"] == "Copy of db"
    assert shown["config"]["password"] == SECRET
    assert shown["tags"] == {"team": "shop"}


async def test_a_copy_of_a_job_has_a_key_of_its_own(console: Console) -> None:
    id_ = await make(console.api, type="heartbeat", config={"expectedInterval": 60})
    await console.sign_in()
    await console.get(f"/monitors/new?from={id_}")

    fields = {"type": "heartbeat", "name": "second", "clone": id_, "config.expectedInterval": "60"}
    page = await console.post("/monitors", {**fields, "severity": "high"})

    made = page.path.rpartition("/")[2]
    keys = [(await console.api.get(f"/v1/monitors/{text}")).json["config"]["pingUrl"] for text in (id_, made)]
    assert keys[0] != keys[1]


async def test_the_timeline_has_incidents_in_words(console: Console) -> None:
    id_ = await make(console.api)
    await console.sign_in()
    mon = ids.read("mon", id_)
    async with console.api.context.db.connection() as tx:
        team = await tx.fetchval("SELECT team_id FROM monitors WHERE id = $1", mon)
    known = await incident(
        console.api.context.db, team, monitor_id=mon, last_error="connection refused", status="resolved",
        resolved_at=utc_now(), resolution_note="rebooted",
    )  # fmt: skip
    await console.api.post(f"/v1/monitors/{id_}/pause")

    page = await console.get(f"/monitors/{id_}")

    [entries] = re.findall(r'<ol class="timeline card">(.*?)</ol>', page.text, re.DOTALL)
    words = " ".join(re.sub(r"<[^>]*>", " ", entries).split())
    assert entries.count(f"/incidents/{ids.show('inc', known)}") == 2
    assert words.index("Resolved: shop is down") < words.index("connection refused")
    assert "rebooted" in words


async def test_the_configuration_is_in_words(console: Console) -> None:
    id_ = await make(console.api, config={"url": "https://shop.example.com/", "headers": {"x-shop": "1"}})
    job = await make(console.api, type="heartbeat", config={"expectedInterval": 86_400, "gracePeriod": "5m"})
    await console.sign_in()

    for path in (id_, job):
        page = await console.get(f"/monitors/{path}")
        [facts] = re.findall(r'Configuration</h2>\s*<dl class="facts card">(.*?)</dl>', page.text, re.DOTALL)
        labels = re.findall(r"<dt>([^<]*)</dt>", facts)
        assert not [label for label in labels if re.search(r"[a-z][A-Z]", label)]
        texts = dict(re.findall(r'<dt>([^<]*)</dt><dd dir="auto">([^<]*)</dd>', facts))
        if path == job:
            assert texts["Expected interval"] == "1 d"
            assert "Interval" not in texts
        else:
            assert texts["Follow redirects"] == "yes"
            assert texts["Headers"] == "x-shop: ********"
            assert texts["Interval"] == "1 min"
