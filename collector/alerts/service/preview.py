"""Previews a rule over the results of the last days."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from collector.alerts.core.conditions import DOWN, Reason
from collector.alerts.core.replay import MonitorParameters, PastResult, Spell, notices, replay
from collector.alerts.core.rule_fields import Conditions
from collector.alerts.service import rules
from collector.alerts.service.rule_fields import for_create
from collector.alerts.storage import preview as table
from collector.alerts.storage.preview import Previewed
from collector.maintenance.core.windows import Selection
from collector.platform.storage.db import Db
from collector.platform.validation.validation import ignored
from collector.web3.core.crossings import is_web3
from shared.held import demand_none

LENGTH = timedelta(days=7)
_MONITORS = 50
# The replay of this many takes about a second.
_RESULTS = 100_000
_LEAST_OF_ONE = 2_000
_ALERTS = 500


@dataclass(frozen=True, slots=True)
class ReplayedAlert:
    """An alert that the rule would have fired."""

    monitor: Previewed
    spell: Spell
    notices: int
    escalations: int


@dataclass(frozen=True, slots=True)
class Preview:
    since: datetime
    until: datetime
    monitors: int
    alerts: list[ReplayedAlert]
    warnings: list[str]


async def preview(db: Db, team_id: int, body: Mapping[str, Any], now: datetime) -> Preview:
    """Replay the rule on the monitors as they are now; past holds are ignored. Raises Invalid."""
    wish = for_create({"name": "Preview", **body})
    since = now - LENGTH
    async with db.connection() as tx:
        rule = wish.checked(await rules.strangers(tx, team_id, wish))
        named = list(dict.fromkeys(wish.monitors.values()))
        selection = Selection(not named and not rule.tags, named, rule.tags)
        found = await table.monitors(tx, team_id, selection, _MONITORS + 1)
    looked, alerts = found[:_MONITORS], list[ReplayedAlert]()
    most = max(_LEAST_OF_ONE, _RESULTS // max(1, len(looked)))
    cut = False
    for one in looked:
        async with db.connection() as tx:
            past = [] if rule.conditions.empty else await table.results(tx, one.monitor, since, most)
            outages = await table.outages(tx, one.monitor, since)
        cut = cut or len(past) == most
        spells = await _spells(rule.conditions, one, since, past, outages)
        alerts += [ReplayedAlert(one, spell, *notices(rule, spell, now)) for spell in spells]
    warnings = ignored(wish.unknown)
    if rule.conditions.plain and any(is_web3(one.type) for one in looked):
        warnings.append("what Web3 monitors found is left out")
    if len(found) > _MONITORS:
        warnings.append(f"only the {_MONITORS} oldest monitors were looked at")
    if cut:
        warnings.append(f"only the {most} newest results of each monitor were looked at")
    if len(alerts) > _ALERTS:
        warnings.append(f"only the {_ALERTS} newest of {len(alerts)} alerts are shown")
    newest = sorted(alerts, key=lambda one: one.spell.since, reverse=True)[:_ALERTS]
    return Preview(since, now, len(looked), newest, warnings)


async def _spells(
    conditions: Conditions,
    one: Previewed,
    since: datetime,
    past: list[PastResult],
    out: Sequence[tuple[datetime, datetime | None]],
) -> list[Spell]:
    outages = [Spell(max(began, since), ended, Reason(DOWN)) for began, ended in out]
    about = MonitorParameters(one.failure_threshold, one.quorum, one.interval_s, one.locations)
    # In a thread: the replay may take a while, and the event loop must not wait.
    demand_none("replaying results")
    return await asyncio.to_thread(replay, conditions, about, past, outages)
