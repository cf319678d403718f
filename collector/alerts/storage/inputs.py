"""Inputs of rule evaluation: which rules concern a monitor, and its newest results."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from collector.alerts.core.conditions import CheckSample, FailureRate
from collector.alerts.storage.rules import CONCERNS, RuleRow
from collector.evaluation.storage.rule_triggers import Key
from collector.platform.storage.db import Tx
from shared.results import Run, Status

_RULE = ", ".join(f"r.{field.name}" for field in fields(RuleRow))


async def numbers(tx: Tx, keys: Sequence[Key]) -> dict[Key, int]:
    """Return the numbers, as in results and states, of the *keys* that exist."""
    rows = await tx.fetch(
        """
        SELECT m.team_id, m.id, m.monitor FROM unnest($1::int[], $2::uuid[]) AS u (team_id, id)
        JOIN monitors m USING (team_id, id)
        """,
        [team_id for team_id, _ in keys],
        [id_ for _, id_ in keys],
    )
    return {(row["team_id"], row["id"]): row["monitor"] for row in rows}


@dataclass(frozen=True, slots=True)
class ApplicableRule:
    """A monitor and a rule that applies to it."""

    monitor: int
    interval_s: int
    rule: RuleRow


async def rules(tx: Tx, monitors: Sequence[int]) -> list[ApplicableRule]:
    """Return the enabled rules that apply to these monitors."""
    rows = await tx.fetch(
        f"""
        SELECT m.monitor, m.interval_s, {_RULE} FROM monitors m JOIN rules r USING (team_id)
        WHERE m.monitor = ANY ($1) AND r.enabled AND {CONCERNS}
        ORDER BY m.monitor, r.created_at, r.id
        """,
        list(monitors),
    )
    found = []
    for row in rows:
        values = dict(row)
        monitor, interval_s = values.pop("monitor"), values.pop("interval_s")
        found.append(ApplicableRule(monitor, interval_s, RuleRow(**values)))
    return found


async def newest(
    tx: Tx, wanted: Mapping[int, tuple[int, datetime]]
) -> dict[tuple[int, int], list[CheckSample]]:
    """Return the newest results by monitor and location; *wanted*: how many for each monitor, and since when.

    Results from before the monitor's last change are left out.
    """
    rows = await tx.fetch(
        """
        SELECT s.monitor, s.location, r.ts, r.status, r.ms, r.code
        FROM unnest($1::int[], $2::int[], $3::timestamptz[]) AS u (monitor, most, since)
        JOIN monitors m USING (monitor) JOIN states s USING (monitor)
        CROSS JOIN LATERAL (
            SELECT ts, status, ms, code FROM results
            WHERE monitor = s.monitor AND location = s.location AND ts >= greatest(u.since, m.updated_at)
            ORDER BY ts DESC, n DESC LIMIT u.most
        ) r
        ORDER BY s.monitor, s.location, r.ts DESC
        """,
        list(wanted),
        [most for most, _ in wanted.values()],
        [since for _, since in wanted.values()],
    )
    found: defaultdict[tuple[int, int], list[CheckSample]] = defaultdict(list)
    for row in rows:
        check = CheckSample(row["ts"], Status(row["status"]), row["ms"], row["code"])
        found[row["monitor"], row["location"]].append(check)
    return found


async def rates(tx: Tx, wanted: Sequence[tuple[int, datetime]]) -> dict[tuple[int, datetime], FailureRate]:
    """Return how many scheduled checks of each monitor failed since then."""
    rows = await tx.fetch(
        """
        SELECT u.monitor, u.since, r.failed, r.total
        FROM unnest($1::int[], $2::timestamptz[]) AS u (monitor, since)
        JOIN monitors m USING (monitor)
        CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE r.status = $4) AS failed, count(*) AS total
            FROM states s JOIN results r ON r.monitor = s.monitor AND r.location = s.location
            WHERE s.monitor = u.monitor AND r.ts >= greatest(u.since, m.updated_at)
                AND r.run = $3 AND r.status <> $5
        ) r
        """,
        [monitor for monitor, _ in wanted],
        [since for _, since in wanted],
        Run.SCHEDULED,
        Status.DOWN,
        Status.UNKNOWN,
    )
    return {(row["monitor"], row["since"]): FailureRate(row["failed"], row["total"]) for row in rows}


async def heard(tx: Tx, monitors: Sequence[Key], since: datetime) -> dict[tuple[Key, UUID], datetime]:
    """Return by monitor and rule until when Web3 findings belonged to an alert that is over.

    Only of alerts that ended after *since*. An alert that ended by itself may not have included a finding
    of its last minute: it would have kept firing.
    """
    rows = await tx.fetch(
        """
        SELECT a.team_id, a.monitor_id, a.rule_id,
            max(a.recovered_at - CASE WHEN a.recovered_by IS NULL THEN interval '1 minute' ELSE '0' END) AS at
        FROM unnest($1::int[], $2::uuid[]) AS u (team_id, monitor_id)
        JOIN alerts a USING (team_id, monitor_id)
        WHERE a.status = 'recovered' AND a.recovered_at > $3 GROUP BY 1, 2, 3
        """,
        [team_id for team_id, _ in monitors],
        [monitor_id for _, monitor_id in monitors],
        since,
    )
    return {((row["team_id"], row["monitor_id"]), row["rule_id"]): row["at"] for row in rows}


async def acknowledged_by(tx: Tx, team_id: int, incident_id: UUID) -> dict[str, object] | None:
    """Return the user who acknowledged the incident."""
    by: dict[str, object] | None = await tx.fetchval(
        "SELECT acknowledged_by FROM incidents WHERE team_id = $1 AND id = $2", team_id, incident_id
    )
    return by
