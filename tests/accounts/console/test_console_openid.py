"""Sign-in by an OpenID Connect provider: which claims are trusted, and which users may enter."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from joserfc import jwk

from collector.accounts.service import openid, users
from collector.accounts.service.openid import Client, Provider
from collector.platform.access import Actor
from shared import ids
from shared.errors import BadSettings, Unavailable
from shared.settings import CollectorSettings, load
from tests.accounts.openid_provider import CLIENT_ID, CLIENT_SECRET, Idp, provider
from tests.console.client import Console, Page, served, visiting
from tests.console.fixtures import PUBLIC_URL
from tests.http.client import Api
from tests.probe.net.nameserver import NXDOMAIN, name_server

pytestmark = pytest.mark.races


@pytest.fixture
async def idp() -> AsyncIterator[Idp]:
    async with provider() as one:
        yield one


@pytest.fixture
async def console(api: Api, idp: Idp) -> AsyncIterator[Console]:
    client = Provider(
        Client(idp.url, CLIENT_ID, CLIENT_SECRET, "Example ID"), f"{PUBLIC_URL}/sign-in/oidc/callback"
    )
    try:
        async with (
            served(api, public_url=PUBLIC_URL, openid=client) as url,
            visiting(url, api) as browser,
        ):
            yield browser
    finally:
        await client.close()


async def begin(console: Console, path: str = "/sign-in/oidc") -> str:
    """Where the browser is sent."""
    answer = await console.get(path, allow_redirects=False)
    assert answer.status == 303, answer.words
    return answer.headers["Location"]


async def come_back(console: Console, query: dict[str, str]) -> Page:
    return await console.get(f"/sign-in/oidc/callback?{urlencode(query)}")


async def sign_in(console: Console, idp: Idp, path: str = "/sign-in/oidc") -> Page:
    return await come_back(console, idp.approve(await begin(console, path)))


async def test_somebody_of_the_team_comes_in_and_goes_on_to_where_they_were(
    console: Console, idp: Idp
) -> None:
    await console.person("editor", idp.email)
    assert "Continue with Example ID" in (await console.get("/sign-in")).words

    page = await sign_in(console, idp, "/sign-in/oidc?next=%2Fsettings%2Faccount")

    assert (page.status, page.path) == (200, "/settings/account")
    assert idp.email in page.words


async def test_an_address_in_other_letters_is_the_same(console: Console, idp: Idp) -> None:
    await console.person("viewer", idp.email)
    idp.email = idp.email.upper()

    assert (await sign_in(console, idp)).path == "/"


@pytest.mark.oldest
async def test_an_invitation_is_taken_up_by_coming_in(console: Console, idp: Idp) -> None:
    admin = await console.person("admin")
    details = await users.invite(
        console.api.context.db,
        Actor(admin.team_id, None, "Admin"),
        {"email": idp.email, "role": "viewer"},
        console.api.clock(),
    )

    assert (await sign_in(console, idp)).path == "/"

    assert (await users.one(console.api.context.db, admin.team_id, details.user.id)).invited_until is None
    assert (await console.get(f"/invitations/{details.secret}")).status == 404


async def test_an_invitation_that_is_over_lets_nobody_in(console: Console, idp: Idp) -> None:
    admin = await console.person("admin")
    past = console.api.clock() - timedelta(days=8)
    await users.invite(
        console.api.context.db,
        Actor(admin.team_id, None, "Admin"),
        {"email": idp.email, "role": "admin"},
        past,
    )

    page = await sign_in(console, idp)

    assert page.status == 403
    assert "No user here has the address" in page.words


async def test_a_stranger_is_not_let_in(console: Console, idp: Idp) -> None:
    page = await sign_in(console, idp)

    assert page.status == 403
    assert (await console.get("/")).path == "/sign-in"


STRANGE = jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        pytest.param({"iss": "https://evil.example.com"}, "another issuer", id="issuer"),
        pytest.param({"aud": "someone else"}, "for somebody else", id="audience"),
        pytest.param({"aud": [CLIENT_ID, "another"]}, "for somebody else", id="many audiences, no azp"),
        pytest.param({"azp": "another"}, "for somebody else", id="another party"),
        pytest.param({"nonce": "another"}, "another sign-in", id="nonce"),
        pytest.param({"nonce": None}, "another sign-in", id="no nonce"),
        pytest.param({"exp": 1}, "is over", id="expired"),
        pytest.param({"exp": None}, "is over", id="no end"),
        pytest.param({"exp": "soon"}, "is over", id="odd end"),
        pytest.param({"iat": 1}, "another time", id="old"),
        pytest.param({"iat": 9_999_999_999}, "another time", id="from the future"),
        pytest.param({"sub": ""}, "names nobody", id="nobody"),
        pytest.param({"email_verified": False}, "not verified", id="not verified"),
        pytest.param({"email_verified": None}, "not verified", id="verified unknown"),
        pytest.param({"email_verified": 1}, "not verified", id="odd verified"),
        pytest.param({"email": ["a@example.com"]}, "no email address", id="odd address"),
    ],
)
async def test_what_a_token_must_say(console: Console, idp: Idp, claims: dict[str, Any], said: str) -> None:
    await console.person("admin", idp.email)
    idp.claims = claims

    page = await sign_in(console, idp)

    assert page.status == 403
    assert said in page.words
    assert (await console.get("/")).path == "/sign-in"


@pytest.mark.parametrize("how", ["another key", "none", "HS256"])
async def test_a_token_that_the_provider_did_not_sign_is_refused(
    console: Console, idp: Idp, how: str
) -> None:
    await console.person("admin", idp.email)
    if how == "another key":
        idp.signer = STRANGE
    else:
        idp.algorithm = how
        idp.signer = jwk.OctKey.import_key(CLIENT_SECRET * 16)

    page = await sign_in(console, idp)

    assert page.status == 403
    assert "not signed" in page.words


async def test_a_new_key_of_the_provider_is_found(
    console: Console, idp: Idp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "_ASKED_EVERY_S", 0.0)
    await console.person("admin", idp.email)
    await sign_in(console, idp)
    await console.post("/sign-out")
    idp.key = jwk.ECKey.generate_key("P-256", {"kid": "two", "use": "sig"})
    idp.algorithm = "ES256"
    idp.signer = None

    assert (await sign_in(console, idp)).path == "/"


async def test_an_answer_to_another_browser_s_question_is_refused(console: Console, idp: Idp) -> None:
    await console.person("admin", idp.email)
    async with visiting(console.url, console.api) as attacker:
        theirs = idp.approve(await begin(attacker))

    assert (await come_back(console, theirs)).status == 403
    await begin(console)
    assert (await come_back(console, theirs)).status == 403
    assert (await console.get("/")).path == "/sign-in"


async def test_a_code_counts_once(console: Console, idp: Idp) -> None:
    await console.person("admin", idp.email)
    location = await begin(console)
    query = idp.approve(location)
    cookie = "; ".join(f"{name}={value}" for name, value in console.cookies.items())
    assert (await come_back(console, query)).status == 200
    await console.post("/sign-out")

    again = await console.get(f"/sign-in/oidc/callback?{urlencode(query)}", headers={"Cookie": cookie})

    assert again.status == 403


async def test_an_error_of_the_provider_is_told_and_not_believed_as_markup(
    console: Console, idp: Idp
) -> None:
    location = await begin(console)
    state = idp.approve(location)["state"]

    page = await come_back(console, {"state": state, "error": "<script>alert(1)</script>access_denied"})

    assert page.status == 403
    assert "<script>alert" not in page.text
    assert "refused" in page.words


async def test_another_issuer_in_the_answer_is_refused(console: Console, idp: Idp) -> None:
    await console.person("admin", idp.email)
    query = idp.approve(await begin(console))

    assert (await come_back(console, {**query, "iss": "https://evil.example.com"})).status == 403


@pytest.mark.oldest
async def test_the_address_may_stand_in_what_the_provider_tells_when_asked(
    console: Console, idp: Idp
) -> None:
    await console.person("viewer", "asked@example.com")
    idp.claims = {"email": None, "email_verified": None}
    idp.userinfo = {"sub": "1", "email": "asked@example.com", "email_verified": True}

    assert (await sign_in(console, idp)).path == "/"

    await console.post("/sign-out")
    idp.userinfo = {"sub": "2", "email": "asked@example.com", "email_verified": True}
    assert (await sign_in(console, idp)).status == 403


async def test_who_is_in_several_teams_chooses_one(console: Console, idp: Idp) -> None:
    other = await console.api.other_team()
    await console.person("admin", idp.email)
    theirs = await console.person("viewer", idp.email, other.team_id)

    page = await sign_in(console, idp)
    assert "Which team?" in page.words
    assert (await console.get("/")).path == "/sign-in"

    page = await sign_in(console, idp, f"/sign-in/oidc?user={ids.show('usr', theirs.id)}")
    assert page.path == "/"
    assert "Other" in page.words


async def test_a_provider_that_is_away_is_told_and_nothing_else_stops(console: Console, idp: Idp) -> None:
    idp.broken = True

    assert (await console.get("/sign-in/oidc")).status == 503
    assert (await console.sign_in()).path == "/"


async def test_a_provider_whose_name_was_missing_is_found_once_it_is_back(idp: Idp) -> None:
    idp.url = idp.url.replace("127.0.0.1", "id.example.com")
    with name_server() as names:
        names.names["id.example.com"] = NXDOMAIN
        client = Provider(
            Client(idp.url, CLIENT_ID, CLIENT_SECRET, "Example ID"), PUBLIC_URL, nameservers=[names.address]
        )
        with pytest.raises(Unavailable):
            await client.begin("/", "")
        names.names["id.example.com"] = ["127.0.0.1"]
        await asyncio.sleep(1.1)

        _, location = await client.begin("/", "")
        await client.close()
    assert location.startswith(f"{idp.url}/authorize?")


@pytest.mark.parametrize("cookie", ["", "x", "e30=", "bnVsbA==", "W10="])
async def test_a_broken_cookie_of_an_attempt_is_no_attempt(console: Console, idp: Idp, cookie: str) -> None:
    query = idp.approve(await begin(console))
    console.session.cookie_jar.clear()

    page = await console.get(
        f"/sign-in/oidc/callback?{urlencode(query)}", headers={"Cookie": f"tocsin_openid={cookie}"}
    )

    assert page.status == 403


async def test_without_a_provider_there_is_no_such_way(api: Api) -> None:
    async with served(api) as url, visiting(url, api) as browser:
        assert (await browser.get("/sign-in/oidc")).status == 404
        assert "Continue with" not in (await browser.get("/sign-in")).words


@pytest.mark.parametrize("half", ["OIDC_ISSUER", "OIDC_CLIENT_ID"])
def test_half_a_provider_is_refused_at_start(half: str) -> None:
    with pytest.raises(BadSettings, match="TOCSIN_OIDC_CLIENT_ID"):
        load(CollectorSettings, [], {f"TOCSIN_{half}": "https://id.example.com"})
