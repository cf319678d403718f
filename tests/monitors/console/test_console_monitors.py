"""The console's monitors: found, read, made, tried, changed, and done with, as the API would."""

import re
from datetime import timedelta
from html import unescape

import pytest

from shared.clock import utc_now
from shared.phases import pack
from shared.results import Phases
from tests.console.client import Console, Page
from tests.monitors.monitors import number, result

HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"
SECRET = "correct-horse-battery"


async def made(console: Console, **fields: object) -> str:
    """A monitor, and its id."""
    body = {"name": "shop", "type": "tcp", "config": {"host": "192.0.2.1", "port": 443}, **fields}
    answer = await console.api.post("/v1/monitors", body)
    assert answer.status == 201, answer.json
    return str(answer.json["id"])


def names(page: Page) -> list[str]:
    return re.findall(r'class="name" dir="auto" href="/monitors/mon_[^"]*">([^<]*)<', page.text)


async def test_without_monitors_the_list_leads_to_the_first(console: Console) -> None:
    await console.sign_in()

    page = await console.get("/monitors")

    assert "No monitors yet" in page.words
    assert 'href="/monitors/new"' in page.text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["shop", "100% mail"]),
        ("q=SHO", ["shop"]),
        ("q=%25", ["100% mail"]),
        ("q=_", []),
        ("q=192.0.2.1", ["shop"]),
        ("q=team:sh", ["shop"]),
        ("type=tcp", ["shop"]),
        ("tag=team", ["shop"]),
        ("tag=team:shop", ["shop"]),
        ("tag=team:mail", []),
        ("location=north", ["100% mail"]),
        ("status=paused", ["100% mail"]),
        ("status=silenced", ["shop"]),
        ("status=nonsense&type=nonsense", ["shop", "100% mail"]),
    ],
)
async def test_the_list_is_narrowed_by_what_is_asked(console: Console, query: str, found: list[str]) -> None:
    shop = await made(console, tags={"team": "shop"}, locations=["local"])
    await console.api.post(f"/v1/monitors/{shop}/silence", {"duration": 60})
    mail = await made(
        console, name="100% mail", type="smtp", config={"host": "192.0.2.2"}, locations=["local", "north"]
    )
    await console.api.post(f"/v1/monitors/{mail}/pause")
    await console.sign_in()

    assert names(await console.get(f"/monitors?{query}")) == found


async def test_what_is_ticked_is_changed_and_nothing_else(console: Console) -> None:
    first, second, third = [await made(console, name=name) for name in ("a", "b", "c")]
    await console.sign_in()
    await console.get("/monitors?type=tcp")

    page = await console.post(
        "/monitors/bulk", {"id": [first, third], "action": "pause", "query": "type=tcp"}
    )

    assert page.path == "/monitors?type=tcp"
    assert "2 of 2 changed." in page.words
    states = [(await console.api.get(f"/v1/monitors/{id_}")).json["status"] for id_ in (first, second, third)]
    assert states == ["paused", "up", "paused"]
    page = await console.post("/monitors/bulk", {"action": "delete"})
    assert "Select monitors first." in page.words
    page = await console.post("/monitors/bulk", {"id": [first], "action": "tag", "tag": "team:x"})
    assert (await console.api.get(f"/v1/monitors/{first}")).json["tags"] == {"team": "x"}
    page = await console.post("/monitors/bulk", {"id": [first], "action": "explode"})
    assert "must be one of" in page.words


async def test_a_monitor_is_made_with_what_the_form_says(console: Console) -> None:
    await console.sign_in()
    await console.get("/monitors/new?type=http")

    page = await console.post(
        "/monitors",
        {
            "type": "http", "name": "Shop", "interval": "30", "timeout": "5", "locations": "local",
            "severity": "high", "tags": "team: shop", "config.url": "https://shop.example.com/",
            "config.method": "HEAD", "config.headers": "X-One: 1", "config.expectedStatus": "200-204",
        },
    )  # fmt: skip

    assert page.status == 200
    assert "Monitor “Shop” created." in page.words
    id_ = page.path.rpartition("/")[2]
    shown = (await console.api.get(f"/v1/monitors/{id_}")).json
    assert (shown["interval"], shown["severity"], shown["tags"]) == (30, "high", {"team": "shop"})
    assert shown["config"]["method"] == "HEAD"
    assert shown["config"]["headers"] == {"X-One": "1"}


@pytest.mark.parametrize(
    "type_", ["http", "tcp", "icmp", "tls", "dns", "heartbeat", "prometheus", "postgres"]
)
async def test_every_type_has_a_form_whose_faults_stand_at_their_fields(console: Console, type_: str) -> None:
    await console.sign_in()
    assert (await console.get(f"/monitors/new?type={type_}")).status == 200

    page = await console.post("/monitors", {"type": type_, "name": "", "interval": "0"})

    assert page.status == 400
    assert "Name is required" in page.words
    assert page.text.count('aria-invalid="true"') >= 2


async def test_a_secret_is_masked_in_the_form_and_kept_when_it_is_left_alone(console: Console) -> None:
    config = {"host": "192.0.2.1", "username": "watch", "password": SECRET}
    id_ = await made(console, type="postgres", config=config)
    await console.sign_in()

    page = await console.get(f"/monitors/{id_}/edit")

    assert SECRET not in page.text
    mask = re.search(r'name="config.password"[^>]* value="([^"]*)"', page.text)
    revision = re.search(r'name="revision" value="([^"]*)"', page.text)
    assert mask
    assert revision
    fields = {
        "type": "postgres",
        "name": "renamed",
        "interval": "60",
        "timeout": "10",
        "severity": "critical",
    }
    fields |= {"config.host": "192.0.2.9", "config.username": "watch", "config.password": mask[1]}
    page = await console.post(f"/monitors/{id_}/edit", {**fields, "revision": revision[1]})
    assert "Saved." in page.words
    shown = (await console.api.get(f"/v1/monitors/{id_}")).json
    assert (shown["name"], shown["config"]["host"]) == ("renamed", "192.0.2.9")
    assert shown["config"]["password"] == SECRET
    page = await console.post(f"/monitors/{id_}/edit", {**fields, "revision": revision[1]})
    assert page.status == 412
    assert "someone else changed this monitor meanwhile" in page.words


async def test_a_test_without_a_probe_says_so_and_keeps_the_form(console: Console) -> None:
    await console.sign_in()
    await console.get("/monitors/new?type=tcp")

    page = await console.post(
        "/monitors/test", {"type": "tcp", "name": "n", "config.host": "192.0.2.1", "config.port": "443"}
    )

    assert page.status == 503
    assert 'value="192.0.2.1"' in page.text
    assert not (await console.api.get("/v1/monitors")).json["data"]


async def test_a_monitor_s_page_says_how_it_stands_and_who_would_be_told(console: Console) -> None:
    id_ = await made(console)
    await console.sign_in()

    for over in ("24h", "7d", "30d", "90d", "nonsense"):
        page = await console.get(f"/monitors/{id_}?range={over}")
        assert page.status == 200

    assert "No one will be notified" in page.words
    assert "No results yet." in page.words
    assert (await console.get("/monitors/mon_00000000000000000000000000")).status == 404


async def test_what_can_be_done_with_a_monitor_is_done(console: Console) -> None:
    id_ = await made(console)
    await console.sign_in()
    here = f"/monitors/{id_}"
    await console.get(here)

    await console.post(f"{here}/pause")
    assert (await console.api.get(f"/v1{here}")).json["status"] == "paused"
    await console.post(f"{here}/resume")
    assert (await console.api.get(f"/v1{here}")).json["status"] == "up"
    page = await console.post(f"{here}/silence", {"duration": "3600", "reason": "a test"})
    assert "Muted until" in page.words
    assert (await console.api.get(f"/v1{here}")).json["silencedUntil"] is not None
    page = await console.post(f"{here}/silence", {"duration": "soon"})
    assert "duration" in page.words
    await console.post(f"{here}/unsilence")
    assert (await console.api.get(f"/v1{here}")).json["silencedUntil"] is None
    page = await console.post(f"{here}/delete")
    assert page.path == "/monitors"
    assert (await console.api.get(f"/v1{here}")).status == 404


async def test_nothing_that_a_monitor_says_of_itself_becomes_markup(console: Console) -> None:
    id_ = await made(
        console, name=HOSTILE, tags={HOSTILE: HOSTILE}, description=HOSTILE, group=HOSTILE,
        type="http", config={"url": "https://example.com/", "body": HOSTILE, "headers": {"x": HOSTILE}},
    )  # fmt: skip
    await console.sign_in()

    for path in ("/monitors", f"/monitors/{id_}", f"/monitors/{id_}/edit", f"/monitors?q={'<b>'}"):
        page = await console.get(path)
        assert page.status == 200
        assert "<img" not in page.text
        assert "'49" not in unescape(page.text)


async def test_a_viewer_sees_no_deeds(console: Console) -> None:
    id_ = await made(console)
    await console.sign_in(await console.person("viewer"))

    for path in ("/monitors", f"/monitors/{id_}"):
        page = await console.get(path)
        assert page.status == 200
        assert 'action="/monitors' not in page.text.replace('action="/monitors" class="narrow"', "")
    assert (await console.get("/monitors/new")).status == 403


async def test_ten_thousand_monitors_are_a_light_page(console: Console) -> None:
    for at in range(60):
        await made(console, name=f"monitor {at:02}", tags={"team": "shop", "tier": "1"})
    await console.sign_in()

    page = await console.get("/monitors")

    assert len(names(page)) == 50
    assert len(page.text.encode()) < 150_000
    assert names(await console.get("/monitors?page=2")) == [f"monitor {at:02}" for at in range(50, 60)]


async def test_a_silence_that_is_over_is_not_shown(console: Console) -> None:
    id_ = await made(console)
    await console.api.post(f"/v1/monitors/{id_}/silence", {"duration": 60})
    await console.sign_in()
    assert 'class="mark silenced"' in (await console.get("/monitors")).text
    console.api.clock.ahead += timedelta(minutes=2)
    assert 'class="mark silenced"' not in (await console.get("/monitors")).text


@pytest.mark.parametrize(("days", "words"), [(59, "59 days left"), (1, "1 day left"), (None, "")])
async def test_a_result_shows_the_days_that_its_certificate_had_left(
    console: Console, days: int | None, words: str
) -> None:
    shop = await made(console, type="tls", config={"domain": "192.0.2.1"})
    monitor = await number(console.api, shop)
    await result(console.api, monitor, utc_now(), phases=pack(Phases(tls_us=300), days))
    await console.sign_in()

    page = await console.get(f"/monitors/{shop}")

    assert f"certificate: {words}" in page.words if words else "certificate:" not in page.words


async def test_the_card_of_a_monitor_that_was_never_measured_is_not_green(console: Console) -> None:
    monitor = await made(console)
    await console.sign_in()

    before = await console.get(f"/monitors/{monitor}")
    await console.api.post(f"/v1/monitors/{monitor}/pause")
    after = await console.get(f"/monitors/{monitor}")

    assert re.findall(r'class="card verdict (\w+)"', before.text + after.text) == ["off", "paused"]
    assert "no result yet" in before.words
    assert "no result yet" not in after.words


async def test_the_head_of_a_page_links_the_target_and_shows_what_describes_it(console: Console) -> None:
    monitor = await made(
        console,
        type="http",
        config={"url": "https://shop.example.com/health?a=1&b=2"},
        tags={"team": "shop", "critical": ""},
        description=HOSTILE,
        runbookUrl="https://wiki.example.com/shop",
        group="Web & more",
    )
    await console.sign_in()

    page = await console.get(f"/monitors/{monitor}")

    head = page.text.partition('<div class="about">')[2].partition("</div>")[0]
    assert re.findall(r'href="([^"]*)"', head) == [
        "https://shop.example.com/health?a=1&amp;b=2",
        "/monitors?group=Web%20%26%20more",
        "/monitors?tag=team%3Ashop",
        "/monitors?tag=critical",
        "https://wiki.example.com/shop",
    ]
    assert HOSTILE not in head
    assert HOSTILE in unescape(head)
    for path in re.findall(r'href="(/[^"]*)"', head):
        assert monitor in (await console.get(unescape(path))).text
