"""Loads the facts that the rules of some monitors ask for, and no others."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from collector.alerts.core import conditions as core
from collector.alerts.core.conditions import CheckSample, FailureRate, LocationChecks, RuleFacts
from collector.alerts.core.rule_fields import Conditions
from collector.alerts.core.status import AlertStatus
from collector.alerts.evaluate import AppliedRule, MonitorSnapshot
from collector.alerts.jobs import web3
from collector.alerts.service.rule_fields import conditions_of
from collector.alerts.storage import inputs
from collector.alerts.storage.alerts import Alert
from collector.alerts.storage.inputs import ApplicableRule
from collector.evaluation.storage.rule_triggers import Key
from collector.history.service import statistics
from collector.platform.storage.db import Tx
from collector.web3.core import crossings

_DAY = timedelta(days=1)
# A location's state is current until it has missed this many checks.
_MISSED = 3
_LATE = timedelta(seconds=15)

_Ask = tuple[ApplicableRule, Conditions]


async def gather(
    tx: Tx, seen: Mapping[int, MonitorSnapshot], alerts: Mapping[Key, Mapping[UUID, Alert]], now: datetime
) -> dict[int, dict[UUID, AppliedRule]]:
    """Return facts by the monitors' numbers and the rules' ids; *alerts*: those before."""
    rules = await inputs.rules(tx, sorted(seen))
    # One rule may apply to many monitors; it is parsed once.
    written = {rule.rule.id: rule.rule.conditions for rule in rules}
    conditions_by = {id_: conditions_of(conditions) for id_, conditions in written.items()}
    asked = [(rule, conditions_by[rule.rule.id]) for rule in rules]
    checks = await _checks(tx, asked, seen, now)
    rates = await _rates(tx, asked, now)
    uptimes = await _uptimes(tx, asked, now)
    plain = [seen[one.monitor].one for one, conditions in asked if conditions.plain]
    of_chains = await web3.gather(tx, plain, now)
    found: defaultdict[int, dict[UUID, AppliedRule]] = defaultdict(dict)
    for one, conditions in asked:
        about = seen[one.monitor]
        before = alerts.get((about.one.team_id, about.one.id), {}).get(one.rule.id)
        firing = before if before is not None and before.status != AlertStatus.RECOVERED else None
        chain = of_chains.get(one.monitor)
        crossed = chain.news(one, firing, now) if chain else []
        facts = RuleFacts(
            down=about.one.announced,
            failure_threshold=about.one.failure_threshold,
            quorum=about.one.quorum,
            places=_places(about, one.interval_s, checks, now),
            rate=rates.get((one.monitor, now - core.window(conditions, one.interval_s))),
            day=rates.get((one.monitor, now - _DAY)),
            uptime=uptimes.get(one.monitor),
            crossings=crossed,
        )
        ends_at = crossings.ends_at(crossed, one.interval_s)
        found[one.monitor][one.rule.id] = AppliedRule(one.rule, conditions, facts, one.interval_s, ends_at)
    return found


def _places(
    seen: MonitorSnapshot,
    interval_s: int,
    checks: Mapping[tuple[int, int], Sequence[CheckSample]],
    now: datetime,
) -> list[LocationChecks]:
    """The voting locations with a recent check."""
    fresh = timedelta(seconds=_MISSED * interval_s + seen.one.timeout_s) + _LATE
    return [
        LocationChecks(place.state.fails, checks.get((place.monitor, place.location), ()))
        for place in seen.places
        if place.vote.counts(now) and place.last_at is not None and now - place.last_at <= fresh
    ]


async def _checks(
    tx: Tx, asked: Sequence[_Ask], seen: Mapping[int, MonitorSnapshot], now: datetime
) -> dict[tuple[int, int], list[CheckSample]]:
    wanted: dict[int, tuple[int, datetime]] = {}
    for one, conditions in asked:
        about = seen[one.monitor].one
        most = core.depth(conditions, about.failure_threshold)
        if most and most > wanted.get(one.monitor, (0, now))[0]:
            back = (most + _MISSED) * timedelta(seconds=one.interval_s + about.timeout_s)
            wanted[one.monitor] = most, now - back
    return await inputs.newest(tx, wanted) if wanted else {}


async def _rates(tx: Tx, asked: Sequence[_Ask], now: datetime) -> dict[tuple[int, datetime], FailureRate]:
    wanted = {
        (one.monitor, now - core.window(conditions, one.interval_s))
        for one, conditions in asked
        if conditions.error_rate_percent is not None
    } | {(one.monitor, now - _DAY) for one, conditions in asked if conditions.availability is not None}
    return await inputs.rates(tx, sorted(wanted)) if wanted else {}


async def _uptimes(tx: Tx, asked: Sequence[_Ask], now: datetime) -> dict[int, float]:
    wanted = {one.monitor for one, conditions in asked if conditions.availability is not None}
    return {monitor: (await statistics.summary(tx, monitor, now)).uptime_day for monitor in sorted(wanted)}
