"""The wall: what it shows, and that its link opens one team's wall and nothing else, until it is ended."""

import re
from datetime import timedelta

import pytest

from collector.overview.service import wall_links
from tests.console.client import Console, Page, served, visiting
from tests.console.fixtures import PUBLIC_URL
from tests.http.client import Api
from tests.world import everything_happened

pytestmark = pytest.mark.shares_server

LINK = re.compile(r"/wall/([\w-]{43})")


async def made(console: Console, **fields: str) -> Page:
    """A link, made as people make one."""
    await console.get("/settings/walls")
    return await console.post("/settings/walls", {"name": "Lobby", "expiresIn": "never", **fields})


def secret_of(page: Page) -> str:
    match = LINK.search(page.text)
    assert match, page.words
    return match[1]


async def test_a_link_is_shown_once_and_works_without_a_session(console: Console, api: Api) -> None:
    await console.sign_in(await console.person("editor"))
    secret = secret_of(await made(console))

    again = await console.get("/settings/walls")
    async with visiting(console.url, api) as screen:
        page = await screen.get(f"/wall/{secret}")
        elsewhere = await screen.get("/monitors", allow_redirects=False)

    assert secret not in again.text
    assert "Lobby" in again.words
    assert page.status == 200
    assert "No monitors yet" in page.words
    assert "<form" not in page.text
    assert "<button" not in page.text
    assert "Set-Cookie" not in page.headers
    assert elsewhere.status == 303
    async with api.context.db.connection() as tx:
        stored = await tx.fetchrow("SELECT * FROM wall_links")
    assert secret not in str(dict(stored or {}))


@pytest.mark.oldest
async def test_an_ended_link_shows_nothing_and_is_recorded(console: Console, api: Api) -> None:
    await console.sign_in()
    secret = secret_of(await made(console))
    listed = await console.get("/settings/walls")
    id_ = re.search(r"/settings/walls/(wall_\w+)/end", listed.text)
    assert id_
    assert "Link ended" in (await console.post(f"/settings/walls/{id_[1]}/end")).words

    async with visiting(console.url, api) as screen:
        page = await screen.get(f"/wall/{secret}")
        part = await screen.get(f"/wall/{secret}", headers={"X-Part": "wall"})

    assert (page.status, part.status) == (404, 404)
    assert "This link has ended" in page.words
    log = await api.get("/v1/audit-log?limit=10")
    assert [(item["action"], item["resource"]["type"]) for item in log.json["data"]][:2] == [
        ("delete", "wall-link"), ("create", "wall-link"),
    ]  # fmt: skip


@pytest.mark.oldest
async def test_a_link_expires_when_it_was_said_to(console: Console, api: Api) -> None:
    await console.sign_in()
    secret = secret_of(await made(console, expiresIn="30d"))
    assert (await console.get(f"/wall/{secret}")).status == 200

    api.clock.ahead += timedelta(days=30)
    async with visiting(console.url, api) as screen:
        assert (await screen.get(f"/wall/{secret}")).status == 404


async def test_it_is_of_one_team(console: Console, api: Api) -> None:
    for team, name in ((api, "Ours"), (await api.other_team(), "Theirs")):
        body = {"name": name, "group": name, "type": "tcp", "config": {"host": "192.0.2.1", "port": 443}}
        assert (await team.post("/v1/monitors", body)).status == 201
    await console.sign_in()
    secret = secret_of(await made(console))
    theirs = await console.person("admin", team_id=(await api.other_team("Third")).team_id)

    async with visiting(console.url, api) as screen:
        page = await screen.get(f"/wall/{secret}")
    async with visiting(console.url, api) as other:
        await other.sign_in(theirs)
        listed = await other.get("/settings/walls")

    assert "Ours" in page.words
    assert "Theirs" not in page.words
    assert "Lobby" not in listed.words


async def test_a_viewer_sees_the_wall_and_its_links_and_makes_none(console: Console) -> None:
    await console.sign_in(await console.person("viewer"))

    assert (await console.get("/wall")).status == 200
    assert "New link" not in (await console.get("/settings/walls")).words
    assert (await made(console)).status == 403


@pytest.mark.parametrize("fields", [{"name": " "}, {"name": "x" * 256}, {"expiresIn": "2y"}])
async def test_a_bad_request_makes_no_link(console: Console, fields: dict[str, str]) -> None:
    await console.sign_in()

    page = await made(console, **fields)

    assert page.status == 400
    assert not LINK.search(page.text)


async def test_a_team_has_a_bounded_number_of_links(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wall_links, "MOST", 1)
    await console.sign_in()
    secret_of(await made(console))

    page = await made(console)

    assert page.status == 409
    assert "1 wall links at most" in page.words


@pytest.mark.slow
async def test_it_shows_what_is_wrong_since_when_and_everything_else(api: Api) -> None:
    async with (
        everything_happened(api) as here,
        served(here.api, public_url=PUBLIC_URL) as url,
        visiting(url, here.api) as screen,
    ):
        monitors = (await here.api.get("/v1/monitors?limit=100")).json["data"]
        down = [monitor["name"] for monitor in monitors if monitor["status"] == "down"]

        page = await screen.get(f"/wall/{here.links['wall']}")
        part = await screen.get(f"/wall/{here.links['wall']}", headers={"X-Part": "wall"})

    assert f"<title>({len(down)}) Wall · Tocsin</title>" in page.text
    assert f"{len(down)} monitors are down" in page.words
    assert all(name in page.words for name in down)
    assert len(re.findall(r'class="tile \w+"', page.text)) == len(monitors)
    assert "connect: refused" in page.words
    assert re.search(r"down \d+ (s|min)", page.words)
    assert page.text.count("bell-bad.svg") == 2
    assert "<html" not in part.text
    assert "Needs attention" in part.words
