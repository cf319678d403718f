"""Pages: from 1, clamped at the top, refused at the bottom, empty past the end."""

from datetime import timedelta

import pytest

from shared.ids import show
from tests.http.client import Answer, Api
from tests.http.fixtures import PUBLIC_URL
from tests.http.route_table import READS, made, unknown
from tests.http.rows import T0, incident

pytestmark = pytest.mark.shares_server

PATH = "/v1/incidents"
PATHS = [path for _, path in READS if path != "/v1/events"]  # a stream, which has no end
CHART = "/v1/monitors/{id}/stats"  # as many points as its span has
OWN_META = ("/results", "/series")  # no pages: what comes next is told by a cursor, or nothing does


async def fill(api: Api, count: int) -> list[str]:
    """The ids of new incidents, newest first; pairs of them have the same time."""
    made = []
    for number in range(count):
        started_at = T0 + timedelta(seconds=number // 2)
        id_ = await incident(api.context.db, api.team_id, started_at=started_at)
        made.append((started_at, show("inc", id_)))
    return [id_ for _, id_ in sorted(made, reverse=True)]


def ids_of(answer: Answer) -> list[str]:
    return [item["id"] for item in answer.json["data"]]


async def test_pages_together_are_the_list_newest_first(api: Api) -> None:
    made = await fill(api, 7)

    pages = [await api.get(f"{PATH}?page={number}&limit=3") for number in (1, 2, 3, 4)]

    assert [ids_of(page) for page in pages] == [made[:3], made[3:6], made[6:], []]
    assert [page.json["meta"] for page in pages] == [
        {"page": number, "limit": 3, "total": 7} for number in (1, 2, 3, 4)
    ]
    assert {page.status for page in pages} == {200}


@pytest.mark.parametrize(
    ("page", "links"),
    [
        (1, {"next": 2}),
        (2, {"next": 3, "prev": 1}),
        (3, {"prev": 2}),
        (9, {"prev": 3}),
    ],
)
async def test_links_lead_to_the_pages_beside(api: Api, page: int, links: dict[str, int]) -> None:
    await fill(api, 5)

    answer = await api.get(f"{PATH}?severity=critical&page={page}&limit=2")

    assert answer.headers["Link"] == ", ".join(
        f'<{PUBLIC_URL}{PATH}?severity=critical&page={number}&limit=2>; rel="{rel}"'
        for rel, number in links.items()
    )


async def test_a_list_of_one_page_has_no_links(api: Api) -> None:
    await fill(api, 2)

    assert "Link" not in (await api.get(PATH)).headers


@pytest.mark.parametrize(
    ("query", "meta"),
    [
        ("", {"page": 1, "limit": 20}),
        ("?limit=100", {"page": 1, "limit": 100}),
        ("?limit=101", {"page": 1, "limit": 100}),
        ("?limit=" + "9" * 5000, {"page": 1, "limit": 100}),
        ("?page=1000000000000000000&limit=100", {"page": 10**18, "limit": 100}),
        ("?page=%2B2&limit=007", {"page": 2, "limit": 7}),
    ],
)
async def test_what_is_too_large_is_clamped_and_said(api: Api, query: str, meta: dict[str, int]) -> None:
    answer = await api.get(PATH + query)

    assert answer.status == 200
    assert answer.json["meta"] == {**meta, "total": 0}


@pytest.mark.parametrize("name", ["page", "limit"])
@pytest.mark.parametrize("value", ["0", "-1", "-" + "9" * 30, "1.0", "1e1", "one", "", "1 ", "0x1", "١"])
async def test_less_than_one_or_no_integer_is_a_400(api: Api, name: str, value: str) -> None:
    answer = await api.get(PATH, params={name: value})

    assert answer.status == 400
    assert list(answer.json["details"]) == [name]


async def lists(api: Api) -> list[str]:
    """Every path that answers a list, of things that are there."""
    answers = {path: await api.get(await made(api, path)) for path in PATHS}
    found = [path for path, answer in answers.items() if answer.body.startswith(b'{"data":[')]
    found.remove(CHART)
    return found


async def test_every_list_refuses_what_is_no_limit(api: Api) -> None:
    found = await lists(api)

    answers = {path: await api.get(await made(api, path) + "?limit=0") for path in found}

    assert len(found) > 15
    assert {path: answer.status for path, answer in answers.items()} == dict.fromkeys(found, 400)
    assert {tuple(answer.json["details"]) for answer in answers.values()} == {("limit",)}


async def test_every_list_says_which_page_it_shows(api: Api) -> None:
    found = [path for path in await lists(api) if not path.endswith(OWN_META)]

    answers = {path: await api.get(await made(api, path) + "?page=99&limit=1") for path in found}

    assert {path: (answer.json["data"], answer.json["meta"]["page"]) for path, answer in answers.items()} == (
        dict.fromkeys(found, ([], 99))
    )


async def test_what_is_not_there_is_told_before_what_is_wrong_with_the_query(api: Api) -> None:
    paths = [path for path in PATHS if "{" in path]

    statuses = {path: (await api.get(unknown(path) + "?limit=0&from=x")).status for path in paths}

    assert statuses == dict.fromkeys(paths, 404)
