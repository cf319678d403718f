"""The door of a private status page: how often it may be tried, by what form, and how its cookie is kept."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from collector.platform.bucket import TeamPlan
from collector.platform.storage.db import Db
from collector.server import make, serve
from collector.status_pages.api import cache
from collector.status_pages.service.password_tries import PageTries
from shared.errors import Limited
from shared.ids import uuid7
from tests.http.client import Answer, Api
from tests.status_pages.api.test_status_pages import page
from tests.status_pages.api.test_status_pages_public import enter, visit


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each visit of these tests looks anew."""
    monkeypatch.setattr(cache, "FRESH_S", 0.0)


async def enter_from(api: Api, slug: str, address: str) -> Answer:
    return await enter(api, slug, "x", **{"X-Forwarded-For": address})


@asynccontextmanager
async def behind_a_proxy(api: Api, **changes: Any) -> AsyncIterator[Api]:
    """Another collector of the same deployment, with a proxy before it that is trusted."""
    context = replace(api.context, trusted_proxies=(ip_network("127.0.0.0/8"),), **changes)
    runner = await serve(make(context, api.features), "127.0.0.1:0")
    yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    await runner.cleanup()


async def test_tries_are_counted_by_network_and_by_all_collectors_together(api: Api) -> None:
    await page(api, slug="inner", visibility="private", password="sesame")
    await page(api, slug="other", visibility="private", password="sesame")
    async with behind_a_proxy(api) as one, behind_a_proxy(api) as two:
        seen = [
            (await enter_from(collector, "inner", f"2001:db8::{number}")).status
            for number in range(4)
            for collector in (one, two)
        ]
        elsewhere = await enter_from(two, "inner", "2001:db8:0:1::1")
        another = await enter_from(one, "other", "2001:db8::1")

    assert seen.count(403) in {5, 6}  # a collector learns of the other's tries when it next asks
    assert (seen[-1], elsewhere.status, another.status) == (429, 403, 403)


async def test_tries_of_a_page_are_limited_from_wherever_they_come(db: Db) -> None:
    tries, id_, other = PageTries(db, by_page=TeamPlan(1, 4)), uuid7(), uuid7()
    addresses = [f"192.0.2.{number}" for number in range(6)]

    with pytest.raises(Limited):
        for address in addresses:
            await tries.count(id_, address)

    await tries.count(other, addresses[-1])
    await tries.close()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"garbage"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Encoding: br\r\n\r\nx\r\n--x--\r\n"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Type: multipart/mixed\r\n\r\nx\r\n--x--\r\n"),
        ("application/x-www-form-urlencoded", b"password=\xff\xfe"),
        ("application/x-www-form-urlencoded", b"a&" * 500),
        ("application/json", b'{"password": "sesame"}'),
        ("text/plain; charset=nonsense", b"password=sesame"),
    ],
)
async def test_a_body_that_is_no_form_is_a_400(
    api: Api, caplog: pytest.LogCaptureFixture, kind: str, body: bytes
) -> None:
    await page(api, slug="inner", visibility="private", password="sesame")
    stranger = api.with_token(None)

    answer = await stranger.post("/status/inner", body, headers={"Content-Type": kind})

    assert answer.status == 400
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_a_page_is_known_to_be_https_where_a_trusted_proxy_says_so(api: Api) -> None:
    await page(api, slug="inner", visibility="private", password="sesame")
    await page(api, slug="own", domain="status.example.org")
    async with behind_a_proxy(api, public_url="http://tocsin.example.com") as here:
        for proto, secure in (("https", True), ("HTTPS, http", True), ("http", False), ("", False)):
            sent = {"X-Forwarded-Proto": proto}
            entered = await enter(here, "inner", "sesame", **sent)
            own = await visit(here, "../status.json", headers={**sent, "Host": "status.example.org"})
            refused = await here.with_token(None).get("/v1/me", headers=sent)

            assert ("Secure" in entered.headers["Set-Cookie"]) is secure
            assert ((b"https://status" in own.body), (b"http://status" in own.body)) == (secure, not secure)
            for answer in (entered, own, refused, await here.get("/v1/me", headers=sent)):
                assert ("Strict-Transport-Security" in answer.headers) is secure
    plain = {"X-Forwarded-Proto": "https"}
    runner = await serve(
        make(replace(api.context, public_url="http://tocsin.example.com"), api.features), "127.0.0.1:0"
    )
    strange = replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    assert "Strict-Transport-Security" not in (await strange.get("/v1/me", headers=plain)).headers
    await runner.cleanup()


async def test_no_page_may_use_a_visitors_devices(api: Api) -> None:
    await page(api, slug="inner", visibility="private", password="sesame")
    await page(api, slug="shown")
    stranger = api.with_token(None)

    for path in (
        "/status/shown",
        "/status/inner",
        "/status/none",
        "/subscriptions/x",
        "/sign-in",
        "/v1/docs",
    ):
        assert "camera=()" in (await stranger.get(path)).headers["Permissions-Policy"], path
