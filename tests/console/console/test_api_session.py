"""A page of our own calls the API with the visitor's session; nothing else does with a cookie alone."""

import re
from collections.abc import Mapping
from typing import Final

import pytest

from collector.platform.access import ROLES, Role
from tests.console.client import Console, served, visiting
from tests.http.client import Api

PAGE: Final = "/v1/docs?subject=monitors"
MONITOR: Final = {
    "name": "Shop",
    "type": "http",
    "locations": ["local"],
    "config": {"url": "https://example.com"},
}


async def csrf(console: Console) -> dict[str, str]:
    """The form token of the session; that of any page will do."""
    return {"X-CSRF": (await console.get("/settings/account")).csrf}


async def sent(console: Console, headers: Mapping[str, str], method: str = "POST") -> int:
    page = await console.call(
        method, "/v1/monitors", json=MONITOR if method == "POST" else None, headers=headers
    )
    return page.status


async def count(console: Console) -> int:
    total: int = (await console.api.get("/v1/monitors")).json["meta"]["total"]
    return total


async def test_a_stranger_sees_no_form_and_a_way_to_sign_in(console: Console) -> None:
    page = await console.get(PAGE)

    assert 'class="try"' not in page.text
    assert page.csrf == ""
    assert 'href="/sign-in?next=%2Fv1%2Fdocs%3Fsubject%3Dmonitors"' in page.text


async def test_every_operation_that_takes_a_token_has_a_form_for_users(console: Console) -> None:
    await console.sign_in()
    index = await console.get("/v1/docs")
    pages = [
        await console.get(f"/v1/docs?subject={subject}")
        for subject in set(re.findall(r"subject=([\w-]+)", index.text))
    ]

    text = "".join(page.text for page in pages)
    assert max(len(page.text.encode()) for page in pages) <= 150_000
    articles = re.findall(r"<article .*?</article>", text, re.DOTALL)
    for article in articles:
        by_token = "Needs a token" in article
        assert article.count('<details class="try"') == by_token, article[:200]
    assert len(articles) > 100
    assert {page.headers["Cache-Control"] for page in pages} == {"no-store"}


async def test_a_page_reads_and_changes_as_the_visitor(console: Console) -> None:
    user = await console.person("editor")
    await console.sign_in(user)
    own = await csrf(console)

    me = await console.get("/v1/me", headers=own)
    made = await sent(console, {**own, "Origin": console.url})

    assert (me.status, f"The {user.role}" in me.text) == (200, True)
    assert (made, await count(console)) == (201, 1)
    entry = (await console.api.get("/v1/audit-log")).json["data"][0]
    assert entry["action"] == "create"
    assert (entry["actor"]["name"], entry["actor"]["tokenId"]) == (user.name, None)


@pytest.mark.parametrize("role", ["viewer", "editor"])
async def test_what_the_role_may_not_do_is_refused_and_shown_so(console: Console, role: Role) -> None:
    await console.sign_in(await console.person(role))
    page, access = await console.get(PAGE), await console.get("/v1/docs?subject=access")
    own = {"X-CSRF": page.csrf, "Origin": console.url}

    refused = await console.post("/v1/users", headers={"X-CSRF": page.csrf})

    assert refused.status == 403
    assert f"Your role is {ROLES[role].value}; this needs admin" in refused.text
    warning = "the answer will be 403"
    assert warning in access.text
    assert (warning in page.text) is (role == "viewer")
    assert await sent(console, own) == (403 if role == "viewer" else 201)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-CSRF": ""},
        {"X-CSRF": "00.00"},
        {"X-CSRF": "ü"},
        {"Origin": "https://evil.example.com"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Authorization": "Bearer nonsense-nonsense"},
        {"Authorization": ""},
    ],
    ids=str,
)
async def test_requests_of_other_sites_are_refused(console: Console, headers: dict[str, str]) -> None:
    await console.sign_in()
    own = {**await csrf(console), "Origin": console.url}
    if not headers:
        del own["X-CSRF"]

    assert await sent(console, {**own, **headers}) == 401
    assert await count(console) == 0
    assert await sent(console, {**own, **headers}, "GET") == 401


async def test_a_change_names_its_origin(console: Console) -> None:
    await console.sign_in()

    assert await sent(console, await csrf(console)) == 401


async def test_an_origin_that_may_call_with_tokens_may_not_use_sessions(api: Api) -> None:
    partner = "https://partner.example.com"
    async with served(api, cors_origins=frozenset({partner})) as url, visiting(url, api) as console:
        await console.sign_in()
        own = {**await csrf(console), "Origin": partner}
        asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-csrf"}

        preflight = await console.call("OPTIONS", "/v1/monitors", headers={"Origin": partner, **asked})

        assert "x-csrf" not in preflight.headers["Access-Control-Allow-Headers"].lower()
        assert "Access-Control-Allow-Credentials" not in preflight.headers
        assert await sent(console, own) == 401


async def test_another_sessions_form_token_is_refused(console: Console, api: Api) -> None:
    await console.sign_in()
    async with visiting(console.url, api) as other:
        await other.sign_in()
        stolen = await csrf(other)

    assert await sent(console, {**stolen, "Origin": console.url}) == 401


async def test_an_ended_session_is_refused_and_sees_no_forms(console: Console) -> None:
    await console.sign_in()
    own = await csrf(console)
    cookies = console.cookies
    await console.post("/sign-out")
    kept = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}

    assert (await console.get("/v1/me", headers={**own, **kept})).status == 401
    assert 'class="try"' not in (await console.get(PAGE, headers=kept)).text


async def test_without_the_required_second_factor_nothing_is_called(console: Console) -> None:
    await console.sign_in()
    own = await csrf(console)
    async with console.api.context.db.transaction() as tx:
        await tx.execute("UPDATE teams SET two_factor_required = true")

    assert (await console.get("/v1/me", headers=own)).status == 403
    assert 'class="try"' not in (await console.get(PAGE)).text


async def test_a_session_opened_with_a_token_has_no_more_than_its_permission(console: Console) -> None:
    reader = await console.api.reader()
    await console.post("/sign-in", {"token": reader.token})
    own = await csrf(console)

    assert (await console.get("/v1/me", headers=own)).status == 200
    assert await sent(console, {**own, "Origin": console.url}) == 403


async def test_an_idempotency_key_of_a_session_replays_its_answer(console: Console) -> None:
    await console.sign_in()
    own = {**await csrf(console), "Origin": console.url, "Idempotency-Key": "once"}

    assert [await sent(console, own), await sent(console, own)] == [201, 201]
    assert await count(console) == 1
