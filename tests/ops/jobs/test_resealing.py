"""A change of keys: everything sealed is sealed anew, and the old key is needed no more."""

import asyncio
import base64
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from collector.accounts.service import two_factor
from collector.bootstrap import bootstrap, check_keys
from collector.http import storage
from collector.http.storage import IdempotentRequest, StoredAnswer
from collector.monitors.service import creation, monitors
from collector.monitors.service.columns import whole_config
from collector.monitors.storage import monitors as table
from collector.monitors.storage.monitors import Monitor
from collector.notifications.service import channels
from collector.ops.jobs.reseal import Resealing
from collector.platform.access import operator, system
from collector.platform.context import ServiceContext
from collector.platform.seal import Keyring, SealScope, Unsealable
from collector.platform.signals import Signals
from collector.platform.storage.db import Db, Tx
from collector.platform.storage.sealed import COLUMNS
from collector.probes.service import authority
from shared.clock import utc_now
from shared.errors import CannotStart
from shared.ids import uuid7
from shared.tokens import new_key

pytestmark = pytest.mark.races

OLD, NEW = new_key(), new_key()
BOTH = f"{NEW},{OLD}"
SECRET = "the-seeded-secret-of-the-shop"
KEY = bytes(range(32))
MANY = 450


def ring(text: str) -> Keyring:
    return Keyring.parse(text)


async def start(db: Db, keys: str) -> Keyring:
    """As a collector starts."""
    await check_keys(db, ring(keys), utc_now())
    return ring(keys)


async def settle(db: Db, keyring: Keyring) -> int:
    """Turns until there is nothing more to do; how many it took."""
    sweeper, turns = Resealing(db, keyring), 1
    async with asyncio.timeout(60):
        while await sweeper.turn():
            turns += 1
    return turns


async def fill(db: Db, keys: str, count: int = 1) -> int:
    """Secrets of every kind under the first of *keys*: the team."""
    keyring = await start(db, keys)
    made = await bootstrap(db, plan="free", admin_email="ops@example.com", token=None, now=utc_now())
    assert made is not None
    await authority.trust(db, keyring, utc_now())
    means = ServiceContext(db, keyring, Signals(db), 1)
    body = {
        "name": "shop",
        "type": "http",
        "config": {"url": "https://shop.example.com/", "headers": {"X-Key": SECRET}},
    }
    for _ in range(count):
        await creation.create(means, made.team_id, body, utc_now())
    hook = {"name": "Ops", "type": "webhook", "config": {"url": f"https://hooks.example.com/{SECRET}"}}
    await channels.create(db, keyring, system(made.team_id), hook, utc_now())
    await two_factor.begin(db, keyring, operator(made.team_id), made.user_id, utc_now())
    async with db.transaction() as tx:
        kept = StoredAnswer(b"", 201, {}, keyring.seal(SECRET.encode(), answer_of(made.team_id)))
        await storage.keep(tx, IdempotentRequest(made.team_id, uuid7(), KEY, b""), kept, utc_now())
    return made.team_id


def answer_of(team_id: int) -> SealScope:
    return SealScope(team_id, "idempotency_keys", KEY.hex(), "answer")


async def opened(db: Db, keyring: Keyring) -> list[bytes]:
    """Every sealed value there is, opened; those of Column in platform/storage/sealed.py alone."""
    found = []
    async with db.connection() as tx:
        for column in COLUMNS:
            rows = await tx.fetch(
                f"""
                SELECT {column.team} AS team, {column.row} AS row, {column.name} AS sealed
                FROM {column.table}
                """
            )
            found += [
                keyring.open(row["sealed"], SealScope(row["team"], column.table, row["row"], column.name))
                for row in rows
            ]
    return found


async def test_after_a_rotation_the_old_key_may_be_dropped(db: Db) -> None:
    await fill(db, OLD)
    before = await opened(db, ring(OLD))

    await settle(db, await start(db, BOTH))

    alone = await start(db, NEW)
    assert await opened(db, alone) == before
    assert len(before) == 5
    with pytest.raises(CannotStart):
        await start(db, OLD)


@pytest.mark.parametrize("first", [OLD, NEW])
async def test_it_says_when_the_other_keys_may_be_dropped_also_when_nothing_was_left_to_do(
    db: Db, first: str
) -> None:
    await fill(db, first)
    keyring = await start(db, BOTH)

    with capture_logs() as mappings:
        await settle(db, keyring)

    assert mappings[-1]["event"] == "secrets are sealed with the first key: the others may be dropped"


async def test_before_it_is_over_the_old_key_is_needed(db: Db) -> None:
    await fill(db, OLD)
    await start(db, BOTH)

    with pytest.raises(CannotStart, match=ring(OLD).first.hex()):
        await start(db, NEW)


async def test_each_turn_does_a_few_and_two_collectors_share_the_work(db: Db) -> None:
    team = await fill(db, OLD)
    async with db.transaction() as tx:
        keyring = ring(OLD)
        for at in range(MANY):
            id_ = uuid7()
            sealed = keyring.seal(b"{}", SealScope(team, "channels", id_, "secrets"))
            await tx.execute(
                """
                INSERT INTO channels
                    (team_id, id, name, type, enabled, config, secrets, created_at, updated_at)
                VALUES ($1, $2, $3, 'webhook', false, '{}', $4, now(), now())
                """,
                team, id_, str(at), sealed,
            )  # fmt: skip
    keyring = await start(db, BOTH)

    turns = await asyncio.gather(settle(db, keyring), settle(db, keyring))

    assert max(turns) > 2
    assert len(await opened(db, await start(db, NEW))) == MANY + 5


async def test_it_goes_on_while_secrets_are_changed(db: Db) -> None:
    team = await fill(db, OLD, count=20)
    keyring = await start(db, BOTH)
    means = ServiceContext(db, keyring, Signals(db), 1)
    async with db.connection() as tx:
        ids = [row["id"] for row in await tx.fetch("SELECT id FROM monitors")]

    async def change(id_: Any) -> None:
        body = {"config": {"headers": {"X-Key": f"{SECRET} {id_}"}}}
        await monitors.update(means, team, id_, body, utc_now())

    await asyncio.gather(settle(db, keyring), *[change(id_) for id_ in ids])
    await settle(db, keyring)

    plain = await opened(db, await start(db, NEW))
    assert all(any(f"{SECRET} {id_}".encode() in one for one in plain) for id_ in ids)


@pytest.mark.oldest
async def test_secrets_in_urls_that_earlier_versions_kept_open_are_sealed(db: Db) -> None:
    team = await fill(db, OLD, count=3)
    keyring, url = ring(OLD), f"https://shop.example.com/?api_key={SECRET}"
    async with db.transaction() as tx:
        await tx.execute("UPDATE monitors SET config = config || jsonb_build_object('url', $1::text)", url)
        before = await _all(tx, team)

    assert await settle(db, keyring) == 2

    async with db.connection() as tx:
        after = await _all(tx, team)
    assert [monitor.config["url"] for monitor in after] == [url.replace(SECRET, "********")] * 3
    wanted = {"url": url, "headers": {"X-Key": SECRET}}
    assert all(whole_config(keyring, monitor).items() >= wanted.items() for monitor in after)
    assert [monitor.revision for monitor in after] == [monitor.revision for monitor in before]


async def test_with_one_key_there_is_nothing_to_do(db: Db) -> None:
    await fill(db, OLD)

    assert await settle(db, ring(OLD)) == 1


async def test_a_collector_that_has_not_been_restarted_yet_seals_nothing_back(db: Db) -> None:
    await fill(db, OLD)
    new = await start(db, BOTH)
    await settle(db, new)

    await settle(db, ring(f"{OLD},{NEW}"))

    assert await opened(db, ring(NEW))


async def test_what_such_a_collector_sealed_since_is_noticed_at_the_next_start(db: Db) -> None:
    team = await fill(db, OLD)
    await settle(db, await start(db, BOTH))
    hook = {"name": "Late", "type": "webhook", "config": {"url": "https://hooks.example.com/late"}}
    await channels.create(db, ring(OLD), system(team), hook, utc_now())

    with pytest.raises(CannotStart, match=ring(OLD).first.hex()):
        await start(db, NEW)

    await settle(db, await start(db, BOTH))
    assert await start(db, NEW)


async def test_a_rotation_can_be_taken_back(db: Db) -> None:
    await fill(db, OLD)
    await settle(db, await start(db, BOTH))

    await settle(db, await start(db, f"{OLD},{NEW}"))

    assert len(await opened(db, await start(db, OLD))) == 5


async def test_the_authority_is_the_same_under_another_key(db: Db) -> None:
    await fill(db, OLD)
    before = await authority.trust(db, ring(OLD), utc_now())
    await settle(db, await start(db, BOTH))

    after = await authority.trust(db, ring(NEW), utc_now() + timedelta(minutes=1))

    assert after.bundle == before.bundle


async def test_swapped_values_do_not_open(db: Db) -> None:
    """Whoever can write to the database still cannot have one team's secrets shown to another."""
    await fill(db, OLD, count=2)
    async with db.transaction() as tx:
        await tx.execute(
            """
            UPDATE monitors m SET secrets = o.secrets FROM monitors o
            WHERE o.team_id = m.team_id AND o.id <> m.id
            """
        )

    with pytest.raises(Unsealable, match="does not open where it lies"):
        await opened(db, ring(OLD))


async def test_every_column_that_looks_sealed_is_in_the_table(db: Db) -> None:
    """A new table with secrets must be listed, or its old keys could never be dropped."""
    async with db.connection() as tx:
        rows = await tx.fetch(
            """
            SELECT table_name, column_name FROM information_schema.columns
            WHERE table_schema = 'public' AND data_type = 'bytea'
                AND column_name ~ '(secret|sealed|password|token|private)'
            """
        )

    # The first is a hash.
    by_name = {(row["table_name"], row["column_name"]) for row in rows} - {("mail_addresses", "secret")}
    assert by_name | {("idempotency_keys", "answer")} == {(column.table, column.name) for column in COLUMNS}


async def test_nothing_that_leaves_the_database_holds_a_secret(db: Db) -> None:
    """As a dump would: every row of every table, as text."""
    await fill(db, OLD)
    raw = base64.urlsafe_b64decode(OLD)

    async with db.connection() as tx:
        names = await tx.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for name in (row["tablename"] for row in names):
            for row in await tx.fetch(f'SELECT t::text AS line FROM "{name}" t'):
                for secret in (SECRET.encode(), raw):
                    assert secret.hex() not in row["line"]
                    assert secret.decode("latin-1") not in row["line"]
                assert OLD not in row["line"]


async def _all(tx: Tx, team: int) -> list[Monitor]:
    return await table.some(tx, team, [id_ for id_, _ in await table.all_names(tx, team)])
