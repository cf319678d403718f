"""Passkeys: added, used with and without a password, removed; wrong answers are refused."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import orjson
import pytest

from collector.accounts.service import passkeys, two_factor
from collector.accounts.storage.users import User
from collector.console import session
from collector.platform.access import operator
from shared import ids
from tests.accounts.authenticator import Authenticator
from tests.accounts.console.test_console_two_factor import first_step
from tests.console.client import PASSWORD, Console, Page, served, visiting
from tests.http.client import Api

pytestmark = pytest.mark.oldest

HERE = "/settings/account/two-factor"
KEYS = "/settings/account/passkeys"
ORIGIN = "http://localhost:17270"
_RECOVERY_CODE = re.compile(r"\b(?:[a-z2-7]{4}-){3}[a-z2-7]{4}\b")


@pytest.fixture
async def console(api: Api) -> AsyncIterator[Console]:
    async with served(api, public_url=ORIGIN) as url, visiting(url, api) as browser:
        yield browser


async def question(console: Console, path: str = "/sign-in/passkey/challenge", **fields: str) -> Any:
    page = await console.post(path, fields)
    assert page.status == 200, page.text
    return orjson.loads(page.text)


async def add(console: Console, key: Authenticator, name: str = "Laptop") -> Page:
    """Add *key* to the account of who is signed in."""
    await console.get(HERE)
    asked = await question(console, f"{KEYS}/challenge")
    return await console.post(KEYS, {**key.created(asked), "name": name})


async def owner(console: Console, key: Authenticator) -> User:
    """A user who is signed in and has added *key*."""
    user = await console.person("editor")
    await console.sign_in(user)
    page = await add(console, key)
    assert len(set(_RECOVERY_CODE.findall(page.text))) == two_factor.RECOVERY_CODES
    return user


async def sign_in(console: Console, key: Authenticator, **changed: Any) -> Page:
    """Sign in by the passkey alone."""
    return await console.post("/sign-in/passkey", key.answered(await question(console), **changed))


async def audited(console: Console) -> list[tuple[str, str]]:
    async with console.api.context.db.connection() as tx:
        rows = await tx.fetch(
            "SELECT action, resource_name AS name FROM audit_log WHERE resource = 'passkey' ORDER BY at, id"
        )
    return [(row["action"], row["name"]) for row in rows]


def stranger(console: Console) -> Any:
    return visiting(console.url, console.api)


async def test_a_passkey_signs_in_without_a_password(console: Console) -> None:
    key = Authenticator(ORIGIN)
    user = await owner(console, key)
    console.api.clock.ahead += timedelta(minutes=2)

    async with stranger(console) as other:
        asked = await question(other)
        page = await other.post("/sign-in/passkey", {**key.answered(asked), "next": "/monitors?page=2"})

        assert page.path == "/monitors?page=2"
        assert user.email in (await other.get("/settings/account")).words
        shown = (await other.get(HERE)).words
        assert "Laptop" in shown
        assert "never" not in shown
    async with console.api.context.db.connection() as tx:
        name = await tx.fetchval(
            "SELECT resource_name FROM audit_log WHERE action = 'sign-in' ORDER BY at DESC, id DESC LIMIT 1"
        )
    assert name == "passkey"
    assert await audited(console) == [("create", "Laptop")]


async def test_it_is_the_second_step_after_the_password(console: Console) -> None:
    key = Authenticator(ORIGIN, verifies=False)
    user = await owner(console, key)

    async with stranger(console) as other:
        ticket = await first_step(other, user, "/incidents")
        assert "tocsin_session" not in other.cookies
        asked = await question(other, ticket=ticket)
        assert len(asked["known"]) == 1
        page = await other.post("/sign-in/passkey", {**key.answered(asked), "handle": "", "ticket": ticket})

        assert page.path == "/incidents"


async def test_the_password_alone_opens_nothing_and_a_recovery_code_helps(console: Console) -> None:
    user = await console.person("editor")
    await console.sign_in(user)
    codes = _RECOVERY_CODE.findall((await add(console, Authenticator(ORIGIN))).text)

    async with stranger(console) as other:
        page = await other.post("/sign-in", {"email": user.email, "password": PASSWORD})
        assert "Use your passkey" in page.words
        assert (await other.get("/monitors")).path.startswith("/sign-in")
        ticket = await first_step(other, user)
        page = await other.post("/sign-in/code", {"ticket": ticket, "code": codes[0]})

        assert page.path == "/"


async def test_an_answer_signs_in_once(console: Console) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)

    async with stranger(console) as other:
        kept = dict(other.cookies)
        answer = key.answered(await question(other))
        kept = {name: text for name, text in other.cookies.items() if name not in kept}
        assert (await other.post("/sign-in/passkey", answer)).path == "/"

        async with stranger(console) as thief:
            headers = {"Cookie": "; ".join(f"{name}={text}" for name, text in kept.items())}
            page = await thief.post("/sign-in/passkey", answer, headers=headers)
            assert "The answer belongs to another request." in page.words
            assert "tocsin_session" not in thief.cookies


async def test_an_answer_counts_in_the_browser_that_asked_alone(console: Console) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)

    async with stranger(console) as other, stranger(console) as thief:
        answer = key.answered(await question(other))
        assert (await thief.post("/sign-in/passkey", answer)).path == "/sign-in"
        await question(thief)
        page = await thief.post("/sign-in/passkey", answer)

        assert "The answer belongs to another request." in page.words
        assert "tocsin_session" not in thief.cookies


@pytest.mark.parametrize(
    ("late", "path"),
    [(passkeys.PATIENCE - timedelta(seconds=30), "/"), (passkeys.PATIENCE, "/sign-in")],
)
async def test_a_challenge_ends(console: Console, late: timedelta, path: str) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)

    async with stranger(console) as other:
        answer = key.answered(await question(other))
        console.api.clock.ahead += late

        assert (await other.post("/sign-in/passkey", answer)).path == path


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"origin": "http://localhost:1"}, "another site"),
        ({"origin": "https://localhost:17270"}, "another site"),
        ({"crossOrigin": True}, "another site"),
        ({"type": "webauthn.create"}, "cannot be read"),
        ({"challenge": "AAAA"}, "another request"),
        ({"challenge": None}, "another request"),
    ],
)
async def test_an_answer_for_another_site_or_question_is_refused(
    console: Console, changed: dict[str, Any], reason: str
) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)

    async with stranger(console) as other:
        page = await sign_in(other, key, **changed)

        assert reason in page.words
        assert "tocsin_session" not in other.cookies
    assert (await audited(console))[-1] == ("refuse-sign-in", "Laptop")


async def test_another_relying_party_is_refused(console: Console) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)
    key.site = "example.com"

    async with stranger(console) as other:
        assert "another site" in (await sign_in(other, key)).words


@pytest.mark.parametrize("part", ["signature", "client", "authenticator"])
async def test_a_tampered_answer_is_refused(console: Console, part: str) -> None:
    key = Authenticator(ORIGIN, counter=5)
    await owner(console, key)
    key.counter = 6

    async with stranger(console) as other:
        answer = key.answered(await question(other))
        last = answer[part][-3:]
        answer[part] = answer[part][:-3] + ("AAA" if last != "AAA" else "BBB")
        page = await other.post("/sign-in/passkey", answer)

        assert page.path == "/sign-in"
        assert "tocsin_session" not in other.cookies


async def test_another_users_passkey_opens_only_their_own_account(console: Console) -> None:
    theirs, mine = Authenticator(ORIGIN), Authenticator(ORIGIN)
    victim = await owner(console, theirs)
    async with stranger(console) as attacker:
        me = await owner(attacker, mine)
        handle = mine.handle
        async with stranger(console) as other:
            mine.handle = theirs.handle
            assert "not known here" in (await sign_in(other, mine)).words
            assert "tocsin_session" not in other.cookies
            ticket = await first_step(other, victim)
            answer = mine.answered(await question(other, ticket=ticket))
            page = await other.post("/sign-in/passkey", {**answer, "ticket": ticket})
            assert (page.status, "not known here" in page.words) == (403, True)
            # A challenge of a second step is none of a sign-in, nor of another user.
            answer = theirs.answered(await question(other, ticket=ticket))
            assert (await other.post("/sign-in/passkey", answer)).path == "/sign-in"
            answer = theirs.answered(await question(other, ticket=await first_step(other, me)))
            page = await other.post("/sign-in/passkey", {**answer, "ticket": ticket})
            assert page.path == "/sign-in"
            assert "tocsin_session" not in other.cookies
            mine.handle = handle
            await sign_in(other, mine)
            assert me.email in (await other.get("/settings/account")).words


@pytest.mark.parametrize("handle", ["", "AAAA", "A" * 27, "_" * 27, "ä", "AAAAAQ" * 40])
async def test_an_unknown_user_is_refused(console: Console, handle: str) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)

    async with stranger(console) as other:
        answer = {**key.answered(await question(other)), "handle": handle}

        assert "not known here" in (await other.post("/sign-in/passkey", answer)).words


async def test_without_a_password_its_user_must_be_verified(console: Console) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)
    key.verifies = False

    async with stranger(console) as other:
        assert "did not verify who used it" in (await sign_in(other, key)).words


async def test_a_counter_that_went_back_is_refused_and_recorded(console: Console) -> None:
    key = Authenticator(ORIGIN, counter=7)
    await owner(console, key)
    key.counter = 8

    async with stranger(console) as other, stranger(console) as thief:
        assert (await sign_in(other, key)).path == "/"
        for counter in (8, 3, 0):
            key.counter = counter
            assert "went back" in (await sign_in(thief, key)).words
        key.counter = 9
        assert (await sign_in(thief, key)).path == "/"
    assert [action for action, _ in await audited(console)] == ["create", *["refuse-copy"] * 3]


async def test_a_browser_without_an_attempt_is_sent_back(console: Console) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)
    answer = key.answered({"challenge": "AAAA"})

    async with stranger(console) as other:
        assert (await other.post("/sign-in/passkey", answer)).path == "/sign-in"
        for forged in ("", "x", "AQ" * 60):
            headers = {"Cookie": f"tocsin_passkey={forged}"}
            assert (await other.post("/sign-in/passkey", answer, headers=headers)).path == "/sign-in"


async def test_a_registration_must_answer_this_sessions_question(console: Console) -> None:
    user = await console.person("editor")
    await console.sign_in(user)
    await console.get(HERE)
    key = Authenticator(ORIGIN)

    async def refused(fields: dict[str, str], name: str = "Laptop") -> str:
        return (await console.post(KEYS, {**fields, "name": name})).words

    asked = await question(console, f"{KEYS}/challenge")
    assert "another site" in await refused(key.created(asked, origin="https://evil.example.com"))
    assert "another request" in await refused(key.created(asked))  # the question was used up
    asked = await question(console, f"{KEYS}/challenge")
    assert "cannot be read" in await refused({**key.created(asked), "authenticator": "AAAA"})
    asked = await question(console, f"{KEYS}/challenge")
    assert "not supported" in await refused({**key.created(asked), "key": "AAAA"})
    asked = await question(console, f"{KEYS}/challenge")
    assert "must have 1 to 60" in await refused(key.created(asked), " ")
    asked = await question(console)  # of a sign-in
    assert "took too long" in await refused(key.created({**asked, "handle": ""}))
    assert "Laptop" not in (await console.get(HERE)).words
    assert await audited(console) == []


async def test_the_same_passkey_is_not_added_twice(console: Console) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)

    assert "registered already" in (await add(console, key, "Again")).words
    assert "Passkey added." in (await add(console, Authenticator(ORIGIN), "Phone")).words
    assert await audited(console) == [("create", "Laptop"), ("create", "Phone")]


async def test_adding_the_first_ends_sessions_that_the_password_alone_opened(console: Console) -> None:
    user = await console.person("editor")
    async with stranger(console) as thief:
        await thief.sign_in(user)
        await console.sign_in(user)
        await add(console, Authenticator(ORIGIN))

        assert (await thief.get("/monitors")).path.startswith("/sign-in")
    assert (await console.get("/monitors")).path == "/monitors"


async def test_only_a_fresh_session_adds_and_removes(console: Console) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)
    async with console.api.context.db.connection() as tx:
        id_ = ids.show("pky", await tx.fetchval("SELECT id FROM passkeys"))
    console.api.clock.ahead += session.FRESH

    assert "Sign in again" in (await console.get(HERE)).words
    assert (await console.post(f"{KEYS}/challenge")).status == 403
    assert (await console.post(KEYS, {"name": "x"})).status == 403
    assert (await console.post(f"{KEYS}/{id_}/delete")).status == 403
    assert (await console.post(HERE)).status == 403  # an app would be a way around it
    again = await console.post("/sign-out-and-in")
    assert again.path == f"/sign-in?next={HERE}"
    answer = key.answered(await question(console))
    assert (await console.post("/sign-in/passkey", {**answer, "next": HERE})).path == HERE
    assert "“Laptop” removed" in (await console.post(f"{KEYS}/{id_}/delete")).words
    assert (await console.post(f"{KEYS}/{id_}/delete")).status == 404


async def test_a_removed_passkey_opens_nothing_and_the_password_does_again(console: Console) -> None:
    key = Authenticator(ORIGIN)
    user = await owner(console, key)
    async with console.api.context.db.connection() as tx:
        id_ = ids.show("pky", await tx.fetchval("SELECT id FROM passkeys"))
    async with stranger(console) as thief:
        await thief.sign_in(await console.person("editor"))
        await thief.get(HERE)
        assert (await thief.post(f"{KEYS}/{id_}/delete")).status == 404

    await console.post(f"{KEYS}/{id_}/delete")

    async with stranger(console) as other:
        assert "not known here" in (await sign_in(other, key)).words
        assert (await other.sign_in(user)).path == "/"
    async with console.api.context.db.connection() as tx:
        assert await tx.fetchval("SELECT count(*) FROM recovery_codes") == 0
    assert await audited(console) == [("create", "Laptop"), ("delete", "Laptop")]


async def test_a_passkey_is_enough_for_a_team_that_requires_a_second_factor(console: Console) -> None:
    user = await console.person("editor")
    await console.sign_in(user)
    await console.api.put("/v1/team", {"twoFactorRequired": True})
    assert (await console.get("/monitors")).path == HERE

    await add(console, Authenticator(ORIGIN))

    assert (await console.get("/monitors")).path == "/monitors"
    async with console.api.context.db.connection() as tx:
        id_ = ids.show("pky", await tx.fetchval("SELECT id FROM passkeys"))
    await console.get(HERE)
    refused = await console.post(f"{KEYS}/{id_}/delete")
    assert "Your team requires two-factor authentication." in refused.words
    assert "Laptop" in refused.words
    await two_factor.reset(console.api.context.db, operator(user.team_id), user.id)
    assert (await console.get("/")).path == HERE


async def test_a_session_of_a_token_adds_none(console: Console) -> None:
    writer = await console.api.writer()
    await console.post("/sign-in", {"token": writer.token})
    await console.get(HERE)

    assert (await console.post(f"{KEYS}/challenge")).status == 403


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://tocsin.example.com", "https://[::1]:8080"])
async def test_no_passkey_is_offered_where_browsers_refuse_them(api: Api, url: str) -> None:
    async with served(api, public_url=url) as here, visiting(here, api) as console:
        assert "passkey" not in (await console.get("/sign-in")).text
        assert (await console.post("/sign-in/passkey/challenge")).status == 404


async def test_keys_are_kept_and_nothing_that_signs_in(console: Console) -> None:
    key = Authenticator(ORIGIN)
    await owner(console, key)
    async with stranger(console) as other:
        asked = await question(other)
        await other.post("/sign-in/passkey", key.answered(asked))

    async with console.api.context.db.connection() as tx:
        rows = await tx.fetch("SELECT t::text AS row FROM used_challenges t")
    assert len(rows) == 2
    assert not [row for row in rows if asked["challenge"] in row["row"]]


async def test_what_is_refused_at_the_door_is_said_in_the_browsers_language(console: Console) -> None:
    key = Authenticator(ORIGIN)
    user = await owner(console, key)

    async with stranger(console) as other:
        other.headers["Accept-Language"] = "de"
        page = await other.post("/sign-in", {"email": user.email, "password": "wrong"})
        assert "Falsche E-Mail-Adresse" in page.words
        ticket = await first_step(other, user)
        page = await other.post("/sign-in/code", {"ticket": ticket, "code": "000000"})
        assert "Falscher oder schon benutzter Code." in page.words
        answer = key.answered(await question(other, ticket=ticket), origin="https://evil.example.com")
        page = await other.post("/sign-in/passkey", {**answer, "ticket": ticket})
        assert "für eine andere Website" in page.words
