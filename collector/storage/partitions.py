"""The days of results: each is a partition, made ahead of its time and dropped when it is too old."""

from datetime import UTC, date, datetime, time, timedelta

from collector.storage.db import Tx

AHEAD = timedelta(days=3)
# Results that a probe kept while it was cut off reach back this far.
BACK = timedelta(days=7)

_PREFIX = "results_"
_FORMAT = "%Y_%m_%d"


async def make(tx: Tx, today: date) -> list[str]:
    """Make the missing partitions from BACK to AHEAD of *today*; their names.

    Rows that landed in the default partition for want of a day move to it.
    """
    rows = await tx.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'results'::regclass"
    )
    there = {row["name"] for row in rows}
    day, made = today - BACK, []
    while day <= today + AHEAD:
        name = _PREFIX + day.strftime(_FORMAT)
        if name not in there:
            await _make_day(tx, name, day)
            made.append(name)
        day += timedelta(days=1)
    return made


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


async def drop_before(tx: Tx, day: date) -> list[str]:
    """Drop the partitions of all days before *day*; their names."""
    rows = await tx.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'results'::regclass"
    )
    old = [name for name in sorted(row["name"] for row in rows) if (of := _day_of(name)) and of < day]
    for name in old:
        await tx.execute(f"DROP TABLE {name}")
    return old


async def strays(tx: Tx) -> int:
    """How many results lie in the default partition: any is an alarm."""
    return int(await tx.fetchval("SELECT count(*) FROM (SELECT FROM results_default LIMIT 10000) AS astray"))


def _day_of(name: str) -> date | None:
    try:
        return datetime.strptime(name, _PREFIX + _FORMAT).replace(tzinfo=UTC).date()
    except ValueError:
        return None
