"""Creates, reads, updates and deletes the alert rules of a team."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.alerts.core.rule_fields import Conditions, RuleSettings
from collector.alerts.service.rule_fields import RuleRequest, conditions_of, for_create, for_update
from collector.alerts.storage import rules as table
from collector.alerts.storage.rules import RuleFilter, RuleRow
from collector.evaluation.core.holds import REOPENED_AFTER
from collector.monitors.storage import monitors
from collector.platform import audit, references
from collector.platform.access import Actor
from collector.platform.revision import require
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import ignored, to_json
from shared import ids
from shared.clock import iso
from shared.errors import Conflict, demand_found

WHAT = "Alert rule"
# Every change of a monitor evaluates each of its rules.
MOST = 5_000
_MOST_NAMED = 5
_NO_CONDITIONS = to_json(Conditions())


@dataclass(frozen=True, slots=True)
class RuleDetails:
    """A rule; *warnings*: about the rule itself, or its request."""

    row: RuleRow
    warnings: Sequence[str] = ()


def settable(row: RuleRow) -> dict[str, Any]:
    """Return the fields that a caller may set, as they are shown."""
    return {
        "name": row.name,
        "enabled": row.enabled,
        "conditions": dict(row.conditions),
        "channels": [ids.show("chan", id_) for id_ in row.channels],
        "monitors": [ids.show("mon", id_) for id_ in row.monitors],
        "tags": row.tags,
        "notifyOnRecovery": row.notify_on_recovery,
        "repeatMinutes": row.repeat_minutes,
        "escalationPolicy": _policy(row),
    }


async def create(db: Db, who: Actor, body: Mapping[str, Any], now: datetime) -> RuleDetails:
    """Create a rule. Raises Invalid; Conflict above the limit of rules per team."""
    request = for_create(body)
    async with db.transaction() as tx:
        rule = request.checked(await strangers(tx, who.team_id, request))
        if await table.count(tx, who.team_id, RuleFilter()) >= MOST:
            raise Conflict(f"A team has {MOST} alert rules at most")
        row = RuleRow(
            team_id=who.team_id,
            id=ids.uuid7(),
            **_columns(rule, request, None),
            revision=1,
            created_at=now,
            updated_at=now,
        )
        await table.insert(tx, row)
        await table.trigger_monitors(tx, row.team_id, row.id)
        await audit.record(tx, who, "create", "alert-rule", ids.show("rule", row.id), name=row.name)
        return RuleDetails(row, [*ignored(request.unknown), *await _warnings(tx, row)])


async def page(
    db: Db, team_id: int, wanted: RuleFilter, limit: int | None, offset: int
) -> tuple[list[RuleDetails], int]:
    """Return a page of rules, newest first, and their total number."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id, wanted)
        rows = await table.newest(tx, team_id, wanted, limit, offset)
    return [RuleDetails(row) for row in rows], total


async def one(db: Db, team_id: int, id_: UUID) -> RuleDetails:
    """Return a rule. Raises NotFound."""
    async with db.connection() as tx:
        row = demand_found(await table.get(tx, team_id, id_), WHAT)
        return RuleDetails(row, await _warnings(tx, row))


async def update(
    db: Db,
    who: Actor,
    id_: UUID,
    body: Mapping[str, Any],
    now: datetime,
    *,
    only: frozenset[str] | None = None,
) -> RuleDetails:
    """Update a rule; no change leaves its revision; *only*: the revisions that may be changed.

    Raises NotFound, PreconditionFailed, Invalid, in this order.
    """
    async with db.transaction() as tx:
        before = demand_found(await table.lock(tx, who.team_id, id_), WHAT)
        require(before.revision, only)
        request = for_update(body, settable(before))
        rule = request.checked(await strangers(tx, who.team_id, request, before))
        after = replace(before, **_columns(rule, request, before))
        if after != before:
            after = replace(after, revision=before.revision + 1, updated_at=now)
            await table.save(tx, after)
            await table.trigger_monitors(tx, after.team_id, after.id)
            fields = audit.differing(settable(before), settable(after))
            await audit.record(
                tx, who, "update", "alert-rule", ids.show("rule", id_), name=after.name, fields=fields
            )
        return RuleDetails(after, [*ignored(request.unknown), *await _warnings(tx, after)])


async def delete(db: Db, who: Actor, id_: UUID, *, only: frozenset[str] | None = None) -> None:
    """Delete a rule; the end of its alerts is notified. Raises NotFound, PreconditionFailed."""
    async with db.transaction() as tx:
        row = demand_found(await table.lock(tx, who.team_id, id_), WHAT)
        require(row.revision, only)
        await table.delete(tx, who.team_id, id_)
        await table.trigger_monitors(tx, who.team_id, id_)
        await audit.record(tx, who, "delete", "alert-rule", ids.show("rule", id_), name=row.name)


async def strangers(tx: Tx, team_id: int, rule: RuleRequest, before: RuleRow | None = None) -> dict[str, str]:
    """Return faults for ids that are not the team's, except those that the rule already names."""
    known: Collection[UUID] = {*before.monitors, *before.channels, *before.escalate_to} if before else ()
    new = {key: id_ for key, id_ in rule.monitors.items() if id_ not in known}
    there = await monitors.known(tx, team_id, list(new.values())) if new else set()
    faults = references.strangers(new, there, "there is no such monitor")
    gone = await table.unknown_channels(tx, team_id, list(rule.channels.values())) if rule.channels else set()
    return faults | {key: "there is no such channel" for key, id_ in rule.channels.items() if id_ in gone}


def _columns(rule: RuleSettings, request: RuleRequest, before: RuleRow | None) -> dict[str, Any]:
    conditions = to_json(rule.conditions)
    selection = list(dict.fromkeys(request.monitors.values())), rule.tags
    policy = rule.escalation_policy
    # A rule whose monitors are all deleted applies to none until its selection changes.
    emptied = before is not None and not before.every and (list(before.monitors), before.tags) == selection
    return {
        "name": rule.name,
        "enabled": rule.enabled,
        "conditions": {name: value for name, value in conditions.items() if value != _NO_CONDITIONS[name]},
        "channels": _unique(request, "channels["),
        "every": not any(selection) and not emptied,
        "monitors": selection[0],
        "tags": selection[1],
        "notify_on_recovery": rule.notify_on_recovery,
        "repeat_minutes": rule.repeat_minutes,
        "escalation": policy
        and {"delayMinutes": policy.delay_minutes, "maxEscalations": policy.max_escalations},
        "escalate_to": _unique(request, "escalationPolicy.") if policy else [],
    }


def _unique(rule: RuleRequest, prefix: str) -> list[UUID]:
    return list(dict.fromkeys(id_ for key, id_ in rule.channels.items() if key.startswith(prefix)))


def _policy(row: RuleRow) -> dict[str, Any] | None:
    if row.escalation is None:
        return None
    return {
        "delayMinutes": row.escalation["delayMinutes"],
        "escalateToChannels": [ids.show("chan", id_) for id_ in row.escalate_to],
        "maxEscalations": row.escalation["maxEscalations"],
    }


async def _warnings(tx: Tx, row: RuleRow) -> list[str]:
    warnings = []
    if not row.channels:
        warnings.append("channels is empty: nobody is told")
    if row.escalation is not None and not row.escalate_to:
        warnings.append("escalationPolicy.escalateToChannels is empty: nobody is told when it escalates")
    if not await table.selects_any(tx, row.team_id, row.id):
        warnings.append("no monitor is selected as things are")
    conditions = conditions_of(row.conditions)
    given = {*to_json(conditions)} & {*row.conditions} - {"match", "locations", "windowMinutes"}
    if conditions.match == "all" and len(given) < 2:
        warnings.append("match: all needs more than one condition to mean anything")
    held = await table.resolved_by_hand(tx, row.team_id, row.id, _MOST_NAMED)
    return [*warnings, *map(_awaited, held)]


def _awaited(incident: table.ResolvedByHand) -> str:
    again = iso(incident.resolved_at + REOPENED_AFTER)
    return (
        f"{incident.name} is down, and its incident was resolved by hand: the rule fires for it when the "
        f"incident is reopened ({again}, if it is still down then) or with the next outage"
    )
