"""Loads findings of Web3 monitors that a rule has not seen yet."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.alerts.core.conditions import of_web3
from collector.alerts.storage import inputs
from collector.alerts.storage.alerts import Alert
from collector.alerts.storage.inputs import ApplicableRule
from collector.evaluation.storage.locked_monitors import LockedMonitor
from collector.evaluation.storage.rule_triggers import Key
from collector.platform.storage.db import Tx
from collector.web3.core import crossings
from collector.web3.core.crossings import NotifiedCrossing
from collector.web3.storage import web3

# A single finding is announced no later than this.
_LATEST: Final = timedelta(hours=1)


@dataclass(slots=True)
class ChainNotice:
    """A monitor's announced findings; *heard*: until when each rule has processed single ones."""

    standing: list[NotifiedCrossing] = field(default_factory=list)
    happened: list[NotifiedCrossing] = field(default_factory=list)
    heard: dict[UUID, datetime] = field(default_factory=dict)

    def news(self, one: ApplicableRule, alert: Alert | None, now: datetime) -> list[NotifiedCrossing]:
        """Return the findings for which the rule fires or keeps firing; *alert*: its own open one."""
        if alert is not None:
            since = now - crossings.window(one.interval_s)
            if not of_web3(alert.reason) and alert.notified_at is not None:
                # It keeps firing for findings that are newer than its notice.
                since = max(since, alert.notified_at)
        else:
            # Findings older than the rule's last change do not concern it.
            since = max(self.heard.get(one.rule.id, one.rule.updated_at), one.rule.updated_at)
        return [*self.standing, *(crossing for crossing in self.happened if crossing.told_at > since)]


async def gather(tx: Tx, monitors: Sequence[LockedMonitor], now: datetime) -> Mapping[int, ChainNotice]:
    """Load findings by the monitors' numbers; monitors without any are left out."""
    keys: dict[Key, int] = {
        (monitor.team_id, monitor.id): monitor.monitor
        for monitor in monitors
        if crossings.is_web3(monitor.type)
    }
    found: defaultdict[int, ChainNotice] = defaultdict(ChainNotice)
    if not keys:
        return found
    for raised in await web3.raised_and_announced(tx, list(keys)):
        if raised.told_at is not None:
            crossing = crossings.threshold(raised.key, raised.data, raised.told_at)
            found[keys[raised.team_id, raised.monitor_id]].standing.append(crossing)
    since = now - _LATEST
    happened: set[Key] = set()
    for log in await web3.announced_lately(tx, list(keys), since):
        happened.add((log.team_id, log.monitor_id))
        crossing = crossings.single(log.data, log.told_at)
        found[keys[log.team_id, log.monitor_id]].happened.append(crossing)
    if happened:
        for (key, rule_id), until in (await inputs.heard(tx, sorted(happened), since)).items():
            found[keys[key]].heard[rule_id] = until
    return found
