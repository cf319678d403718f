"""A monitor whose last days are known: checks every ten minutes, an outage, maintenance and a pause."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from collector.history.storage import partitions
from collector.reports.jobs.editions import Editions
from shared import ids
from shared.ids import uuid7
from tests.http.client import Api
from tests.http.rows import incident, insert
from tests.monitors.monitors import change, location, make, number

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
STEP = 10 * MINUTE


@dataclass(frozen=True, slots=True)
class Lived:
    """A monitor, and the first moment of the two days of its history."""

    id: str
    monitor: int
    start: datetime

    @property
    def until(self) -> datetime:
        return self.start + 2 * DAY

    @property
    def body(self) -> dict[str, Any]:
        """A report of those days."""
        last = self.until - DAY
        return {
            "name": "Two days",
            "period": "custom",
            "firstDay": self.start.date().isoformat(),
            "lastDay": last.date().isoformat(),
            "sendHour": 0,
        }


async def lived(api: Api, name: str = "shop", **fields: Any) -> Lived:
    """A monitor that was down from 3 to 4 h, in maintenance from 6 to 8 h, and paused from 10 to 13 h.

    It exists since the day before. From 20 to 22 h of the second day there are no checks.
    """
    id_ = await make(api, name=name, interval=600, timeout=5, **fields)
    monitor, now = await number(api, id_), api.clock()
    start = datetime(now.year, now.month, now.day, tzinfo=UTC) - 2 * DAY
    known = Lived(id_, monitor, start)
    await change(api, "monitors", "monitor", monitor, created_at=start - DAY)
    await _measure(api, known)
    window = {"starts_at": start + 6 * HOUR, "ends_at": start + 8 * HOUR}
    row = {"team_id": api.team_id, "window_id": uuid7(), "every": False, "names": [], "pairs": [], **window}
    await insert(api.context.db, "maintenance_spans", {**row, "monitors": [ids.read("mon", id_)]})
    await incident(
        api.context.db,
        api.team_id,
        monitor_id=ids.read("mon", id_),
        monitor_name=name,
        started_at=start + 3 * HOUR,
        acknowledged_at=start + 3 * HOUR + 5 * MINUTE,
        status="resolved",
        resolved_at=start + 4 * HOUR,
        spans_s=3600,
        resolution_note="Rolled back",
        last_error="=cmd()",
    )
    return known


async def work(api: Api, ahead: timedelta = timedelta()) -> None:
    """Let the job come to rest, so much later."""
    job = Editions(api.context.db, now=lambda: api.clock() + ahead)
    while await job.turn():
        pass


async def reported(api: Api, body: dict[str, Any]) -> dict[str, Any]:
    """The content of the first edition of a new report."""
    made = await api.post("/v1/reports", body)
    assert made.status == 201, made.body
    await work(api)
    path = f"/v1/reports/{made.json['id']}/editions"
    [edition] = (await api.get(path)).json["data"]
    shown = (await api.get(f"{path}/{edition['id']}")).json
    assert shown["status"] == "ready", shown
    return dict(shown["content"], path=f"{path}/{edition['id']}")


async def _measure(api: Api, known: Lived) -> None:
    """Its cadences, its outage and its results."""
    monitor, start, where = known.monitor, known.start, await location(api, "local")
    async with api.context.db.transaction() as tx:
        await partitions.make(tx, api.clock().date())
        await tx.execute("DELETE FROM cadences WHERE monitor = $1", monitor)
        await tx.executemany(
            "INSERT INTO cadences VALUES ($1, $2, $3)",
            [
                (monitor, start - DAY, 620),
                (monitor, start + 10 * HOUR, None),
                (monitor, start + 13 * HOUR, 620),
            ],
        )
        await tx.executemany(
            "INSERT INTO outages VALUES ($1, $2, $3, $4)",
            [(monitor, place, start + 3 * HOUR, start + 4 * HOUR) for place in (0, where)],
        )
        await tx.executemany(
            """
            INSERT INTO results (ts, monitor, location, ms, status, run, n) VALUES ($1, $2, $3, $4, $5, 1, 0)
            """,
            [
                (start + at * STEP, monitor, where, 20 + at % 7, 2 if 18 <= at < 24 else 1)
                for at in range(-144, 288)
                if not (60 <= at < 78 or 264 <= at < 276)
            ],
        )


async def several(api: Api) -> tuple[dict[str, str], list[str]]:
    """Reports by name, with every choice and of tags; and the paths of an edition of each.

    A further edition is waiting.
    """
    day = (api.clock() - DAY).date().isoformat()
    custom = {"period": "custom", "firstDay": day, "lastDay": day}
    ids_: dict[str, str] = {}
    bodies: dict[str, dict[str, Any]] = {
        "Everything": {**custom, "businessHours": "Mo-Su 08:00-18:00", "target": 99.9},
        "Shop": {"tags": ["team:shop"], "recipients": ["board@example.com"]},
    }
    for name, fields in bodies.items():
        ids_[name] = str((await api.post("/v1/reports", {"name": name, **fields})).json["id"])
        await api.post(f"/v1/reports/{ids_[name]}/editions")
    await work(api)
    editions = []
    for id_ in ids_.values():
        made = (await api.get(f"/v1/reports/{id_}/editions")).json["data"]
        editions += [f"{id_}/editions/{edition['id']}" for edition in made]
    await api.post(f"/v1/reports/{ids_['Shop']}/editions", {"day": "2026-01-01"})
    return ids_, editions
