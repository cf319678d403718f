"""Daily partitions of results: created ahead of time, dropped once they are packed or expired."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

from collector.platform.storage.db import Tx
from shared.wire.convert import SPOOL_AGE_S

AHEAD = timedelta(days=3)
# A probe's spool may hold results as old as this.
BACK = timedelta(seconds=SPOOL_AGE_S)

_PREFIX = "results_"
_FORMAT = "%Y_%m_%d"


async def give_way(tx: Tx) -> None:
    """Fail with LockNotAvailable rather than queue behind a long read and block all others."""
    await tx.execute("SET LOCAL lock_timeout = '1s'")


async def make(tx: Tx, today: date) -> list[str]:
    """Create the missing partitions from BACK to AHEAD of *today*; return their names.

    Rows in the default partition that belong to a new day move to it.
    """
    return await make_days(tx, [today - BACK + timedelta(days=n) for n in range((BACK + AHEAD).days + 1)])


async def make_days(tx: Tx, days: Iterable[date]) -> list[str]:
    """As `make`, for these days."""
    there = set(await _names(tx))
    missing = {name: day for day in days if (name := _name(day)) not in there}
    if missing:
        # Block inserts for one of these days while it is created.
        await tx.execute("LOCK TABLE results_default IN ACCESS EXCLUSIVE MODE")
    for name, day in missing.items():
        await _make_day(tx, name, day)
    return list(missing)


async def days(tx: Tx) -> list[date]:
    """Return the days that have a partition, the oldest first."""
    return [of for name in await _names(tx) if (of := day_of(name))]


async def _names(tx: Tx) -> list[str]:
    rows = await tx.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'results'::regclass"
    )
    return sorted(row["name"] for row in rows)


async def _make_day(tx: Tx, name: str, day: date) -> None:
    first = start(day)
    last = first + timedelta(days=1)
    await tx.execute(f"CREATE TABLE {name} (LIKE results INCLUDING ALL)")
    await tx.execute(
        f"""
        WITH strays AS (DELETE FROM results_default WHERE ts >= $1 AND ts < $2 RETURNING *)
        INSERT INTO {name} SELECT * FROM strays
        """,
        first,
        last,
    )
    await tx.execute(
        f"ALTER TABLE results ATTACH PARTITION {name} "
        f"FOR VALUES FROM ('{first.isoformat()}') TO ('{last.isoformat()}')"
    )


async def before(tx: Tx, day: date) -> list[str]:
    """Return the partitions of all days before *day*."""
    return [name for name in await _names(tx) if (of := day_of(name)) and of < day]


async def oldest(tx: Tx) -> datetime | None:
    """Return the start of the oldest day with any result, packed or not; None without any."""
    packed = await _first_packed(tx)
    for day in await days(tx):
        if packed and packed <= start(day):
            break
        if await _has_rows(tx, _name(day)):
            return start(day)
    stray: datetime | None = await tx.fetchval("SELECT min(ts) FROM results_default")
    return packed or (stray and start(stray.date()))


async def first(tx: Tx) -> datetime | None:
    """Return the start of the first day that has a partition, or packed results."""
    days_of_rows, packed = await days(tx), await _first_packed(tx)
    return min(filter(None, (packed, *map(start, days_of_rows[:1]))), default=None)


async def _first_packed(tx: Tx) -> datetime | None:
    since: datetime | None = await tx.fetchval("SELECT min(since) FROM packed_days")
    return since


async def any_between(tx: Tx, since: datetime, until: datetime) -> bool:
    """Whether there is a result of that time."""
    exists: bool = await tx.fetchval(
        "SELECT EXISTS (SELECT FROM results WHERE ts >= $1 AND ts < $2)", since, until
    )
    return exists


async def whole_since(tx: Tx, today: date) -> datetime:
    """Return since when results exist together with those of the day before."""
    since = await first(tx) or start(today)
    # The first days of a new database had none before them.
    return since if since.date() >= today - BACK else since + timedelta(days=1)


async def drop(tx: Tx, name: str) -> None:
    """Drop one day, which blocks all readers and writers for a moment."""
    await tx.execute(f"DROP TABLE IF EXISTS {name}")


async def drop_if_empty(tx: Tx, name: str) -> bool:
    """As `drop`, but only a day without rows; return whether it was one."""
    if await _has_rows(tx, name):
        return False
    # Nobody waits for the look above; by now there may be one.
    await tx.execute(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE")
    if await _has_rows(tx, name):
        return False
    await drop(tx, name)
    return True


async def _has_rows(tx: Tx, name: str) -> bool:
    found: bool = await tx.fetchval(f"SELECT EXISTS (SELECT FROM {name})")
    return found


async def strays(tx: Tx) -> int:
    """Count the results in the default partition: any is an alarm."""
    return int(await tx.fetchval("SELECT count(*) FROM (SELECT FROM results_default LIMIT 10000) AS astray"))


def start(day: date) -> datetime:
    """Return when the day begins, UTC."""
    return datetime.combine(day, time(), UTC)


def _name(day: date) -> str:
    return day.strftime(_PREFIX + _FORMAT)


def day_of(name: str) -> date | None:
    """Return the day of a partition; None for the default one."""
    try:
        return datetime.strptime(name, _PREFIX + _FORMAT).replace(tzinfo=UTC).date()
    except ValueError:
        return None
