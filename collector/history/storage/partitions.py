"""Daily partitions of results: created ahead of time, dropped when expired."""

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
    missing = {name: day for day in days if (name := day.strftime(_PREFIX + _FORMAT)) not in there}
    if missing:
        # Block inserts for one of these days while it is created.
        await tx.execute("LOCK TABLE results_default IN ACCESS EXCLUSIVE MODE")
    for name, day in missing.items():
        await _make_day(tx, name, day)
    return list(missing)


async def days(tx: Tx) -> list[date]:
    """Return the days that have a partition, the oldest first."""
    return [of for name in await _names(tx) if (of := _day_of(name))]


async def _names(tx: Tx) -> list[str]:
    rows = await tx.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'results'::regclass"
    )
    return sorted(row["name"] for row in rows)


async def _make_day(tx: Tx, name: str, day: date) -> None:
    first = datetime.combine(day, time(), UTC)
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
    return [name for name in await _names(tx) if (of := _day_of(name)) and of < day]


async def oldest(tx: Tx) -> datetime | None:
    """Return the start of the oldest day with any result; None without any."""
    for name in await _names(tx):
        of = _day_of(name)
        if of and await tx.fetchval(f"SELECT EXISTS (SELECT FROM {name})"):
            return datetime.combine(of, time(), UTC)
    stray: datetime | None = await tx.fetchval("SELECT min(ts) FROM results_default")
    return stray and datetime.combine(stray.date(), time(), UTC)


async def first(tx: Tx) -> datetime | None:
    """Return the start of the first day that has a partition."""
    dates = await days(tx)
    return datetime.combine(dates[0], time(), UTC) if dates else None


async def any_between(tx: Tx, since: datetime, until: datetime) -> bool:
    """Whether there is a result of that time."""
    exists: bool = await tx.fetchval(
        "SELECT EXISTS (SELECT FROM results WHERE ts >= $1 AND ts < $2)", since, until
    )
    return exists


async def whole_since(tx: Tx, today: date) -> datetime:
    """Return since when results exist together with those of the day before."""
    days = [of for name in await _names(tx) if (of := _day_of(name))]
    first = min(days, default=today)
    # The first days of a new database had none before them.
    whole = first if first >= today - BACK else first + timedelta(days=1)
    return datetime.combine(whole, time(), UTC)


async def drop(tx: Tx, name: str) -> None:
    """Drop one day, which blocks all readers and writers for a moment."""
    await tx.execute(f"DROP TABLE IF EXISTS {name}")


async def strays(tx: Tx) -> int:
    """Count the results in the default partition: any is an alarm."""
    return int(await tx.fetchval("SELECT count(*) FROM (SELECT FROM results_default LIMIT 10000) AS astray"))


def _day_of(name: str) -> date | None:
    try:
        return datetime.strptime(name, _PREFIX + _FORMAT).replace(tzinfo=UTC).date()
    except ValueError:
        return None
