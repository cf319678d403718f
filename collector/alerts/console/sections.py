"""Parts that the pages of alerting share: channel choices, and a warning when nobody would be notified."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from aiohttp import web

from collector.console.language import gettext, translate
from collector.console.state import visitor
from collector.http.context import context_of
from collector.monitors.console.pickers import Options
from collector.notifications.service import channels
from collector.notifications.service.channels import ChannelWithConfig
from shared import ids

_REASONS: Final[Mapping[str, str]] = {
    "consecutiveFailures": "%(value)s failed checks in a row",
    "latencyThresholdMs": "answered after %(value)s ms",
    "statusCode": "answered with status %(value)s",
    "errorRatePercent": "%(value)s %% of checks failed",
    "availability": "%(value)s %% of checks were good",
}


async def every_channel(request: web.Request) -> list[ChannelWithConfig]:
    context = context_of(request)
    found, _ = await channels.page(context.db, context.keyring, visitor(request).team_id, None, None, 0)
    return found


def silence(known: Sequence[ChannelWithConfig]) -> str:
    """Say why an outage would notify nobody, from the team's channels; empty if it would."""
    if not known:
        return gettext("No one will be notified: there is no channel yet.")
    awake = [channel for channel in known if channel.row.enabled]
    used = [channel for channel in awake if channel.used]
    if not used and not any(channel.row.type == "webhook" for channel in awake):
        return gettext("No one will be notified: no rule notifies an enabled channel.")
    if not used:
        return gettext("No rule notifies any channel: only webhooks are notified of outages.")
    if all(channel.fault is not None and channel.fault.flagged for channel in used):
        return gettext("Notifications may not reach you: every channel that rules notify is failing.")
    return ""


def reason(key: str, value: float | None) -> str:
    """Say why a rule fired."""
    return (
        gettext(_REASONS[key], value=f"{value:g}")
        if key in _REASONS and value is not None
        else translate(key)
    )


def _off(channel: ChannelWithConfig) -> str:
    return "" if channel.row.enabled else f", {translate('off')}"


def channel_options(known: Iterable[ChannelWithConfig]) -> Options:
    return [
        (
            ids.show("chan", channel.row.id),
            f"{channel.row.name} ({channel.row.type}{_off(channel)})",
        )
        for channel in known
    ]
