"""The types of alert channel: the table of them, and how a stored configuration becomes one."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from collector.channels.webhook import Webhook
from shared.kinds.fields import camel

Channel = Webhook

CHANNELS: dict[str, type[Channel]] = {
    "webhook": Webhook,
}

# Types that interface.md names and that do not run yet: refused by name, not as a misspelling.
NOT_YET = ("email", "slack", "discord", "telegram", "pagerduty", "opsgenie")


def load(type_: str, config: Mapping[str, Any]) -> Channel:
    """The channel that *config* (checked already, camelCase) describes; fields unknown here are left out."""
    cls = CHANNELS[type_]
    given = {field.name: config[camel(field.name)] for field in fields(cls) if camel(field.name) in config}
    return cls(**given)
