"""Status pages with a past: monitors that were measured for 90 days, and their incidents."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from shared import ids
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import monitor, page

DAY_MS = 86_400_000
LONG = "Payments and settlement gateway for every region in which it is allowed by law " * 3
HEBREW = "שירות התשלומים של החנות"
ARABIC = "بوابة الدفع للمتاجر"


async def measured(api: Api, *, bad: dict[int, float] | None = None, fresh_days: int = 90) -> str:
    """The id of a monitor with *fresh_days* of days; *bad*: the share of a day, so many ago, in an outage."""
    id_ = await monitor(api)
    async with api.context.db.transaction() as tx:
        number = await tx.fetchval("SELECT monitor FROM monitors WHERE id = $1", ids.read("mon", id_))
        now = datetime.now(UTC)
        await tx.execute("UPDATE monitors SET created_at = $2 WHERE monitor = $1", number, now)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        hour = now.replace(minute=0, second=0, microsecond=0)
        days = [midnight - timedelta(days=ago) for ago in range(1, fresh_days)]
        down = [int(DAY_MS * (bad or {}).get(ago, 0)) for ago in range(1, fresh_days)]
        await tx.executemany(
            _ROLLUP.format("rollups_day"),
            [(number, at, 1440, 120_000, DAY_MS, down_ms) for at, down_ms in zip(days, down, strict=True)],
        )
        await tx.executemany(
            _ROLLUP.format("rollups_hour"),
            [
                (number, hour - timedelta(hours=ago), 60, 60 * _mean_ms(ago + number), DAY_MS // 24, 0)
                for ago in range(1, 25)
            ],
        )
        await tx.execute(
            "INSERT INTO rollups_done (until) VALUES ($1) ON CONFLICT (one) DO UPDATE SET until = $1", hour
        )
    return id_


def _mean_ms(hour: int) -> int:
    return round(120 + 60 * math.sin(hour / 3) + 25 * math.sin(hour * 1.7))


_ROLLUP = """
    INSERT INTO {} (monitor, location, at, checks, good, failed, unknown, answers, sum_ms, buckets, counts,
        known_ms, down_ms)
    VALUES ($1, 0, $2, $3, $3, 0, 0, $3, $4, '{{}}', '{{}}', $5, $6) ON CONFLICT DO NOTHING
"""


async def told(api: Api, made: dict[str, Any], **body: Any) -> str:
    path = f"/v1/status-pages/{made['id']}/incidents"
    answer = await api.post(path, {"title": "Checkout is slow", "message": "We look into it.", **body})
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


async def said(api: Api, made: dict[str, Any], incident: str, **body: Any) -> None:
    answer = await api.put(f"/v1/status-pages/{made['id']}/incidents/{incident}", body)
    assert answer.status == 200, answer.body


async def calm(api: Api, **more: Any) -> dict[str, Any]:
    """All is well, after some bad days."""
    shop = await measured(api, bad={3: 0.004, 20: 0.03, 21: 0.5, 60: 0.001})
    young = await measured(api, bad={}, fresh_days=25)
    components = [
        {
            "name": "Shop",
            "monitorId": shop,
            "description": "Pages of the shop, for everybody",
            "essential": True,
        },
        {"name": "Payments", "monitorId": await measured(api, bad={45: 0.02}), "group": "Money"},
        {"name": "Invoices", "monitorId": young, "group": "Money"},
        {"name": "Support by telephone"},
    ]
    made = await page(api, name="Example", slug="example", components=components, **more)
    past = await told(api, made, severity="minor", affectedComponents=[made["components"][0]["id"]])
    await said(api, made, past, status="identified", message="A query took too long.\n\nWe change it.")
    await said(api, made, past, status="resolved", message="All is well again.")
    return made


async def planned(api: Api, made: dict[str, Any]) -> str:
    start = api.clock() + timedelta(hours=26)
    return await told(
        api,
        made,
        title="Database upgrade",
        severity="maintenance",
        message="The shop can be read, but nothing can be bought.",
        affectedComponents=[component["id"] for component in made["components"][:2]],
        scheduledStart=start.isoformat(),
        scheduledEnd=(start + timedelta(hours=2)).isoformat(),
    )


async def outage(api: Api, made: dict[str, Any]) -> str:
    worst = await told(
        api,
        made,
        title="Nothing can be bought",
        severity="critical",
        affectedComponents=[component["id"] for component in made["components"][:2]],
        componentStatus="major_outage",
    )
    await said(api, made, worst, status="identified", message="A disk is full. We make room.")
    return worst
