"""Statistics of incidents: sums by severity and by calendar group, empty groups with zeros."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.http.client import Api
from tests.http.rows import T0, incident

pytestmark = pytest.mark.shares_server


async def ended(api: Api, at: datetime, seconds: int, **columns: Any) -> None:
    await incident(
        api.context.db,
        api.team_id,
        started_at=at,
        status="resolved",
        spans_s=seconds,
        resolved_at=at + timedelta(seconds=seconds),
        **columns,
    )


async def stats(api: Api, query: str) -> dict[str, Any]:
    answer = await api.get(f"/v1/incidents/stats{query}")
    assert answer.status == 200, answer.body
    return dict(answer.json)


async def test_means_are_of_what_they_name(api: Api) -> None:
    await ended(api, T0, 100)
    await ended(api, T0, 300, severity="low", acknowledged_at=T0 + timedelta(seconds=60))
    await incident(api.context.db, api.team_id, started_at=T0, spans_s=800, span_from=api.clock())
    found = await stats(api, "?from=2026-11-01&to=2026-11-01")
    assert (found["totalIncidents"], found["openIncidents"]) == (3, 1)
    assert found["mttr"] == 200
    assert found["mtta"] == 60
    assert found["avgDowntime"] == 400
    assert found["bySeverity"] == {"critical": 2, "high": 0, "medium": 0, "low": 1}
    assert found["byDay"] == [{"date": "2026-11-01", "incidents": 3, "avgDowntime": 400}]
    assert "byWeek" not in found


async def test_days_without_any_are_there_with_zeros(api: Api) -> None:
    await ended(api, T0, 60)
    found = await stats(api, "?from=2026-10-31&to=2026-11-02")
    assert found["byDay"] == [
        {"date": "2026-10-31", "incidents": 0, "avgDowntime": 0},
        {"date": "2026-11-01", "incidents": 1, "avgDowntime": 60},
        {"date": "2026-11-02", "incidents": 0, "avgDowntime": 0},
    ]


async def test_a_week_is_named_by_its_monday_and_a_month_by_its_first(api: Api) -> None:
    await ended(api, T0, 60)  # a Sunday
    weeks = await stats(api, "?from=2026-11-01&to=2026-11-09&group_by=week")
    assert [(week["date"], week["incidents"]) for week in weeks["byWeek"]] == [
        ("2026-10-26", 1),
        ("2026-11-02", 0),
        ("2026-11-09", 0),
    ]
    months = await stats(api, "?from=2026-10-15&to=2027-01-01&group_by=month")
    assert [(month["date"], month["incidents"]) for month in months["byMonth"]] == [
        ("2026-10-01", 0),
        ("2026-11-01", 1),
        ("2026-12-01", 0),
        ("2027-01-01", 0),
    ]


async def test_by_default_it_is_the_last_thirty_days_by_day(api: Api) -> None:
    now = api.clock()
    await ended(api, now - timedelta(days=29), 60)
    await ended(api, now - timedelta(days=31), 60)
    found = await stats(api, "")
    assert found["totalIncidents"] == 1
    assert len(found["byDay"]) == 31


async def test_without_any_every_number_is_zero(api: Api) -> None:
    await ended(await api.other_team(), T0, 60)
    found = await stats(api, "?from=2026-11-01&to=2026-11-01")
    assert [found[name] for name in ("totalIncidents", "openIncidents", "mttr", "mtta", "avgDowntime")] == [
        0
    ] * 5


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?group_by=year", "group_by"),
        ("?from=yesterday", "from"),
        ("?from=2026-11-02&to=2026-11-01", "from"),
        ("?from=1990-01-01&to=2026-11-01", "from"),
    ],
)
async def test_what_cannot_be_grouped_is_told_by_name(api: Api, query: str, field: str) -> None:
    answer = await api.get(f"/v1/incidents/stats{query}")
    assert (answer.status, list(answer.json["details"])) == (400, [field])
