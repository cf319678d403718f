"""Links of the console: invitations, new passwords, the first admin's way in; each works once."""

import asyncio
import logging
import re
from datetime import timedelta
from ipaddress import ip_network

import pytest
import structlog

from collector.accounts.service import password_links, users
from collector.accounts.service.password_links import ASKED_EVERY, LIFE
from collector.accounts.storage import teams
from collector.platform.access import Actor
from collector.platform.mailer import Mailer
from collector.platform.transport import Transport
from shared import ids
from shared.ids import uuid7
from tests.console.client import PASSWORD, Console, served, visiting
from tests.console.fixtures import PUBLIC_URL
from tests.mailbox import mailbox

pytestmark = pytest.mark.races

NEW = {"password": "another long password", "again": "another long password"}
# A guess that costs no hash.
TOO_LONG = "x" * 1025
LINK = re.compile(rf"{re.escape(PUBLIC_URL)}(/\w+/[\w-]{{43}})")


async def invited(console: Console, role: str = "viewer") -> tuple[str, str]:
    """The address of somebody invited, and the path of their link."""
    who = Actor(console.api.team_id, None, "Admin")
    details = await users.invite(
        console.api.context.db, who, {"email": "new@example.com", "role": role}, console.api.clock()
    )
    return details.user.email, f"/invitations/{details.secret}"


async def test_an_invitation_sets_a_password_once_and_signs_in(console: Console) -> None:
    email, path = await invited(console, "editor")
    assert email in (await console.get(path)).words
    assert (await console.get(path)).status == 200  # who only looks uses nothing up

    assert (await console.post(path, NEW)).path == "/"

    assert (await console.get("/settings/account")).words.count(email) >= 1
    await console.post("/sign-out")
    assert (await console.get(path)).status == 404
    assert (await console.post(path, NEW)).status == 404
    fields = {"email": email, "password": NEW["password"]}
    assert (await console.post("/sign-in", fields)).path == "/"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"password": "short", "again": "short"}, "10 to 1024 characters"),
        ({"password": "a long enough one", "again": "another one"}, "the same twice"),
        ({"password": "short", "again": "other"}, "10 to 1024 characters"),
        ({"password": "short", "again": "other"}, "the same twice"),
        ({"password": "", "again": ""}, "10 to 1024 characters"),
        ({}, "10 to 1024 characters"),
        ({"password": "x" * 1025, "again": "x" * 1025}, "10 to 1024 characters"),
    ],
)
async def test_a_bad_password_is_told_at_its_field_and_uses_nothing_up(
    console: Console, fields: dict[str, str], said: str
) -> None:
    _, path = await invited(console)

    page = await console.post(path, fields)

    assert page.status == 400
    assert said in page.words
    assert 'aria-invalid="true"' in page.text
    assert (await console.get(path)).status == 200


@pytest.mark.parametrize("path", ["/invitations/", "/reset/", "/setup/"])
@pytest.mark.parametrize("secret", ["x", "%00", "a" * 43, "\u00e9"])
async def test_a_link_that_nobody_made_opens_nothing(console: Console, path: str, secret: str) -> None:
    assert (await console.get(path + secret)).status == 404
    assert (await console.post(path + secret, NEW)).status == 404


async def test_two_who_take_one_link_at_once_do_not_both_get_in(console: Console) -> None:
    user = await console.person("viewer")
    who = Actor(console.api.team_id, None, "Admin")
    _, secret = await password_links.make(console.api.context.db, who, user.id, console.api.clock())

    answers = await asyncio.gather(*(console.post(f"/reset/{secret}", NEW) for _ in range(4)))

    assert sorted(page.status for page in answers) == [200, 404, 404, 404]


async def test_an_admin_makes_a_link_for_a_new_password_that_ends_all_sessions(console: Console) -> None:
    user = await console.person("editor", "editor@example.com")
    await console.sign_in()
    async with visiting(console.url, console.api) as theirs:
        await theirs.sign_in(user)
        assert (await theirs.get("/")).path == "/"

        await console.get("/settings/users")
        page = await console.post(f"/settings/users/{ids.show('usr', user.id)}/reset")
        [path] = set(LINK.findall(page.text))

        assert (await theirs.get("/")).path == "/"
        async with visiting(console.url, console.api) as anybody:
            assert "editor@example.com" in (await anybody.get(path)).words
            assert (await anybody.post(path, NEW)).path == "/"
        assert (await theirs.get("/")).path == "/sign-in"
        assert (await theirs.sign_in(user)).status == 403
        assert (await theirs.sign_in(user, NEW["password"])).path == "/"


async def test_a_newer_link_ends_the_older_one_and_time_ends_both(console: Console) -> None:
    user = await console.person("viewer")
    who, db = Actor(console.api.team_id, None, "Admin"), console.api.context.db
    _, older = await password_links.make(db, who, user.id, console.api.clock())
    _, newer = await password_links.make(db, who, user.id, console.api.clock())

    assert (await console.get(f"/reset/{older}")).status == 404
    assert (await console.get(f"/reset/{newer}")).status == 200
    console.api.clock.ahead = LIFE
    assert (await console.get(f"/reset/{newer}")).status == 404


async def test_the_first_admin_sets_the_console_up_by_a_link(console: Console) -> None:
    db, now = console.api.context.db, console.api.clock()
    secret = await password_links.first(db, console.api.team_id, console.api.user_id, now)
    assert "Set up Tocsin" in (await console.get(f"/setup/{secret}")).words

    bad = await console.post(f"/setup/{secret}", {"name": "", "email": "nonsense", **NEW})
    assert bad.status == 400
    assert "must be like name@example.com" in bad.words
    fields = {"name": "First Admin", "email": "first@example.com", **NEW}
    page = await console.post(f"/setup/{secret}", fields)

    assert page.path == "/"
    assert "First Admin" in page.words
    assert (await console.get(f"/setup/{secret}")).status == 404
    assert (await console.get("/settings/users")).status == 200


@pytest.mark.parametrize("how", ["password", "address", "role", "sign-in"])
async def test_the_way_into_a_new_console_ends_once_it_was_entered_or_changed(
    console: Console, how: str
) -> None:
    db, team, user = console.api.context.db, console.api.team_id, console.api.user_id
    secret = await password_links.first(db, team, user, console.api.clock())
    assert (await console.get(f"/reset/{secret}")).status == 404  # it is of another kind
    assert (await console.get(f"/setup/{secret}")).status == 200

    if how == "password":
        await users.set_password(db, "admin@example.com", team, "the operator's choice")
    elif how == "sign-in":
        assert (await console.post("/sign-in", {"token": console.api.token})).path == "/"
        await console.post("/sign-out")
    else:
        await console.person("admin")
        change = {"address": {"email": "new@example.com"}, "role": {"role": "viewer"}}[how]
        await users.update(db, Actor(team, None, "Admin"), user, change)

    for path in (f"/setup/{secret}", f"/reset/{secret}"):
        assert (await console.get(path)).status == 404
        answer = await console.post(path, {"name": "Mallory", "email": "mallory@example.com", **NEW})
        assert answer.status == 404


@pytest.mark.parametrize("how", ["password", "address", "role"])
async def test_a_link_for_a_new_password_ends_with_what_it_was_made_for(console: Console, how: str) -> None:
    user = await console.person("viewer", "viewer@example.com")
    who, db = Actor(console.api.team_id, None, "Admin"), console.api.context.db
    _, secret = await password_links.make(db, who, user.id, console.api.clock())
    assert (await console.get(f"/setup/{secret}")).status == 404
    assert (await console.get(f"/reset/{secret}")).status == 200

    if how == "password":
        await users.set_password(db, user.email, user.team_id, "the operator's choice")
    else:
        change = {"address": {"email": "new@example.com"}, "role": {"role": "editor"}}[how]
        await users.update(db, who, user.id, change)

    assert (await console.post(f"/reset/{secret}", NEW)).status == 404


async def test_an_invitation_ends_with_the_address_and_whoever_changes_that_hears_of_it(
    console: Console,
) -> None:
    who, db = Actor(console.api.team_id, None, "Admin"), console.api.context.db
    details = await users.invite(db, who, {"email": "typo@example.com"}, console.api.clock())

    changed = await users.update(db, who, details.user.id, {"email": "right@example.com"})

    assert "send it again" in changed.warnings[0]
    assert (await console.get(f"/invitations/{details.secret}")).status == 404
    again = await users.invite_again(db, who, details.user.id, console.api.clock())
    assert (await console.get(f"/invitations/{again.secret}")).status == 200


async def test_a_link_for_a_new_password_changes_no_name_and_no_address(console: Console) -> None:
    user = await console.person("viewer", "viewer@example.com")
    who, db = Actor(console.api.team_id, None, "Admin"), console.api.context.db
    _, secret = await password_links.make(db, who, user.id, console.api.clock())

    page = await console.post(f"/setup/{secret}", {"name": "Boss", "email": "boss@example.com", **NEW})

    assert page.status == 404
    assert (await users.one(db, user.team_id, user.id)).email == "viewer@example.com"


async def test_only_hashes_of_links_are_kept_and_no_log_has_their_secrets(
    console: Console, caplog: pytest.LogCaptureFixture
) -> None:
    user = await console.person("viewer")
    who, db = Actor(console.api.team_id, None, "Admin"), console.api.context.db
    _, secret = await password_links.make(db, who, user.id, console.api.clock())
    with structlog.testing.capture_logs() as lines, caplog.at_level(logging.DEBUG):
        await console.get(f"/reset/{secret}")
        async with db.connection() as tx:
            await tx.execute("ALTER TABLE password_links RENAME COLUMN until TO gone")
            assert (await console.get(f"/reset/{secret}")).status == 500
            await tx.execute("ALTER TABLE password_links RENAME COLUMN gone TO until")
            rows = await tx.fetch("SELECT p::text AS row FROM password_links p")
            log = await tx.fetch("SELECT a::text AS row FROM audit_log a")

    assert lines
    assert not [line for line in lines if secret in str(line)]
    assert secret not in caplog.text
    assert not [row for row in (*rows, *log) if secret in row["row"]]


async def test_who_forgot_the_password_gets_a_link_by_mail_and_strangers_get_none(console: Console) -> None:
    await console.person("viewer", "known@example.com")
    async with mailbox() as box:
        transport = Transport(allow_private=True, mailer=Mailer(box.url(), "Tocsin <tocsin@example.com>"))
        async with (
            served(console.api, public_url=PUBLIC_URL, transport=transport) as url,
            visiting(url, console.api) as browser,
        ):
            known = await browser.post("/forgot", {"email": "KNOWN@example.com"})
            stranger = await browser.post("/forgot", {"email": "nobody@example.com"})
            again = await browser.post("/forgot", {"email": "known@example.com"})
            async with asyncio.timeout(10):
                while not box.mails:
                    await asyncio.sleep(0.01)

            assert (known.status, stranger.status, again.status) == (200, 200, 200)
            assert known.words.replace("KNOWN", "nobody") == stranger.words
            [mail] = box.mails
            [path] = LINK.findall(mail.part("plain"))
            assert (await browser.post(path, NEW)).path == "/"
        await transport.close()


@pytest.mark.oldest
async def test_who_asks_in_another_s_name_ends_no_link_that_is_on_its_way(console: Console) -> None:
    user, db = await console.person("viewer", "known@example.com"), console.api.context.db
    secrets = []
    for _ in range(6):
        secrets += [
            recipient.secret for recipient in await password_links.ask(db, user.email, console.api.clock())
        ]
        console.api.clock.ahead += ASKED_EVERY

    assert len(secrets) == 6
    for secret in secrets:
        assert (await console.get(f"/reset/{secret}")).status == 200
    assert (await console.post(f"/reset/{secrets[0]}", NEW)).path == "/"
    assert (await console.get(f"/reset/{secrets[-1]}")).status == 404


async def test_no_stranger_locks_an_account_out(console: Console) -> None:
    owner = await console.person("viewer", "owner@example.com")
    proxies = (ip_network("127.0.0.1"),)
    async with (
        served(console.api, public_url=PUBLIC_URL, trusted_proxies=proxies) as url,
        visiting(url, console.api) as stranger,
        visiting(url, console.api) as known,
        visiting(url, console.api) as new,
    ):
        known.headers["X-Forwarded-For"], new.headers["X-Forwarded-For"] = "198.51.100.1", "198.51.100.2"
        assert (await known.sign_in(owner)).path == "/"
        await known.post("/sign-out")

        wrong = {"email": owner.email, "password": TOO_LONG}
        statuses = []
        for n in range(150):
            stranger.headers["X-Forwarded-For"] = f"203.0.113.{n % 12}"
            statuses.append((await stranger.post("/sign-in", wrong)).status)
            if statuses[-10:] == [429] * 10:
                break
        assert statuses.count(403) <= 110  # so many guesses, from twelve addresses together
        # From elsewhere by a browser that never was here: only so many addresses as these stop it.
        assert (await new.sign_in(owner)).status == 429
        stranger.headers["X-Forwarded-For"] = known.headers["X-Forwarded-For"]
        for _ in range(25):
            await stranger.post("/sign-in", wrong)

        assert (await known.sign_in(owner)).path == "/"
        await known.get("/settings/account")
        page = await known.post("/settings/account/password", {"old": PASSWORD, **NEW})
        assert "Password changed" in page.words
        assert (await new.post("/forgot", {"email": owner.email})).status == 200


async def test_one_stranger_s_address_stops_nobody_elsewhere(console: Console) -> None:
    owner, proxies = await console.person("viewer", "owner@example.com"), (ip_network("127.0.0.1"),)
    async with (
        served(console.api, public_url=PUBLIC_URL, trusted_proxies=proxies) as url,
        visiting(url, console.api) as stranger,
        visiting(url, console.api) as new,
    ):
        stranger.headers["X-Forwarded-For"], new.headers["X-Forwarded-For"] = "203.0.113.1", "198.51.100.2"
        wrong = {"email": owner.email, "password": TOO_LONG}
        statuses = [(await stranger.post("/sign-in", wrong)).status for _ in range(16)]
        assert statuses[-1] == 429

        assert (await new.sign_in(owner)).path == "/"


async def test_a_mark_of_another_account_or_an_old_password_is_worth_nothing(console: Console) -> None:
    owner, other = await console.person("viewer"), await console.person("viewer")
    await console.sign_in(other)
    await console.post("/sign-out")
    wrong = {"email": owner.email, "password": TOO_LONG}

    statuses = [(await console.post("/sign-in", wrong)).status for _ in range(12)]

    assert statuses == [403] * 10 + [429] * 2


async def test_invitations_of_older_teams_keep_nobody_out_of_their_own(console: Console) -> None:
    email, now = "wanted@example.com", console.api.clock()
    async with console.api.context.db.transaction() as tx:
        teams_of = [await teams.insert(tx, uuid7(), f"Team {n}", "free", now) for n in range(9)]
    for team in teams_of[:5]:
        await users.invite(console.api.context.db, Actor(team, None, "Admin"), {"email": email}, now)
    for team in teams_of[5:8]:
        await console.person("viewer", email, team, "a password of the other's")
    owner = await console.person("editor", email, teams_of[8])

    assert (await console.sign_in(owner)).path == "/"

    asked = await password_links.ask(console.api.context.db, email, now)
    assert {recipient.user.team_id for recipient in asked} == set(teams_of[5:])


async def test_an_invitation_is_mailed_and_shown_to_the_admin_too(console: Console) -> None:
    async with mailbox() as box:
        transport = Transport(allow_private=True, mailer=Mailer(box.url(), "Tocsin <tocsin@example.com>"))
        async with (
            served(console.api, public_url=PUBLIC_URL, transport=transport) as url,
            visiting(url, console.api) as browser,
        ):
            await browser.sign_in()
            await browser.get("/settings/users/new")
            fields = {"email": "new@example.com", "name": "New One", "role": "viewer"}
            page = await browser.post("/settings/users", fields)

            [mail] = box.mails
            assert mail.recipients == ["new@example.com"]
            assert set(LINK.findall(mail.part("plain"))) == set(LINK.findall(page.text))
            assert "It was mailed." in page.words

            box.answers["bad@example.com"] = ["550 no such user"]
            page = await browser.post("/settings/users", {**fields, "email": "bad@example.com"})
            assert "could not be mailed: 550 no such user" in page.words
            assert LINK.findall(page.text)
        await transport.close()


async def test_the_own_password_is_changed_with_the_old_one_alone(console: Console) -> None:
    user = await console.person("viewer")
    await console.sign_in(user)
    async with visiting(console.url, console.api) as second:
        await second.sign_in(user)
        await console.get("/settings/account")
        wrong = await console.post("/settings/account/password", {"old": "not this one", **NEW})
        assert (wrong.status, "is wrong" in wrong.words) == (400, True)

        page = await console.post("/settings/account/password", {"old": PASSWORD, **NEW})

        assert "Password changed" in page.words
        assert (await second.get("/")).path == "/sign-in"
        assert (await console.get("/")).path == "/"


async def test_a_session_by_token_sets_no_password(console: Console) -> None:
    await console.post("/sign-in", {"token": console.api.token})
    await console.get("/settings/account")

    page = await console.post("/settings/account/password", {"old": "", **NEW})

    assert page.status == 403


async def test_tries_are_limited_by_address_alike_for_known_and_unknown_accounts(console: Console) -> None:
    known = await console.person("viewer")
    answers = [
        await console.post("/sign-in", {"email": email, "password": "wrong password"})
        for _ in range(12)
        for email in (known.email, "nobody@example.com")
    ]

    statuses = [page.status for page in answers]
    assert statuses[:18] == [403] * 18
    assert statuses[-1] == 429
    assert int(answers[-1].headers["Retry-After"]) >= 1
    assert (await console.post("/sign-in", {"email": known.email, "password": PASSWORD})).status == 429
    assert timedelta() <= timedelta(seconds=int(answers[-1].headers["Retry-After"])) <= timedelta(minutes=1)
