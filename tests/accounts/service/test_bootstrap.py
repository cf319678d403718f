"""The first start makes one team, once; a key that is needed and missing stops the start."""

import asyncio

import pytest

from collector.accounts.service import tokens
from collector.accounts.storage import teams
from collector.bootstrap import FirstStart, bootstrap, check_keys
from collector.platform.access import Permission
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.errors import BadSettings, CannotStart
from shared.tokens import checksum_ok, new_key, new_token

pytestmark = pytest.mark.races

NOW = utc_now()


async def start(db: Db, token: str | None = None) -> FirstStart | None:
    return await bootstrap(db, plan="free", admin_email="ops@example.com", token=token, now=NOW)


async def test_a_new_database_gets_a_team_an_admin_and_a_token(db: Db) -> None:
    made = await start(db)

    assert made is not None
    assert checksum_ok(made.token)
    token = await tokens.find(db, made.token, NOW)
    assert token is not None
    assert (token.team_id, token.user_id, token.permission) == (made.team_id, made.user_id, Permission.ADMIN)
    async with db.connection() as tx:
        person = await teams.person(tx, made.team_id, made.user_id)
    assert person is not None
    assert (person.email, person.role, person.team_name, person.plan) == (
        "ops@example.com", "admin", "Default", "free",
    )  # fmt: skip


async def test_the_second_start_makes_nothing(db: Db) -> None:
    await start(db)

    assert await start(db) is None
    assert await start(db, new_token()) is None


async def test_collectors_that_start_together_make_one_team(db: Db) -> None:
    async with asyncio.timeout(30):
        made = await asyncio.gather(*[start(db) for _ in range(6)])

    assert len([first_start for first_start in made if first_start]) == 1


@pytest.mark.parametrize("token", [new_token(), "sixteen letters!", "s" * 512])
async def test_the_operator_may_choose_the_token(db: Db, token: str) -> None:
    made = await start(db, token)

    assert made is not None
    assert made.token == token
    assert await tokens.find(db, token, NOW) is not None


@pytest.mark.parametrize(
    "token", ["fifteen letters", "s" * 513, new_token()[:-1] + "!", "tocsin_" + "a" * 40]
)
async def test_a_token_that_could_not_be_used_is_a_bad_setting(db: Db, token: str) -> None:
    with pytest.raises(BadSettings, match="TOCSIN_BOOTSTRAP_TOKEN") as caught:
        await start(db, token)

    assert token not in str(caught.value)


async def test_the_same_key_opens_the_database_again(db: Db) -> None:
    key = new_key()

    await check_keys(db, Keyring.parse(key), NOW)
    await check_keys(db, Keyring.parse(key), NOW)


async def test_a_wrong_key_stops_the_start_and_names_the_right_one(db: Db) -> None:
    right = Keyring.parse(new_key())
    await check_keys(db, right, NOW)

    with pytest.raises(CannotStart, match=right.first.hex()):
        await check_keys(db, Keyring.parse(new_key()), NOW)


async def test_a_key_that_was_rotated_out_is_still_needed(db: Db) -> None:
    old, new = new_key(), new_key()
    await check_keys(db, Keyring.parse(old), NOW)
    await check_keys(db, Keyring.parse(f"{new},{old}"), NOW)

    await check_keys(db, Keyring.parse(f"{old},{new}"), NOW)
    for alone in (old, new):
        with pytest.raises(CannotStart):
            await check_keys(db, Keyring.parse(alone), NOW)


async def test_a_key_that_only_opens_is_not_needed_afterwards(db: Db) -> None:
    first, spare = new_key(), new_key()
    await check_keys(db, Keyring.parse(f"{first},{spare}"), NOW)

    await check_keys(db, Keyring.parse(first), NOW)


async def test_collectors_that_start_together_agree_on_the_keys(db: Db) -> None:
    keyring = Keyring.parse(new_key())

    async with asyncio.timeout(30):
        await asyncio.gather(*[check_keys(db, keyring, NOW) for _ in range(6)])
