"""Rows that tests of reading put into the database by themselves."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Db
from shared.ids import uuid7

T0 = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


async def incident(db: Db, team_id: int, **columns: Any) -> UUID:
    """An open automatic incident that started and was made at T0, but for what *columns* say."""
    id_ = uuid7()
    started_at = columns.get("started_at", T0)
    row = {
        "team_id": team_id,
        "id": id_,
        "automatic": True,
        "title": "shop is down",
        "monitor_name": "shop",
        "status": "open",
        "severity": "critical",
        "started_at": started_at,
        "created_at": started_at,
        "span_from": started_at,
        **columns,
    }
    await insert(db, "incidents", row)
    return id_


async def insert(db: Db, table: str, row: dict[str, Any]) -> None:
    places = ", ".join(f"${place}" for place in range(1, len(row) + 1))
    async with db.transaction() as tx:
        await tx.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", *row.values())
