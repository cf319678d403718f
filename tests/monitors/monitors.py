"""What tests of monitors make by themselves: monitors through the API, and what only a probe could bring."""

from datetime import datetime
from typing import Any
from uuid import UUID

from shared import ids
from shared.clock import utc_now
from shared.ids import uuid7
from tests.http.client import Answer, Api
from tests.http.rows import insert

URL = "https://shop.example.com/"
HTTP = {"name": "shop", "type": "http", "config": {"url": URL}}
TCP = {"name": "database", "type": "tcp", "config": {"host": "db.example.com", "port": 5432}}


async def make(api: Api, **fields: Any) -> str:
    """The id of a new http monitor, with *fields* on top."""
    answer = await api.post("/v1/monitors", {**HTTP, **fields})
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


async def shown(api: Api, id_: str) -> dict[str, Any]:
    """What GET says of it."""
    answer = await api.get(f"/v1/monitors/{id_}")
    assert answer.status == 200, answer.body
    return dict(answer.json)


def details(answer: Answer) -> Any:
    """The bad fields of a 400."""
    assert answer.status == 400, answer.body
    assert answer.json["error"] == "Bad Request"
    return answer.json["details"]


async def probe(api: Api, *locations: str, **columns: Any) -> UUID:
    """A probe that is connected now and serves every team."""
    id_, now = uuid7(), utc_now()
    row = {
        "probe_id": id_,
        "name": "probe",
        "locations": list(locations),
        "kinds": ["http", "tcp"],
        "session": 1,
        "connected_at": now,
        "seen_at": now,
        "created_at": now,
        **columns,
    }
    await insert(api.context.db, "probes", row)
    return id_


async def number(api: Api, id_: str) -> int:
    """What results and states call the monitor."""
    async with api.context.db.connection() as tx:
        found: int = await tx.fetchval("SELECT monitor FROM monitors WHERE id = $1", ids.read("mon", id_))
    return found


async def location(api: Api, name: str) -> int:
    async with api.context.db.transaction() as tx:
        found: int = await tx.fetchval(
            """
            INSERT INTO locations (name) VALUES ($1)
            ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING location
            """,
            name,
        )
    return found


async def result(api: Api, monitor: int, ts: datetime, where: str = "local", **columns: Any) -> None:
    """A good scheduled check that took 20 ms, but for what *columns* say."""
    row = {
        "ts": ts,
        "monitor": monitor,
        "ms": 20,
        "location": await location(api, where),
        "n": 0,
        "run": 1,
        "status": 1,
        "code": 200,
        **columns,
    }
    await insert(api.context.db, "results", row)


async def change(api: Api, table: str, key: str, value: Any, **columns: Any) -> None:
    """Set columns of the rows whose *key* is *value*."""
    terms = ", ".join(f"{name} = ${place}" for place, name in enumerate(columns, start=2))
    async with api.context.db.transaction() as tx:
        await tx.execute(f"UPDATE {table} SET {terms} WHERE {key} = $1", value, *columns.values())


async def rows(api: Api, sql: str, *values: Any) -> list[dict[str, Any]]:
    """What the database has."""
    async with api.context.db.connection() as tx:
        return [dict(row) for row in await tx.fetch(sql, *values)]
