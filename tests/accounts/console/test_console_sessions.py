"""Sign-in, sessions and sign-out of the console."""

from datetime import timedelta

import pytest

from collector.accounts.service import tokens, users
from collector.console.session import IDLE, LIFE
from collector.platform.access import Permission
from shared import ids
from tests.console.client import PASSWORD, Console, visiting


async def test_who_is_not_signed_in_is_sent_to_the_door_and_back(console: Console) -> None:
    page = await console.get("/settings/tokens?page=2")

    assert page.path.startswith("/sign-in?next=")
    user = await console.person("admin")
    fields = {"email": user.email, "password": PASSWORD, "next": "/settings/tokens?page=2"}
    assert (await console.post("/sign-in", fields)).path == "/settings/tokens?page=2"


async def test_a_session_s_cookie_is_out_of_reach_of_scripts_and_other_sites(console: Console) -> None:
    user = await console.person("viewer")
    page = await console.post("/sign-in", {"email": user.email, "password": PASSWORD}, allow_redirects=False)

    cookie = page.headers["Set-Cookie"]
    assert (page.status, page.headers["Location"]) == (303, "/")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}


async def test_under_https_the_cookie_is_bound_to_this_host(console: Console) -> None:
    user = await console.person("viewer")
    address = console.api.url  # its public URL is https

    async with console.session.post(
        f"{address}/sign-in",
        data={"email": user.email, "password": PASSWORD},
        headers={"Origin": address},
        allow_redirects=False,
    ) as page:
        cookie = page.headers["Set-Cookie"]

    assert cookie.startswith("__Host-tocsin_session=")
    assert "Secure" in cookie
    assert "Domain" not in cookie


async def test_only_the_hash_of_a_cookie_is_kept(console: Console) -> None:
    await console.sign_in()
    cookie = console.cookies["tocsin_session"]

    async with console.api.context.db.connection() as tx:
        rows = await tx.fetch("SELECT s::text AS row FROM console_sessions s")
        log = await tx.fetch("SELECT a::text AS row FROM audit_log a")

    assert len(rows) == 1
    assert not [row for row in (*rows, *log) if cookie in row["row"]]


@pytest.mark.parametrize("after", [IDLE, LIFE])
async def test_a_session_ends_when_it_is_left_alone_or_too_old(console: Console, after: timedelta) -> None:
    await console.sign_in()
    assert (await console.get("/")).path == "/"

    console.api.clock.ahead = after

    assert (await console.get("/")).path == "/sign-in"


@pytest.mark.oldest
async def test_a_session_in_use_stays_but_not_for_ever(console: Console) -> None:
    await console.sign_in()

    half = IDLE / 2
    for times in range(1, LIFE // half):
        console.api.clock.ahead = half * times
        assert (await console.get("/")).path == "/"

    console.api.clock.ahead = LIFE
    assert (await console.get("/")).path == "/sign-in"


async def test_sign_out_ends_the_session_for_whoever_has_its_cookie(console: Console) -> None:
    await console.sign_in()
    cookie = console.cookies["tocsin_session"]

    assert (await console.post("/sign-out")).path == "/sign-in"

    again = await console.get("/", headers={"Cookie": f"tocsin_session={cookie}"})
    assert again.path == "/sign-in"


async def test_sign_out_everywhere_ends_all_sessions_of_the_user_and_of_nobody_else(console: Console) -> None:
    user = await console.person("admin")
    await console.sign_in(user)
    async with visiting(console.url, console.api) as second, visiting(console.url, console.api) as other:
        await second.sign_in(user)
        await other.sign_in()

        await second.post("/sign-out-everywhere")

        assert (await console.get("/")).path == "/sign-in"
        assert (await second.get("/")).path == "/sign-in"
        assert (await other.get("/")).path == "/"


async def test_a_token_signs_in_and_the_session_ends_with_it(console: Console) -> None:
    writer = await console.api.writer()

    assert (await console.post("/sign-in", {"token": writer.token})).path == "/"
    assert (await console.get("/settings/tokens")).status == 403

    token = await tokens.find(console.api.context.db, str(writer.token), console.api.clock())
    assert token is not None
    async with console.api.context.db.transaction() as tx:
        await tx.execute("UPDATE tokens SET revoked_at = now() WHERE id = $1", token.id)
    assert (await console.get("/")).path == "/sign-in"


async def test_a_token_never_grants_more_than_its_owner_s_role_does_now(console: Console) -> None:
    admin = await console.api.allowed(Permission.ADMIN)
    await console.post("/sign-in", {"token": admin.token})
    assert (await console.get("/settings/tokens")).status == 200

    async with console.api.context.db.transaction() as tx:
        await tx.execute("UPDATE users SET role = 'viewer'")

    assert (await console.get("/settings/tokens")).status == 403


@pytest.mark.parametrize("token", ["tocsin_" + "a" * 40, "x" * 20, "x" * 600, "\udcff"])
async def test_a_bad_token_opens_nothing(console: Console, token: str) -> None:
    page = await console.post("/sign-in", {"token": token.encode("utf-8", "replace").decode()})

    assert page.status == 403
    assert "invalid, expired or revoked" in page.words
    assert token not in page.text


async def test_a_password_set_by_the_operator_ends_the_user_s_sessions(console: Console) -> None:
    user = await console.person("admin")
    await console.sign_in(user)
    assert (await console.get("/settings/account")).path == "/settings/account"

    await users.set_password(console.api.context.db, user.email, user.team_id, f"{PASSWORD} and another")

    assert (await console.get("/settings/account")).path.startswith("/sign-in")


async def test_who_is_removed_is_out_at_once(console: Console) -> None:
    user = await console.person("editor")
    await console.sign_in(user)

    async with console.api.context.db.transaction() as tx:
        await tx.execute("DELETE FROM users WHERE id = $1", user.id)

    assert (await console.get("/")).path == "/sign-in"


@pytest.mark.parametrize("email", ["nobody@example.com", "admin@example.com", "", "\0", "x" * 400])
async def test_a_wrong_address_and_a_wrong_password_are_told_alike(console: Console, email: str) -> None:
    known = await console.person("admin", "somebody@example.com")
    wrong = await console.post("/sign-in", {"email": known.email, "password": "a wrong password"})

    page = await console.post("/sign-in", {"email": email, "password": PASSWORD})

    assert (page.status, wrong.status) == (403, 403)
    assert "Wrong email address or password." in page.words
    assert page.text.replace(email, known.email) == wrong.text if email.isprintable() and email else True


async def test_one_address_in_two_teams_is_asked_which(console: Console) -> None:
    other = await console.api.other_team()
    await console.person("admin", "both@example.com")
    theirs = await console.person("viewer", "both@example.com", other.team_id)

    page = await console.post("/sign-in", {"email": "both@example.com", "password": PASSWORD})
    assert "Which" in page.words or "several teams" in page.words

    fields = {"email": "both@example.com", "password": PASSWORD, "user": ids.show("usr", theirs.id)}
    page = await console.post("/sign-in", fields)

    assert page.path == "/"
    assert "Other" in page.words


@pytest.mark.parametrize(
    "next_",
    ["//evil.example.com", "https://evil.example.com", "/\\evil.example.com", "javascript:alert(1)", "/\n"],
)
async def test_the_way_back_leads_nowhere_else(console: Console, next_: str) -> None:
    user = await console.person("viewer")
    fields = {"email": user.email, "password": PASSWORD, "next": next_}

    page = await console.post("/sign-in", fields, allow_redirects=False)

    assert page.headers["Location"] == "/"
