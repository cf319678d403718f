"""Two-factor authentication: setting it up, signing in with it, and losing it."""

import base64
import re
from datetime import datetime, timedelta
from html import unescape

import pytest

from collector.accounts.core import totp
from collector.accounts.service import password_links, two_factor
from collector.accounts.storage.users import User
from collector.platform.access import operator
from shared import ids
from tests.console.client import PASSWORD, Console, Page, visiting

pytestmark = pytest.mark.oldest

HERE = "/settings/account/two-factor"
_TICKET = re.compile(r'name="ticket" value="([^"]*)"')
_RECOVERY_CODE = re.compile(r"\b(?:[a-z2-7]{4}-){3}[a-z2-7]{4}\b")


class App:
    """An authenticator app that has scanned the page's code."""

    def __init__(self, console: Console, page: Page) -> None:
        match = re.search(r"secret=([A-Z2-7]+)", unescape(page.text))
        assert match is not None
        self.secret = base64.b32decode(match[1])
        self._console = console

    def code(self, ahead: timedelta = timedelta()) -> str:
        moment: datetime = self._console.api.clock() + ahead
        return totp.code(self.secret, int(moment.timestamp()) // totp.STEP_S)

    def next_code(self) -> str:
        """A code that was not used yet."""
        self._console.api.clock.ahead += timedelta(seconds=totp.STEP_S)
        return self.code()


async def turned_on(console: Console, user: User) -> tuple[App, list[str]]:
    """The user's app and recovery codes; the user is signed in."""
    await console.sign_in(user)
    await console.get(HERE)
    app = App(console, await console.post(HERE))
    page = await console.post(f"{HERE}/confirm", {"code": app.code()})
    return app, _RECOVERY_CODE.findall(page.text)


async def first_step(console: Console, user: User, after: str = "/") -> str:
    """The ticket that a right password gets."""
    page = await console.post("/sign-in", {"email": user.email, "password": PASSWORD, "next": after})
    assert page.path == "/sign-in"
    match = _TICKET.search(page.text)
    assert match is not None, page.words
    return match[1]


async def actions(console: Console) -> list[str]:
    async with console.api.context.db.connection() as tx:
        rows = await tx.fetch("SELECT action FROM audit_log WHERE resource = 'user' ORDER BY at, id")
    return [row["action"] for row in rows]


async def test_a_code_is_asked_for_after_the_password(console: Console) -> None:
    user = await console.person("editor")
    app, codes = await turned_on(console, user)
    assert len(set(codes)) == two_factor.RECOVERY_CODES

    async with visiting(console.url, console.api) as other:
        ticket = await first_step(other, user, "/monitors?page=2")
        assert "tocsin_session" not in other.cookies
        page = await other.post("/sign-in/code", {"ticket": ticket, "code": app.next_code()})

        assert page.path == "/monitors?page=2"
        assert (await other.get("/settings/account")).words.count("Two-factor on Manage") == 1


async def test_nothing_is_asked_before_the_first_code(console: Console) -> None:
    user = await console.person("viewer")
    await console.sign_in(user)
    await console.get(HERE)
    App(console, await console.post(HERE))

    assert (await console.post(f"{HERE}/confirm", {"code": "000000"})).status == 400
    async with visiting(console.url, console.api) as other:
        assert (await other.sign_in(user)).path == "/"


async def test_a_wrong_code_opens_nothing_and_is_recorded(console: Console) -> None:
    user = await console.person("editor")
    await turned_on(console, user)

    async with visiting(console.url, console.api) as other:
        ticket = await first_step(other, user)
        page = await other.post("/sign-in/code", {"ticket": ticket, "code": "000000"})

        assert (page.status, "Wrong code" in page.words) == (403, True)
        assert "tocsin_session" not in other.cookies
    assert await actions(console) == ["enable-two-factor", "refuse-sign-in"]


async def test_no_code_signs_in_twice(console: Console) -> None:
    user = await console.person("editor")
    app, _ = await turned_on(console, user)
    code = app.next_code()

    async with visiting(console.url, console.api) as other, visiting(console.url, console.api) as thief:
        assert (
            await other.post("/sign-in/code", {"ticket": await first_step(other, user), "code": code})
        ).path == "/"
        page = await thief.post("/sign-in/code", {"ticket": await first_step(thief, user), "code": code})

        assert page.status == 403


async def test_each_recovery_code_signs_in_once(console: Console) -> None:
    user = await console.person("editor")
    _, codes = await turned_on(console, user)

    async with visiting(console.url, console.api) as other:
        typed = codes[0].upper().replace("-", " ")
        page = await other.post("/sign-in/code", {"ticket": await first_step(other, user), "code": typed})
        assert page.path == "/"
        assert f"9 of {two_factor.RECOVERY_CODES} left" in (await other.get(HERE)).words

    async with visiting(console.url, console.api) as other:
        page = await other.post("/sign-in/code", {"ticket": await first_step(other, user), "code": codes[0]})
        assert page.status == 403


async def test_tries_are_limited(console: Console) -> None:
    user = await console.person("editor")
    await turned_on(console, user)

    async with visiting(console.url, console.api) as other:
        ticket = await first_step(other, user)
        states = [
            (await other.post("/sign-in/code", {"ticket": ticket, "code": f"{number:06}"})).status
            for number in range(12)
        ]

        assert states.count(429) >= 2
        assert set(states) == {403, 429}


@pytest.mark.parametrize("late", [two_factor.TICKET_LIFE - timedelta(seconds=60), two_factor.TICKET_LIFE])
async def test_a_ticket_ends(console: Console, late: timedelta) -> None:
    user = await console.person("editor")
    app, _ = await turned_on(console, user)

    async with visiting(console.url, console.api) as other:
        ticket = await first_step(other, user)
        console.api.clock.ahead += late
        page = await other.post("/sign-in/code", {"ticket": ticket, "code": app.next_code()})

        assert page.path == ("/" if late < two_factor.TICKET_LIFE else "/sign-in")


@pytest.mark.parametrize("ticket", ["", "x", "AAAA", "AQ" * 60, "ä"])
async def test_a_forged_ticket_is_none(console: Console, ticket: str) -> None:
    page = await console.post("/sign-in/code", {"ticket": ticket, "code": "000000"})

    assert page.path == "/sign-in"
    assert "tocsin_session" not in console.cookies


async def test_a_reset_link_does_not_go_around_it(console: Console) -> None:
    user = await console.person("editor")
    app, _ = await turned_on(console, user)
    _, secret = await password_links.make(
        console.api.context.db, operator(user.team_id), user.id, console.api.clock()
    )

    async with visiting(console.url, console.api) as other:
        await other.get(f"/reset/{secret}")
        page = await other.post(
            f"/reset/{secret}", {"password": "another long password", "again": "another long password"}
        )
        match = _TICKET.search(page.text)
        assert match is not None
        assert "tocsin_session" not in other.cookies
        page = await other.post("/sign-in/code", {"ticket": match[1], "code": app.next_code()})
        assert page.path == "/"


async def test_turning_it_off_takes_a_code(console: Console) -> None:
    user = await console.person("editor")
    app, _ = await turned_on(console, user)

    assert (await console.post(f"{HERE}/off", {"code": "000000"})).status == 400
    page = await console.post(f"{HERE}/off", {"code": app.next_code()})

    assert page.path == "/settings/account"
    async with visiting(console.url, console.api) as other:
        assert (await other.sign_in(user)).path == "/"


async def test_new_recovery_codes_end_the_old_ones(console: Console) -> None:
    user = await console.person("editor")
    app, old = await turned_on(console, user)

    page = await console.post(f"{HERE}/codes", {"code": app.next_code()})
    new = _RECOVERY_CODE.findall(page.text)

    assert len(set(new) - set(old)) == two_factor.RECOVERY_CODES
    async with visiting(console.url, console.api) as other:
        page = await other.post("/sign-in/code", {"ticket": await first_step(other, user), "code": old[0]})
        assert page.status == 403


async def test_a_session_of_a_token_changes_nothing(console: Console) -> None:
    writer = await console.api.writer()
    await console.post("/sign-in", {"token": writer.token})

    assert "signed in with a token" in (await console.get(HERE)).words
    assert (await console.post(HERE)).status == 403
    assert (await console.post(f"{HERE}/off", {"code": "000000"})).status == 403


async def test_an_admin_turns_it_off_for_who_lost_it(console: Console) -> None:
    user = await console.person("editor")
    await turned_on(console, user)

    async with visiting(console.url, console.api) as admin:
        await admin.sign_in()
        assert "two-factor" in (await admin.get("/settings/users")).words
        path = f"/settings/users/{ids.show('usr', user.id)}/two-factor/off"
        assert (await admin.post(path)).path == "/settings/users"
        assert (await admin.post(path)).status == 404
    async with visiting(console.url, console.api) as other:
        assert (await other.sign_in(user)).path == "/"
    assert await actions(console) == ["enable-two-factor", "disable-two-factor"]


async def test_an_editor_does_not(console: Console) -> None:
    user = await console.person("editor")
    await turned_on(console, user)

    async with visiting(console.url, console.api) as other:
        await other.sign_in(await console.person("editor"))
        await other.get("/settings/account")
        path = f"/settings/users/{ids.show('usr', user.id)}/two-factor/off"
        assert (await other.post(path)).status == 403


async def test_neither_secret_nor_recovery_codes_are_stored_in_the_open(console: Console) -> None:
    user = await console.person("editor")
    app, codes = await turned_on(console, user)

    async with console.api.context.db.connection() as tx:
        rows = [
            row["row"]
            for table in ("two_factor", "recovery_codes", "audit_log")
            for row in await tx.fetch(f"SELECT t::text AS row FROM {table} t")
        ]
    for hidden in (app.secret.hex(), app.secret.decode("latin-1"), totp.as_text(app.secret), *codes):
        assert not [row for row in rows if hidden in row]
