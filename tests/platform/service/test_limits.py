"""Rate limits of several collectors over one database: their shares add up, and cost few writes."""

import asyncio
import time
from uuid import UUID, uuid4

import pytest

from collector.platform import limits as services
from collector.platform.bucket import PLANS, TeamPlan, plans
from collector.platform.limits import Limits
from collector.platform.storage import limits as table
from collector.platform.storage.db import Db

pytestmark = pytest.mark.races

TEAM = 7
COUNTED = """
    CREATE SEQUENCE writes;
    CREATE FUNCTION count_write() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM nextval('writes'); RETURN NULL; END $$;
    CREATE TRIGGER counted AFTER INSERT OR UPDATE ON rate_buckets
        FOR EACH STATEMENT EXECUTE FUNCTION count_write();
"""


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Replicas:
    """Collectors that know of each other by the database alone."""

    def __init__(self, db: Db, count: int, **enterprise: int) -> None:
        self.clock = Clock()
        known = plans(enterprise.get("per_minute"), enterprise.get("burst"))
        self.all = [Limits(db, known, self.clock) for _ in range(count)]


@pytest.fixture
def two(db: Db) -> Replicas:
    return Replicas(db, 2)


async def admitted(limits: Limits, token: UUID, plan: str, requests: int) -> int:
    standings = await asyncio.gather(*(limits.token(TEAM, token, plan) for _ in range(requests)))
    return sum(state.admitted for state in standings)


def refilled(plan: str, since: float) -> float:
    """What the database, by a clock of its own, has filled in meanwhile: much where a machine is busy."""
    return PLANS[plan].per_second * (time.monotonic() - since)


@pytest.mark.parametrize("plan", ["free", "developer", "pro"])
async def test_one_collector_lets_exactly_the_burst_through(db: Db, plan: str) -> None:
    [limits], token = Replicas(db, 1).all, uuid4()
    began = time.monotonic()

    through = await admitted(limits, token, plan, PLANS[plan].burst + 100)

    assert PLANS[plan].burst <= through <= PLANS[plan].burst * 1.02 + refilled(plan, began)


@pytest.mark.parametrize("plan", ["free", "pro"])
async def test_the_buckets_of_two_collectors_add_up(
    db: Db, two: Replicas, plan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A database that a busy machine holds up for a second is not away: nobody gets credit here.
    monkeypatch.setattr(services, "_PATIENCE_S", 30.0)
    # A connection each: while the first opens, the other collector would draw most of the bucket.
    async with db.connection(), db.connection():
        pass
    token, burst, began = uuid4(), PLANS[plan].burst, time.monotonic()

    through = await asyncio.gather(*(admitted(limits, token, plan, burst) for limits in two.all))

    assert burst * 0.9 <= sum(through) <= burst * 1.1 + refilled(plan, began)
    assert min(through) > 0


async def test_a_token_spent_on_one_collector_is_refused_by_the_other(two: Replicas) -> None:
    token, (here, there) = uuid4(), two.all
    await admitted(here, token, "free", 300)

    assert await admitted(there, token, "free", 50) <= 3


async def test_each_token_has_a_bucket_of_its_own(two: Replicas) -> None:
    limits = two.all[0]
    await admitted(limits, uuid4(), "free", 300)

    assert await admitted(limits, uuid4(), "free", 100) == 100


async def test_what_lies_idle_comes_back(two: Replicas) -> None:
    token, (here, there) = uuid4(), two.all
    await admitted(here, token, "free", 100)
    two.clock.now += 1.5
    await here.turn()

    assert 100 <= await admitted(there, token, "free", 300) <= 104


async def test_at_its_end_a_collector_gives_everything_back(two: Replicas) -> None:
    token, (here, there) = uuid4(), two.all
    await admitted(here, token, "free", 100)
    await here.close()

    assert 100 <= await admitted(there, token, "free", 300) <= 104


async def test_addresses_are_counted_together_too(two: Replicas) -> None:
    address, (here, there) = b"\xcb\x00\x71\x05", two.all
    for _ in range(190):
        assert (await here.address(address)).admitted
    await here.turn()

    through = [(await there.address(address)).admitted for _ in range(50)]

    assert sum(through) <= 20


async def test_looking_at_a_bucket_takes_nothing(two: Replicas) -> None:
    limits = two.all[0]

    assert [limits.look(b"\x7f").remaining for _ in range(3)] == [200] * 3
    await limits.address(b"\x7f")
    assert limits.look(b"\x7f").remaining == 199


async def test_requests_are_many_and_writes_are_few(db: Db) -> None:
    replicas = Replicas(db, 1, per_minute=6_000, burst=10_000)
    [limits], token = replicas.all, uuid4()
    async with db.connection() as tx:
        await tx.execute(COUNTED)
        for _ in range(20):
            assert await admitted(limits, token, "enterprise", 100) == 100
            replicas.clock.now += 1
            await limits.turn()

        assert await tx.fetchval("SELECT last_value FROM writes") <= 60


async def test_without_a_database_each_collector_counts_alone(database_url: str) -> None:
    db = await Db.open(database_url, size=1)
    replicas = Replicas(db, 1)
    [limits], token = replicas.all, uuid4()
    await db.close()

    assert await admitted(limits, token, "free", 300) == 200
    assert sum([(await limits.address(b"\x01")).admitted for _ in range(300)]) == 200


async def test_a_flood_of_addresses_stays_small(two: Replicas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.platform.limits._MOST_SHARES", 1000)
    limits = two.all[0]
    for number in range(5000):
        assert (await limits.address(number.to_bytes(8))).admitted

    assert len(limits._addresses) == len(limits._touched) == 1000
    while await limits.turn():
        pass
    two.clock.now += 300
    while await limits.turn():
        pass
    assert not limits._addresses
    assert not limits._touched


@pytest.mark.oldest
async def test_full_buckets_are_swept(db: Db, two: Replicas) -> None:
    await two.all[0].address(b"\x02")
    await two.all[0].turn()
    async with db.connection() as tx:
        assert await tx.fetchval("SELECT count(*) FROM rate_buckets") == 1
        assert await table.sweep(tx, 10) == 0
        await tx.execute("UPDATE rate_buckets SET full_at = full_at - interval '1 hour'")
        assert await table.sweep(tx, 10) == 1


async def test_a_plan_that_changes_counts_at_once(two: Replicas) -> None:
    token, limits = uuid4(), two.all[0]
    await limits.token(TEAM, token, "free")

    assert (await limits.token(TEAM, token, "pro")).plan == TeamPlan(1000, 2000)
