"""The console's incidents: open ones come first, and each action is the API's."""

import re
from html import unescape

import pytest

from tests.console.client import Console, Page
from tests.monitors.api.test_monitor_ends import ARRIVED, DOWN, happened, hook
from tests.test_followers import goes_down

pytestmark = pytest.mark.shares_server

HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"


async def raised(console: Console, **fields: object) -> str:
    answer = await console.api.post("/v1/incidents", {"title": "It is slow", **fields})
    assert answer.status == 201, answer.json
    return str(answer.json["id"])


def titles(page: Page) -> list[str]:
    return re.findall(r'class="name" dir="auto" href="/incidents/inc_[^"]*">([^<]*)<', page.text)


async def status(console: Console, id_: str) -> str:
    return str((await console.api.get(f"/v1/incidents/{id_}")).json["status"])


async def test_what_is_not_over_stands_first(console: Console) -> None:
    await raised(console, title="old and open")
    done = await raised(console, title="new and over")
    await console.api.post(f"/v1/incidents/{done}/resolve", {})
    await console.sign_in()

    assert titles(await console.get("/incidents")) == ["old and open", "new and over"]
    assert titles(await console.get("/incidents?status=resolved")) == ["new and over"]
    assert titles(await console.get("/incidents?severity=critical")) == []


async def test_an_incident_goes_its_way(console: Console) -> None:
    await console.sign_in()
    await console.get("/incidents/new")
    page = await console.post(
        "/incidents", {"title": "Checkout is slow", "severity": "high", "description": ""}
    )
    assert "Incident created." in page.words
    here = page.path
    id_ = here.rpartition("/")[2]

    assert "Acknowledged" in (await console.post(f"{here}/acknowledge")).words
    assert await status(console, id_) == "acknowledged"
    page = await console.post(f"{here}/notes", {"note": "A disk is full."})
    assert page.words.count("A disk is full.") == 1
    assert "note added A disk is full." in page.words
    page = await console.post(f"{here}/notes", {"note": "  "})
    assert page.status == 400
    page = await console.post(f"{here}/resolve", {"note": "We made room."})
    assert "We made room." in page.words
    assert await status(console, id_) == "resolved"
    await console.post(f"{here}/reopen", {"note": "Not quite."})
    assert await status(console, id_) == "open"
    answer = await console.get(f"{here}/postmortem")
    assert answer.headers["Content-Type"].startswith("text/markdown")
    assert "Checkout is slow" in answer.text


async def test_what_is_wrong_with_a_new_one_stands_at_its_field(console: Console) -> None:
    await console.sign_in()
    await console.get("/incidents/new")

    page = await console.post("/incidents", {"title": " ", "severity": "high"})

    assert page.status == 400
    assert 'aria-invalid="true"' in page.text


@pytest.mark.parametrize("group", ["day", "week", "month", "nonsense"])
async def test_numbers_over_time(console: Console, group: str) -> None:
    await raised(console, severity="high")
    await console.sign_in()

    page = await console.get(f"/incidents/stats?by={group}")

    assert page.status == 200
    assert "1 since" in page.words


async def test_nothing_that_is_said_of_an_incident_becomes_markup(console: Console) -> None:
    id_ = await raised(console, title=HOSTILE, description=HOSTILE)
    await console.api.post(f"/v1/incidents/{id_}/notes", {"text": HOSTILE})
    await console.api.post(f"/v1/incidents/{id_}/resolve", {"resolutionNote": HOSTILE})
    await console.sign_in()

    for path in ("/incidents", f"/incidents/{id_}"):
        page = await console.get(path)
        assert page.status == 200
        assert "<img" not in page.text
        assert "'49" not in unescape(page.text)


async def test_a_viewer_sees_all_and_does_nothing(console: Console) -> None:
    id_ = await raised(console)
    await console.sign_in(await console.person("viewer"))

    page = await console.get(f"/incidents/{id_}")

    assert page.status == 200
    assert 'method="post" action="/incidents' not in page.text
    assert (await console.get("/incidents/new")).status == 403


async def test_the_timeline_begins_with_the_oldest_line_or_the_newest(console: Console) -> None:
    id_ = await raised(console)
    await console.api.post(f"/v1/incidents/{id_}/acknowledge", {})
    await console.api.post(f"/v1/incidents/{id_}/resolve", {})
    await console.sign_in()

    def lines(page: Page) -> list[str]:
        return re.findall(r'<li class="\w*"><span><b>([^<]*)</b>', page.text)

    oldest = lines(await console.get(f"/incidents/{id_}"))
    assert oldest == ["created", "acknowledged", "resolved"]
    assert lines(await console.get(f"/incidents/{id_}?order=newest")) == oldest[::-1]


@pytest.mark.own_server
async def test_the_timeline_shows_notifications_with_their_channels_at_their_time(console: Console) -> None:
    api = console.api
    shop = {"name": "Shop", "type": "http", "config": {"url": "https://shop.example.com/"}}
    monitor = str((await api.post("/v1/monitors", shop)).json["id"])
    incident = await goes_down(api, monitor)
    await happened(api, monitor, DOWN, await hook(api), **ARRIVED)
    await api.post(f"/v1/incidents/{incident}/acknowledge")
    await console.sign_in()

    oldest = (await console.get(f"/incidents/{incident}")).words
    newest = (await console.get(f"/incidents/{incident}?order=newest")).words

    sent, taken = "sent: monitor down", "acknowledged Acknowledged by"
    assert ": delivered" in oldest[oldest.index(sent) : oldest.index(taken)]
    assert oldest.index(sent) < oldest.index(taken)
    assert newest.index(taken) < newest.index(sent)


async def test_the_severity_is_changed_in_place(console: Console) -> None:
    id_ = await raised(console, severity="low")
    await console.sign_in()
    await console.get(f"/incidents/{id_}")

    page = await console.post(f"/incidents/{id_}/severity", {"severity": "critical"})

    assert "severity changed low to critical" in page.words
    assert (await console.api.get(f"/v1/incidents/{id_}")).json["severity"] == "critical"
    assert (await console.post(f"/incidents/{id_}/severity", {"severity": "huge"})).status == 400


async def test_statistics_use_the_words_of_the_trade_and_no_number_that_nothing_was_measured_for(
    console: Console,
) -> None:
    await console.sign_in()
    assert "– MTTA Mean time to acknowledge" in (await console.get("/incidents/stats")).words
    first = await raised(console)
    await console.api.post(f"/v1/incidents/{first}/acknowledge")
    await console.api.post(f"/v1/incidents/{first}/resolve")

    page = await console.get("/incidents/stats")

    for name in ("MTTA", "MTTR"):
        assert re.search(rf"\d+ s {name} Mean", page.words), name
    assert "– MTBF Mean time between failures" in page.words
    await raised(console)
    assert re.search(r"\d+ s MTBF", (await console.get("/incidents/stats")).words)
    assert re.search(r"<title>\d\d \w{3}: 2</title>", (await console.get("/incidents/stats")).text)
