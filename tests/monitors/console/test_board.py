"""The console's list of monitors: sorted, counted, searched, with the latest checks of each."""

import re
from datetime import timedelta

import pytest

from shared.clock import utc_now
from tests.console.client import Console, Page
from tests.http.client import Api
from tests.http.rows import insert
from tests.monitors.monitors import location, make, number, result

pytestmark = [pytest.mark.oldest, pytest.mark.shares_server]


def names(page: Page) -> list[str]:
    return re.findall(r'class="name" dir="auto" href="/monitors/mon_[^"]*">([^<]*)<', page.text)


def counters(page: Page) -> dict[str, int]:
    """The counters by their words."""
    bar = page.text.partition('class="state-counters"')[2].partition("</nav>")[0]
    found = re.findall(r"<a [^>]*>(.*?) <b>([\d,]+)</b></a>", bar)
    return {re.sub(r"<[^>]*>", "", words): int(count) for words, count in found}


async def measured(api: Api, id_: str, *, ms: int = 20, down: bool = False, error: str = "") -> int:
    """Let a monitor have a latest check; return its number."""
    monitor, now = await number(api, id_), utc_now()
    where = await location(api, "local")
    async with api.context.db.transaction() as tx:
        if down:
            await tx.execute("UPDATE monitors SET down = true WHERE monitor = $1", monitor)
        code = (
            await tx.fetchval("INSERT INTO errors (text) VALUES ($1) RETURNING error", error)
            if error
            else None
        )
        await tx.execute("DELETE FROM states WHERE monitor = $1", monitor)
    row = {"monitor": monitor, "location": where, "turn": 0, "revision": 1, "last_at": now, "last_ms": ms}
    await insert(
        api.context.db,
        "states",
        {**row, "last_status": 2 if down else 1, "last_error": code, "failing": down},
    )
    return monitor


async def test_what_is_down_is_first_with_its_error_and_each_state_is_counted(console: Console) -> None:
    api = console.api
    for name in ("alpha", "gamma"):
        await measured(api, await make(api, name=name))
    await measured(api, await make(api, name="zulu"), down=True, error="connect: connection refused")
    await api.post(f"/v1/monitors/{await make(api, name='beta')}/pause")
    await make(api, name="delta")
    await console.sign_in()

    page = await console.get("/monitors")

    assert names(page) == ["zulu", "delta", "alpha", "gamma", "beta"]
    assert "connect: connection refused" in page.words
    assert counters(page) == {"All": 5, "down": 1, "no result yet": 1, "up": 2, "paused": 1}
    down = await console.get("/monitors?status=down")
    assert names(down) == ["zulu"]
    assert counters(down) == counters(page)


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("name", ["a", "b", "c"]),
        ("-name", ["c", "b", "a"]),
        ("response", ["b", "c", "a"]),
        ("-response", ["c", "b", "a"]),
        ("type", ["b", "c", "a"]),
        ("checked", ["c", "b", "a"]),
        ("group", ["c", "a", "b"]),
        ("nonsense", ["a", "b", "c"]),
    ],
)
async def test_a_column_sorts_and_says_so(console: Console, sort: str, order: list[str]) -> None:
    api = console.api
    await make(api, name="a", type="tcp", config={"host": "192.0.2.1", "port": 1})
    later = await measured(api, await make(api, name="b"), ms=10)
    await measured(api, await make(api, name="c", group="shop"), ms=500)
    async with api.context.db.transaction() as tx:
        await tx.execute("UPDATE states SET last_at = last_at + interval '1 h' WHERE monitor = $1", later)
    await console.sign_in()

    page = await console.get(f"/monitors?sort={sort}")

    assert names(page) == order
    said = dict(re.findall(r'aria-sort="(\w+)"><a href="[^"]*sort=-?(\w+)', page.text))
    if sort in {"name", "-name"}:
        assert said["descending" if sort == "-name" else "ascending"] == "name"


async def test_groups_fold_and_count_their_monitors(console: Console) -> None:
    api = console.api
    await measured(api, await make(api, name="till", group="Shop"), down=True)
    await make(api, name="cart", group="Shop")
    await make(api, name="lone")
    await console.sign_in()

    page = await console.get("/monitors?sort=group")

    summaries = re.findall(r'<details class="fold"[^>]*><summary>(.*?)</summary>', page.text)
    assert [re.sub(r"<[^>]*>", "", each) for each in summaries] == [
        "Shop 2 monitors, 1 down",
        "No group 1 monitor",
    ]


async def test_the_latest_checks_are_drawn_from_the_first_on(console: Console) -> None:
    api = console.api
    id_ = await make(api)
    monitor, now = await measured(api, id_, error="the latest is bad"), utc_now()
    for at in range(40):
        await result(api, monitor, now - timedelta(minutes=at), ms=20 + at, status=2 if at == 3 else 1)
    await measured(api, await make(api, name="fresh"))
    await console.sign_in()

    page = await console.get("/monitors")

    assert page.text.count("<rect") == 30
    assert page.text.count('<rect class="bad"') == 1
    assert 'aria-label="1 of the last 30 checks failed"' in page.text
    assert 'aria-label="No checks yet"' in page.text
    assert re.search(r"<title>[^<]* UTC, local: up, 20 ms</title>", page.text)


async def test_a_target_of_every_kind_is_shown_and_found(console: Console) -> None:
    api = console.api
    await make(api, name="site", config={"url": "https://shop.example.com/health"})
    await make(api, name="store", type="tcp", config={"host": "db.example.com", "port": 5432})
    await make(api, name="seal", type="tls", config={"domain": "secure.example.com"})
    await make(api, name="tagged", tags={"team": "100%_sure"})
    await console.sign_in()

    page = await console.get("/monitors")

    for target in ("https://shop.example.com/health", "db.example.com:5432", "secure.example.com"):
        assert target in page.words
    for text, found in {
        "/health": "site",
        "DB.example": "store",
        "secure.": "seal",
        "100%25_s": "tagged",
    }.items():
        assert names(await console.get(f"/monitors?q={text}")) == [found]
    assert '<option value="team:100%_sure">' in page.text


async def test_all_that_match_are_changed_beyond_the_page(console: Console) -> None:
    api = console.api
    for at in range(55):
        await make(api, name=f"shop {at}")
    other = await make(api, name="other", config={"url": "https://example.com/"})
    await console.sign_in()
    await console.get("/monitors?q=shop")

    page = await console.post("/monitors/bulk", {"all": "on", "action": "pause", "query": "q=shop"})

    assert "55 of 55 changed." in page.words
    assert (await api.get(f"/v1/monitors/{other}")).json["status"] == "up"
    assert counters(page) == {"All": 55, "paused": 55}
