"""The types of alert channel, and how a stored configuration becomes one."""

from collections.abc import Mapping
from typing import Any

from collector.notifications.channels._channel import Channel
from collector.notifications.channels.apprise import Apprise
from collector.notifications.channels.discord import Discord
from collector.notifications.channels.email import Email
from collector.notifications.channels.opsgenie import Opsgenie
from collector.notifications.channels.pagerduty import PagerDuty
from collector.notifications.channels.slack import Slack
from collector.notifications.channels.telegram import Telegram
from collector.notifications.channels.webhook import Webhook
from shared.kinds import build

__all__ = ["CHANNELS", "Channel", "load"]

CHANNELS: dict[str, type[Channel]] = {
    "email": Email,
    "slack": Slack,
    "discord": Discord,
    "telegram": Telegram,
    "pagerduty": PagerDuty,
    "opsgenie": Opsgenie,
    "webhook": Webhook,
    "apprise": Apprise,
}


def load(type_: str, config: Mapping[str, Any]) -> Channel:
    """Build the channel from *config* (already checked, camelCase); unknown fields are dropped."""
    channel: Channel = build(CHANNELS[type_], config)
    return channel
