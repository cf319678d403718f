"""A private page opens for its networks and for people of its sign-in provider, and for nobody else."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from joserfc import jwk

from collector.platform.transport import Transport
from collector.server import make, serve
from collector.status_pages.api import cache
from tests.accounts.openid_provider import CLIENT_ID, CLIENT_SECRET, Idp, provider
from tests.http.client import Answer, Api
from tests.status_pages.api.test_private_pages import behind_a_proxy
from tests.status_pages.api.test_status_pages import page
from tests.status_pages.api.test_status_pages_public import visit

HOME = "/status/inner"
STRANGE = jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each visit of these tests looks anew."""
    monkeypatch.setattr(cache, "FRESH_S", 0.0)


@pytest.fixture
async def api(api: Api) -> AsyncIterator[Api]:
    """A deployment without TLS, as these browsers come by http."""
    context = replace(api.context, public_url="http://tocsin.example.com")
    runner = await serve(make(context, api.features), "127.0.0.1:0")
    yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}", context=context)
    await runner.cleanup()


@pytest.fixture
async def idp() -> AsyncIterator[Idp]:
    async with provider() as known:
        yield known


@pytest.fixture
async def private(api: Api, idp: Idp) -> dict[str, Any]:
    """A private page at the provider; what its access is."""
    made = await page(api, slug="inner", visibility="private")
    return await configured(api, idp, made["id"])


async def configured(api: Api, idp: Idp, page_id: str) -> dict[str, Any]:
    answer = await api.put(
        f"/v1/status-pages/{page_id}/access",
        {
            "issuer": idp.url,
            "clientId": CLIENT_ID,
            "clientSecret": CLIENT_SECRET,
            "emailDomains": ["Example.com"],
        },
    )
    assert answer.status == 200, answer.json
    known: dict[str, Any] = answer.json
    return {**known, "page": page_id}


class Visitor:
    """A browser; its cookies are kept."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url = url
        self.session = session

    async def get(self, path: str) -> tuple[int, str, str]:
        """Return status, Location and text of the answer."""
        async with self.session.get(self.url + path, allow_redirects=False) as answer:
            return answer.status, answer.headers.get("Location", ""), await answer.text()

    async def begin(self, home: str = HOME) -> str:
        status, location, _ = await self.get(f"{home}/sign-in")
        assert status == 303
        return location

    async def come_back(self, query: dict[str, str], home: str = HOME) -> int:
        return (await self.get(f"{home}/sign-in/back?{urlencode(query)}"))[0]

    async def sign_in(self, idp: Idp) -> int:
        return await self.come_back(idp.approve(await self.begin()))


@pytest.fixture
async def visitor(api: Api) -> AsyncIterator[Visitor]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield Visitor(api.url, session)


@pytest.mark.oldest
async def test_who_has_an_address_of_the_domain_enters(
    visitor: Visitor, idp: Idp, private: dict[str, Any]
) -> None:
    idp.email = "Somebody@EXAMPLE.com"
    status, _, form = await visitor.get(HOME)
    assert status == 401
    assert f'href="{HOME}/sign-in"' in form
    assert 'type="password"' not in form
    assert private["redirectUris"] == [f"http://tocsin.example.com{HOME}/sign-in/back"]

    assert await visitor.sign_in(idp) == 303

    assert (await visitor.get(HOME))[0] == 200
    assert (await visitor.get(f"{HOME}.json"))[0] == 200


@pytest.mark.parametrize("email", ["a@other.example.com", "a@example.com.evil.test", "example.com", "a@b@c"])
@pytest.mark.usefixtures("private")
async def test_other_addresses_stay_out(visitor: Visitor, idp: Idp, email: str) -> None:
    idp.email = email

    assert await visitor.sign_in(idp) == 403
    assert (await visitor.get(HOME))[0] == 401


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param({"iss": "https://evil.example.com"}, id="issuer"),
        pytest.param({"aud": "someone else"}, id="audience"),
        pytest.param({"nonce": "another"}, id="nonce"),
        pytest.param({"nonce": None}, id="no nonce"),
        pytest.param({"exp": 1}, id="expired"),
        pytest.param({"email_verified": False}, id="not verified"),
    ],
)
@pytest.mark.usefixtures("private")
async def test_a_token_about_something_else_is_refused(
    visitor: Visitor, idp: Idp, claims: dict[str, Any]
) -> None:
    idp.claims = claims

    assert await visitor.sign_in(idp) == 403
    assert (await visitor.get(HOME))[0] == 401


@pytest.mark.parametrize("how", ["another key", "none", "HS256"])
@pytest.mark.usefixtures("private")
async def test_a_token_that_the_provider_did_not_sign_is_refused(
    visitor: Visitor, idp: Idp, how: str
) -> None:
    if how == "another key":
        idp.signer = STRANGE
    else:
        idp.algorithm, idp.signer = how, jwk.OctKey.import_key(CLIENT_SECRET * 16)

    assert await visitor.sign_in(idp) == 403
    assert (await visitor.get(HOME))[0] == 401


@pytest.mark.usefixtures("private")
async def test_an_answer_counts_once_and_in_its_own_browser(visitor: Visitor, idp: Idp, api: Api) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        theirs = idp.approve(await Visitor(api.url, session).begin())
    assert await visitor.come_back(theirs) == 403
    await visitor.begin()
    assert await visitor.come_back(theirs) == 403
    query = idp.approve(await visitor.begin())
    assert await visitor.come_back(query) == 303

    visitor.session.cookie_jar.clear(lambda cookie: cookie.key == "tocsin_page")

    assert await visitor.come_back(query) == 403
    assert (await visitor.get(HOME))[0] == 401


@pytest.mark.usefixtures("private")
async def test_a_sign_in_to_another_page_does_not_count(visitor: Visitor, idp: Idp, api: Api) -> None:
    other = await page(api, slug="other", visibility="private")
    await configured(api, idp, other["id"])

    query = idp.approve(await visitor.begin("/status/other"))

    assert await visitor.come_back(query, HOME) == 403
    assert (await visitor.get(HOME))[0] == 401


async def test_a_change_of_the_domains_ends_what_was_entered(
    visitor: Visitor, idp: Idp, private: dict[str, Any], api: Api
) -> None:
    await visitor.sign_in(idp)
    path = f"/v1/status-pages/{private['page']}/access"

    assert (await api.put(path, {"emailDomains": ["example.net"]})).json["clientSecretSet"] is True

    assert (await visitor.get(HOME))[0] == 401


async def test_the_secret_is_never_shown_and_goes_with_its_issuer(private: dict[str, Any], api: Api) -> None:
    path = f"/v1/status-pages/{private['page']}/access"
    assert CLIENT_SECRET not in str((await api.get(path)).json)
    sealed = "SELECT sealed_secret FROM status_page_access"
    async with api.context.db.connection() as tx:
        assert CLIENT_SECRET.encode() not in await tx.fetchval(sealed)

    moved = await api.put(path, {"issuer": "https://id.example.net"})
    assert moved.json["details"] == {"clientSecret": "is required with a new issuer"}
    gone = (await api.put(path, {"issuer": None})).json

    assert (gone["clientSecretSet"], gone["clientId"], gone["emailDomains"]) == (False, None, [])
    assert (await visit(api, "inner/sign-in")).status == 303


async def test_every_bad_setting_is_reported(api: Api) -> None:
    made = await page(api)

    answer = await api.put(
        f"/v1/status-pages/{made['id']}/access",
        {"networks": ["192.0.2.1/24", "all"], "issuer": "https://id.example.com", "emailDomains": ["@x"]},
    )

    assert answer.status == 400
    assert {"networks[0]", "networks[1]", "emailDomains[0]"} <= answer.json["details"].keys()


@pytest.mark.parametrize(
    ("address", "status"),
    [
        pytest.param("192.0.2.7", 200, id="of the network"),
        pytest.param("::ffff:192.0.2.7", 200, id="mapped into IPv6"),
        pytest.param("192.0.3.7", 401, id="another"),
        pytest.param("2001:db8:1::1", 200, id="IPv6"),
        pytest.param("2001:db9::1", 401, id="another of IPv6"),
    ],
)
async def test_a_network_needs_no_password(api: Api, address: str, status: int) -> None:
    made = await page(api, slug="inner", visibility="private", password="sesame")
    networks = ["192.0.2.0/24", "2001:db8::/32"]
    assert (await api.put(f"/v1/status-pages/{made['id']}/access", {"networks": networks})).status == 200

    async with behind_a_proxy(api) as there:
        answer: Answer = await visit(there, "inner", headers={"X-Forwarded-For": address})

    assert answer.status == status


@pytest.mark.usefixtures("private")
async def test_a_provider_at_a_private_address_is_not_asked_where_forbidden(api: Api, idp: Idp) -> None:
    transport = Transport(allow_private=False)
    runner = await serve(make(replace(api.context, transport=transport), api.features), "127.0.0.1:0")
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"

    async with aiohttp.ClientSession() as session:
        status, _, text = await Visitor(url, session).get(f"{HOME}/sign-in")

    await runner.cleanup()
    await transport.close()
    assert status == 503
    assert idp.url not in text
