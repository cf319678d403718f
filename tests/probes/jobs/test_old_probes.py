"""Probes that are gone for good leave the list; whatever may come back stays."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.ops.jobs.retention import Retention
from collector.platform.storage.db import Db
from collector.probes.storage import plans, reads
from shared.clock import utc_now
from shared.ids import uuid7
from tests.probes.ground import make_monitors, make_team

DAY = timedelta(days=1)
NOW = utc_now().replace(microsecond=0)
OLD, LATELY = NOW - 40 * DAY, NOW - 20 * DAY


async def a_probe(db: Db, certificate_until: datetime | None = OLD, **columns: Any) -> UUID:
    """One that nobody has heard of for long, but for what *columns* say."""
    id_ = uuid7()
    row = {"name": "gone", "locations": ["eu"], "created_at": OLD, "seen_at": OLD, "ended_at": OLD}
    row |= {"probe_id": id_, **columns}
    places = ", ".join(f"${at}" for at in range(1, len(row) + 1))
    async with db.transaction() as tx:
        await tx.execute(f"INSERT INTO probes ({', '.join(row)}) VALUES ({places})", *row.values())
        if certificate_until is not None:
            await tx.execute(
                "INSERT INTO probe_certificates VALUES ($1, $2, '', $3, $4)",
                id_.bytes + b"1234",
                id_,
                OLD - DAY,
                certificate_until,
            )
            await tx.execute(
                "INSERT INTO probe_cursors (probe_id, incarnation, session, moved_at) VALUES ($1, 1, 1, $2)",
                id_,
                OLD,
            )
    return id_


async def left(db: Db) -> list[UUID]:
    work = Retention(db, keep=30 * DAY, keep_rollups=365 * DAY, now=lambda: NOW)
    while await work.turn():
        pass
    async with db.connection() as tx:
        return [probe.probe_id for probe in await reads.all_(tx)]


async def test_a_probe_that_is_gone_for_good_leaves_the_list(db: Db) -> None:
    await a_probe(db)
    await a_probe(db, certificate_until=None, seen_at=None, ended_at=None)

    assert await left(db) == []


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"seen_at": LATELY}, id="heard of lately"),
        pytest.param({"seen_at": None, "created_at": LATELY}, id="made lately"),
        pytest.param({"certificate_until": LATELY}, id="its certificate was good lately"),
        pytest.param({"revoked_at": OLD}, id="revoked: it is to be known if it asks again"),
    ],
)
async def test_a_probe_that_is_still_needed_stays(db: Db, columns: dict[str, Any]) -> None:
    probe = await a_probe(db, **columns)

    assert await left(db) == [probe]


async def test_a_probe_that_holds_monitors_stays(db: Db) -> None:
    probe = await a_probe(db)
    [monitor] = await make_monitors(db, await make_team(db, NOW), now=NOW)
    async with db.transaction() as tx:
        places = await plans.name_locations(tx, ["eu"])
        await plans.put(tx, monitor, 1, list(places.values()), [probe])

    assert await left(db) == [probe]
