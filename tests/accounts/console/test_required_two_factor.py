"""A team requires two-factor authentication: members without it reach its set-up and nothing else."""

import pytest

from collector.accounts.service import sign_in, two_factor
from collector.accounts.service.console_sessions import BY_PROVIDER
from collector.accounts.storage.users import User
from collector.console.visitor import Browser
from collector.pages import PAGES
from collector.platform.access import operator
from tests.accounts.console.test_console_two_factor import HERE, turned_on
from tests.console.client import PASSWORD, Console, visiting
from tests.console.console.test_console_pages import address

pytestmark = [pytest.mark.oldest, pytest.mark.shares_server]

REQUIRED = "Your team requires two-factor authentication."
# What is left to a member who has yet to set it up.
LEFT = {
    ("POST", "/sign-out"),
    ("POST", "/sign-out-everywhere"),
    ("GET", HERE),
    ("POST", HERE),
    ("POST", f"{HERE}/confirm"),
    ("POST", "/settings/account/passkeys"),
    ("POST", "/settings/account/passkeys/challenge"),
    ("POST", "/sign-out-and-in"),
}


async def require(console: Console) -> None:
    answer = await console.api.put("/v1/team", {"twoFactorRequired": True})
    assert answer.json["twoFactorRequired"] is True


async def signed_in_without(console: Console) -> User:
    """An editor of a team that requires a second factor, signed in by password."""
    await require(console)
    editor = await console.person("editor")
    await console.sign_in(editor)
    return editor


async def test_a_member_is_led_to_its_set_up_at_the_next_request_and_then_let_in(console: Console) -> None:
    editor = await console.person("editor")
    await console.sign_in(editor)
    assert (await console.get("/monitors")).path == "/monitors"
    await require(console)

    led = await console.get("/monitors")
    await turned_on(console, editor)

    assert led.path == HERE
    assert REQUIRED in led.words
    assert 'href="/monitors"' not in led.text
    assert (await console.get("/monitors")).path == "/monitors"


async def test_no_page_and_no_form_opens_before(console: Console) -> None:
    await signed_in_without(console)
    await console.get(HERE)

    for page in PAGES:
        if page.needs is None or (page.method, page.path) in LEFT:
            continue
        fields = {"csrf": console.last.csrf if console.last else ""}
        answer = await console.call(
            page.method,
            address(page),
            headers={"Origin": console.url},
            data=fields if page.method == "POST" else None,
            allow_redirects=False,
        )
        assert (answer.status, answer.headers.get("Location")) == (303, HERE), (page.method, page.path)
    part = await console.get("/monitors", headers={"X-Part": "list"}, allow_redirects=False)
    assert (part.status, part.text) == (401, "")


async def test_a_session_by_token_is_no_way_round_and_the_api_stays_open(console: Console) -> None:
    user = await console.person("admin")
    await turned_on(console, user)
    await require(console)

    async with visiting(console.url, console.api) as other:
        page = await other.post("/sign-in", {"token": console.api.token})
        assert page.path == HERE
        assert "Sign in with your password to set up two-factor authentication" in page.words
        assert (await other.post(HERE)).status == 403
    assert (await console.api.get("/v1/monitors")).status == 200


async def test_a_member_can_not_turn_it_off_and_is_led_again_after_an_admin_did(console: Console) -> None:
    editor = await console.person("editor")
    app, _ = await turned_on(console, editor)
    await require(console)

    refused = await console.post(f"{HERE}/off", {"code": app.next_code()})
    await two_factor.reset(console.api.context.db, operator(editor.team_id), editor.id)

    assert REQUIRED in refused.words
    assert (await console.get("/")).path == HERE


async def test_a_reset_of_the_password_and_a_secret_without_a_code_open_nothing(console: Console) -> None:
    editor = await signed_in_without(console)
    await console.get(HERE)
    await console.post(HERE)

    assert (await console.get("/incidents")).path == HERE
    assert (await console.post(f"{HERE}/confirm", {"code": "000000"})).status == 400
    assert (await console.get("/incidents")).path == HERE
    async with visiting(console.url, console.api) as other:
        assert (await other.sign_in(editor)).path == HERE


async def test_setting_it_up_ends_sessions_that_the_password_alone_opened(console: Console) -> None:
    editor = await console.person("editor")
    async with visiting(console.url, console.api) as thief:
        await thief.post("/sign-in", {"email": editor.email, "password": PASSWORD})
        await require(console)
        await turned_on(console, editor)

        assert (await thief.get("/")).path == "/sign-in"
    assert (await console.get("/")).path == "/"


async def test_a_session_by_the_provider_is_let_in(console: Console) -> None:
    await require(console)
    viewer = await console.person("viewer")
    here = Browser("192.0.2.7", "Firefox/1")
    context = console.api.context
    cookie = await sign_in.enter(context.db, viewer, here, context.now(), by=BY_PROVIDER)

    page = await console.get("/monitors", headers={"Cookie": f"tocsin_session={cookie}"})

    assert page.path == "/monitors"


async def test_an_admin_requires_it_in_the_settings_and_is_asked_like_all(console: Console) -> None:
    await console.sign_in()
    await console.get("/settings/team")

    page = await console.post("/settings/team", {"name": "Shop", "twoFactorRequired": ["", "on"]})

    assert page.path == HERE
    shown = (await console.api.get("/v1/team")).json
    assert (shown["name"], shown["twoFactorRequired"]) == ("Shop", True)
    audited = (await console.api.get("/v1/audit-log?resource=team")).json["data"][0]
    assert (audited["action"], audited["fields"]) == ("update", ["name", "twoFactorRequired"])


async def test_an_editor_can_not_change_what_the_team_requires(console: Console) -> None:
    await console.sign_in(await console.person("editor"))
    await console.get("/settings/account")

    assert (await console.post("/settings/team", {"name": "x", "twoFactorRequired": ""})).status == 403
    assert (await (await console.api.reader()).put("/v1/team", {"twoFactorRequired": False})).status == 403
