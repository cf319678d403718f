"""The channels of a monitor, chosen in its form: a plain rule for each set of channels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from aiohttp import web

from collector.alerts.console import sections
from collector.alerts.console.rules import parts
from collector.alerts.core import rule_sentences
from collector.alerts.service import rules
from collector.alerts.storage.rules import RuleFilter, RuleRow
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.monitors.console.notified import NotifiedChannels
from collector.notifications.service.channels import ChannelWithConfig
from collector.notifications.storage.channels import ChannelRow
from shared import ids

_LONGEST_NAME: Final = 255
# They are notified without any rule: a rule would notify them twice.
_ON_THEIR_OWN: Final = "webhook"


@dataclass(frozen=True, slots=True)
class MonitorRules:
    """Reads and writes the plain rules that name a monitor: those without conditions, tags, escalation."""

    async def read(self, request: web.Request, monitor_id: UUID | None) -> NotifiedChannels:
        """Return the channels of a monitor; of a new one those that are proposed.

        Those are the team's channels for new monitors. With neither such a channel nor any rule, which
        would leave everybody unaware, every channel is proposed.
        """
        channels = await sections.every_channel(request)
        known = await _rules(request)
        own = [] if monitor_id is None else _own(known, monitor_id)
        chosen = {ids.show("chan", id_) for row in own for id_ in row.channels}
        if monitor_id is None:
            chosen = _proposed([channel.row for channel in channels], rules_exist=bool(known))
        others = [row for row in known if row.every and row.enabled]
        return NotifiedChannels(
            sections.channel_options(channels), frozenset(chosen), _sentences(others, channels)
        )

    async def save(self, request: web.Request, monitor_id: UUID, wanted: Sequence[str]) -> None:
        """Notify exactly the *wanted* channels of the monitor. Raises Invalid, Conflict."""
        known = await _rules(request)
        own = _own(known, monitor_id)
        have = {ids.show("chan", id_) for row in own for id_ in row.channels}
        if have == set(wanted):
            return
        if wanted and len(own) == 1 and list(own[0].monitors) == [monitor_id]:
            context = context_of(request)
            await rules.update(context.db, who(request), own[0].id, {"channels": list(wanted)}, context.now())
            return
        for row in own:
            await _leave(request, row, monitor_id)
        if wanted:
            await _join(request, [row for row in known if _is_plain(row)], monitor_id, wanted)


def _proposed(rows: Iterable[ChannelRow], *, rules_exist: bool) -> set[str]:
    """Return the ids of the channels that are proposed for a new monitor."""
    enabled = [row for row in rows if row.enabled]
    proposed = [row for row in enabled if row.for_new_monitors]
    if not proposed and not rules_exist:
        proposed = [row for row in enabled if row.type != _ON_THEIR_OWN]
    return {ids.show("chan", row.id) for row in proposed}


async def _rules(request: web.Request) -> list[RuleRow]:
    found, _ = await rules.page(context_of(request).db, visitor(request).team_id, RuleFilter(), rules.MOST, 0)
    return [each.row for each in found]


def _own(known: Iterable[RuleRow], monitor_id: UUID) -> list[RuleRow]:
    return [row for row in known if monitor_id in row.monitors and _is_plain(row)]


def _is_plain(row: RuleRow) -> bool:
    return (
        row.enabled
        and not row.every
        and bool(row.monitors)
        and not row.tags
        and row.escalation is None
        and row.repeat_minutes is None
        and row.notify_on_recovery
        and rule_sentences.is_unconditional(row.conditions)
    )


async def _leave(request: web.Request, row: RuleRow, monitor_id: UUID) -> None:
    """Take the monitor out of a rule; a rule without any would apply to all, so it is deleted."""
    db, now = context_of(request).db, context_of(request).now()
    rest = [ids.show("mon", id_) for id_ in row.monitors if id_ != monitor_id]
    if rest:
        await rules.update(db, who(request), row.id, {"monitors": rest}, now)
    else:
        await rules.delete(db, who(request), row.id)


async def _join(
    request: web.Request, plain: Iterable[RuleRow], monitor_id: UUID, wanted: Sequence[str]
) -> None:
    """Add the monitor to the plain rule of these channels, or create one."""
    db, now, own = context_of(request).db, context_of(request).now(), ids.show("mon", monitor_id)
    for row in plain:
        others = [ids.show("mon", id_) for id_ in row.monitors if id_ != monitor_id]
        if others and {ids.show("chan", id_) for id_ in row.channels} == set(wanted):
            await rules.update(db, who(request), row.id, {"monitors": [*others, own]}, now)
            return
    names = {
        ids.show("chan", channel.row.id): channel.row.name
        for channel in await sections.every_channel(request)
    }
    name = f"Outages to {', '.join(names.get(id_, id_) for id_ in wanted)}"[:_LONGEST_NAME]
    body = {"name": name, "channels": list(wanted), "monitors": [own]}
    await rules.create(db, who(request), body, now)


def _sentences(rows: Iterable[RuleRow], channels: Iterable[ChannelWithConfig]) -> list[str]:
    names = {channel.row.id: channel.row.name for channel in channels if channel.row.enabled}
    return [rule_sentences.text(rule_sentences.sentence(parts(row, names, {}))) for row in rows]
