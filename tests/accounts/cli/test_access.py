"""The operator's commands for tokens, teams and passwords, as processes beside a database that others use."""

import asyncio
import os
import sys

import pytest

from collector.accounts.core import passwords
from collector.accounts.service import password_links, tokens, two_factor
from collector.accounts.service import users as users_service
from collector.accounts.storage import teams, users
from collector.accounts.storage import two_factor as two_factor_table
from collector.accounts.storage.password_links import LinkKind
from collector.accounts.storage.tokens import Token
from collector.bootstrap import FirstStart, bootstrap
from collector.platform.access import Permission, operator
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.errors import NotFound
from shared.tokens import new_key

pytestmark = pytest.mark.races

KEY = new_key()
CREATE = ("token", "create", "--name", "robot", "--permission")


@pytest.fixture
async def made(db: Db) -> FirstStart:
    first = await bootstrap(db, plan="pro", admin_email="admin@example.com", token=None, now=utc_now())
    assert first is not None
    return first


async def tocsin(url: str, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
    """Exit status, output, and what it said."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "shared.command", *arguments,
        env={**kept, "TOCSIN_DATABASE_URL": url, "TOCSIN_SECRET_KEY": KEY},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, data = await process.communicate(stdin.encode())
    assert process.returncode is not None
    return process.returncode, out.decode(), data.decode()


async def found(db: Db, out: str) -> Token:
    """The token that a command printed, and nothing beside it."""
    [value] = out.splitlines()
    token = await tokens.find(db, value, utc_now())
    assert token is not None
    return token


async def deeds(db: Db) -> list[tuple[int, str, str, str]]:
    async with db.connection() as tx:
        rows = await tx.fetch("SELECT team_id, actor_kind, action, resource FROM audit_log ORDER BY at, id")
    return [tuple(row) for row in rows]


@pytest.mark.parametrize("permission", list(Permission))
async def test_a_token_is_printed_once_and_is_the_first_admins(
    db: Db, made: FirstStart, database_url: str, permission: Permission
) -> None:
    status, out, _ = await tocsin(database_url, *CREATE, permission.value)

    assert status == 0
    token = await found(db, out)
    assert (token.team_id, token.user_id) == (made.team_id, made.user_id)
    assert (token.permission, token.expires_at) == (permission, None)
    assert await deeds(db) == [(made.team_id, "operator", "create", "token")]


async def test_it_may_end_by_itself(db: Db, made: FirstStart, database_url: str) -> None:
    _, out, _ = await tocsin(database_url, *CREATE, "read-only", "--expires-in", "30d")

    token = await found(db, out)
    assert token.expires_at is not None
    assert 29 <= (token.expires_at - utc_now()).days <= 30


@pytest.mark.parametrize(
    "arguments",
    [
        ("token", "create", "--name", "robot", "--permission", "root"),
        ("token", "create", "--name", " ", "--permission", "admin"),
        ("token", "create", "--permission", "admin"),
        (*CREATE, "admin", "--expires-in", "soon"),
        (*CREATE, "admin", "--expires-in", "0d"),
        (*CREATE, "admin", "--expires-in", "99999999y"),
        ("team", "create", "Operations", "--plan", "gold"),
        ("team", "create", " ", "--plan", "pro"),
        ("team", "create", "Operations", "--plan", "pro", "--admin-email", "nobody"),
    ],
)
async def test_what_cannot_be_is_refused_and_makes_nothing(
    db: Db, made: FirstStart, database_url: str, arguments: tuple[str, ...]
) -> None:
    status, out, text = await tocsin(database_url, *arguments)

    assert (status, out) == (2, "")
    assert "Traceback" not in text
    assert await deeds(db) == []


async def test_a_further_team_has_an_admin_who_sees_nothing_of_the_first(
    db: Db, made: FirstStart, database_url: str
) -> None:
    status, out, _ = await tocsin(
        database_url, "team", "create", "Operations", "--plan", "developer", "--admin-email", "o@example.com"
    )

    assert status == 0
    token = await found(db, out)
    assert token.team_id != made.team_id
    assert token.permission is Permission.ADMIN
    async with db.connection() as tx:
        person = await teams.person(tx, token.team_id, token.user_id)
    assert person is not None
    assert (person.team_name, person.plan, person.email) == ("Operations", "developer", "o@example.com")


async def test_a_token_is_made_for_the_team_that_is_named(
    db: Db, made: FirstStart, database_url: str
) -> None:
    _, first, _ = await tocsin(database_url, "team", "create", "Operations", "--plan", "pro")
    _, out, _ = await tocsin(database_url, *CREATE, "read-only", "--team", "Operations")
    status, _, text = await tocsin(database_url, *CREATE, "read-only", "--team", "Nobody")

    assert (await found(db, out)).team_id == (await found(db, first)).team_id
    assert (status, text.strip()) == (1, "tocsin: there is no team called Nobody")


async def test_before_the_first_start_there_is_no_team_to_make_a_token_for(database_url: str) -> None:
    status, out, text = await tocsin(database_url, *CREATE, "admin")

    assert (status, out) == (1, "")
    assert "start a collector first" in text


async def test_a_password_comes_from_stdin(db: Db, made: FirstStart, database_url: str) -> None:
    status, out, text = await tocsin(
        database_url, "user", "passwd", "Admin@example.com", stdin="a long password\n"
    )

    assert status == 0
    assert "a long password" not in out + text
    async with db.connection() as tx:
        kept = await users.password(tx, made.team_id, made.user_id)
    assert kept is not None
    assert passwords.matches("a long password", kept)
    assert await deeds(db) == [(made.team_id, "operator", "set-password", "user")]


async def test_or_is_made_and_printed(db: Db, made: FirstStart, database_url: str) -> None:
    _, out, _ = await tocsin(database_url, "user", "passwd", "admin@example.com", "--generate")

    async with db.connection() as tx:
        kept = await users.password(tx, made.team_id, made.user_id)
    assert kept is not None
    assert passwords.matches(out.strip(), kept)


async def test_a_set_up_link_is_printed_while_there_is_no_password_and_ends_the_older_one(
    db: Db, made: FirstStart, database_url: str
) -> None:
    first, second = [await tocsin(database_url, "user", "setup-link") for _ in range(2)]

    assert (first[0], second[0]) == (0, 0)
    links = [out.strip() for _, out, _ in (first, second)]
    assert all(link.startswith("http://127.0.0.1:8080/setup/") for link in links)
    secrets = [link.rpartition("/")[2] for link in links]
    with pytest.raises(NotFound):
        await password_links.find(db, LinkKind.FIRST, secrets[0], utc_now())
    linked = await password_links.find(db, LinkKind.FIRST, secrets[1], utc_now())
    assert linked.user_id == made.user_id

    await users_service.set_password(db, "admin@example.com", None, "a long password")
    status, out, text = await tocsin(database_url, "user", "setup-link")
    assert (status, out) == (1, "")
    assert "admin@example.com has a password" in text


async def test_two_factor_authentication_is_turned_off_for_who_lost_it(
    db: Db, made: FirstStart, database_url: str
) -> None:
    who = operator(made.team_id)
    await two_factor.begin(db, Keyring.parse(KEY), who, made.user_id, utc_now())
    async with db.transaction() as tx:
        await two_factor_table.confirm(tx, made.team_id, made.user_id, utc_now())

    off = ("user", "two-factor-off", "admin@example.com")
    status, out, _ = await tocsin(database_url, *off)
    assert (status, out) == (0, "admin@example.com: two-factor authentication is off\n")
    assert not await two_factor.is_on(db, made.team_id, made.user_id)
    assert await deeds(db) == [(made.team_id, "operator", "disable-two-factor", "user")]

    status, _, text = await tocsin(database_url, *off)
    assert (status, text) == (1, "tocsin: admin@example.com signs in without a second factor\n")
    status, _, text = await tocsin(database_url, "user", "two-factor-off")
    assert (status, "EMAIL: is required" in text) == (2, True)


async def test_too_short_a_password_and_nobody_are_refused(made: FirstStart, database_url: str) -> None:
    status, _, text = await tocsin(database_url, "user", "passwd", "admin@example.com", stdin="short\n")
    assert (status, "must be 10 to 1024" in text) == (2, True)

    status, _, text = await tocsin(
        database_url, "user", "passwd", "no@example.com", stdin="a long password\n"
    )
    assert (status, text.strip()) == (1, "tocsin: no user has the address no@example.com")


async def test_where_two_teams_have_somebody_of_that_name_one_is_asked_for(
    db: Db, made: FirstStart, database_url: str
) -> None:
    await tocsin(
        database_url, "team", "create", "Other", "--plan", "pro", "--admin-email", "admin@example.com"
    )

    passwd = ("user", "passwd", "admin@example.com", "--generate")
    status, _, text = await tocsin(database_url, *passwd)
    assert (status, "several users have" in text) == (1, True)
    assert (await tocsin(database_url, *passwd, "--team", "Other"))[0] == 0


async def test_a_team_of_a_name_in_use_is_made_only_when_that_is_meant(
    db: Db, made: FirstStart, database_url: str
) -> None:
    create = ("team", "create", "Operations", "--plan", "pro")
    _, first, warned = await tocsin(database_url, *create, "--allow-private-targets", "true")
    status, out, text = await tocsin(database_url, *create)
    _, second, quiet = await tocsin(database_url, *create, "--again", "--allow-private-targets", "false")

    assert (status, out) == (1, "")
    assert "There is a team called Operations already; --again makes another one" in text
    assert (await found(db, first)).team_id != (await found(db, second)).team_id
    assert "TOCSIN_ALLOW_PRIVATE_TARGETS=false on every collector and probe" in warned
    assert "ALLOW_PRIVATE" not in quiet
