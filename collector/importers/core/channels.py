"""Channels that several systems configure alike."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from collector.importers.core.draft import Body, Draft

Config: TypeAlias = Mapping[str, Any]
ChannelSettings: TypeAlias = tuple[str, Body]
"""Type and configuration of a channel."""
ChannelMaker: TypeAlias = Callable[[Draft, str, Config, list[str]], ChannelSettings]
"""Makes a channel of its name and the source's configuration; adds to the reasons how it differs."""

_METHODS: Final = frozenset({"PUT", "PATCH", "GET"})


def by_apprise(url: Callable[[Config], str]) -> ChannelMaker:
    """Return a maker of channels of type apprise; *url*: returns Apprise's URL of a configuration."""

    def make(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
        reasons.append("is sent by Apprise: the extra tocsin[apprise] must be installed")
        return "apprise", {"urls": [made.secret(url(config), name, "url")]}

    return make


def email(made: Draft, recipients: Sequence[str]) -> ChannelSettings:
    """Return a channel of type email, and report that the source's mail server is not carried."""
    made.report.say("mail goes by the server that TOCSIN_SMTP_URL names, not by the one of the source")
    return "email", {"recipients": list(dict.fromkeys(recipients))}


def webhook_method(method: str) -> str:
    """Return the method of a webhook if a channel can have it; else an empty text, which means POST."""
    return method.upper() if method.upper() in _METHODS else ""
