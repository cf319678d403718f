"""Alerts of Gatus as channels and rules."""

import math
from collections.abc import Mapping
from typing import Final

from collector.importers.core.channels import (
    ChannelMaker,
    ChannelSettings,
    Config,
    by_apprise,
    email,
    webhook_method,
)
from collector.importers.core.draft import Body, Draft
from collector.importers.core.report import Origin
from collector.importers.core.values import (
    comma_separated,
    drop_empty,
    elements,
    key,
    mapping,
    objects,
    seconds,
    text,
    threshold,
    truth,
)

_FAILURES: Final = 3
_SUCCESSES: Final = 2
_LONGEST_REPEAT_M: Final = 10_080


class Alerts:
    """Makes a channel of each provider that an endpoint uses, one per overridden group."""

    def __init__(self, made: Draft, alerting: Config) -> None:
        self._made = made
        self._providers = {text(name): mapping(config) for name, config in alerting.items()}
        self._channels: dict[tuple[str, str], str | None] = {}

    def thresholds(self, endpoint: Config) -> Body:
        """Return `failureThreshold` and `recoveryThreshold` of a monitor."""
        alerts = self._alerts(endpoint)
        failures = [threshold(alert.get("failure-threshold", _FAILURES)) for alert in alerts]
        successes = [threshold(alert.get("success-threshold", _SUCCESSES)) for alert in alerts]
        return {"failureThreshold": min(failures, default=1), "recoveryThreshold": max(successes, default=1)}

    def notify(self, monitor: str, endpoint: Config, reasons: list[str]) -> None:
        """Make the rules of an endpoint's alerts."""
        group = text(endpoint.get("group"))
        alerts = self._alerts(endpoint)
        least = min((threshold(alert.get("failure-threshold", _FAILURES)) for alert in alerts), default=1)
        for alert in alerts:
            type_ = text(alert.get("type"))
            channel = self._channel(type_, group)
            if channel is None:
                reasons.append(f"its alerts of type {type_} are not carried")
                continue
            if alert.get("provider-override"):
                reasons.append(f"the provider-override of its alerts of type {type_} is not carried")
            settings: Body = {}
            failures = threshold(alert.get("failure-threshold", _FAILURES))
            if failures != least:
                settings["conditions"] = {"consecutiveFailures": failures}
            if not truth(alert.get("send-on-resolved", False)):
                settings["notifyOnRecovery"] = False
            reminder = seconds(alert.get("minimum-reminder-interval"))
            if reminder:
                settings["repeatMinutes"] = min(max(math.ceil(reminder / 60), 1), _LONGEST_REPEAT_M)
            self._made.notify(monitor, [channel], **settings)

    def _alerts(self, endpoint: Config) -> list[Config]:
        """Return an endpoint's alerts that are on, with the defaults of their providers."""
        found: list[Config] = []
        for alert in elements(endpoint.get("alerts")):
            if isinstance(alert, dict):
                usual = mapping(self._providers.get(text(alert.get("type")), {}).get("default-alert"))
                whole = {**usual, **alert}
                if truth(whole.get("enabled", True)):
                    found.append(whole)
        return found

    def _channel(self, type_: str, group: str) -> str | None:
        provider = self._providers.get(type_)
        if provider is None:
            return None
        overrides = objects(provider.get("overrides"))
        own = next((item for item in overrides if text(item.get("group")) == group), None)
        called = type_, group if own is not None else ""
        if called not in self._channels:
            self._channels[called] = self._make(type_, called[1], {**provider, **(own or {})})
        return self._channels[called]

    def _make(self, type_: str, group: str, config: Config) -> str | None:
        name = f"{type_} {group}".strip()
        origin = Origin("channel", name, f"alerting.{type_}")
        make = _TYPES.get(type_)
        if make is None:
            self._made.report.leave_out(origin, f"alerts of type {type_} have no counterpart")
            return None
        reasons: list[str] = []
        kind, settings = make(self._made, name, config, reasons)
        body: Body = {"name": name.capitalize(), "type": kind, "config": drop_empty(settings)}
        return self._made.add("channels", origin, f"gatus-{key(name)}", body, reasons)


def _webhook_url(kind: str) -> ChannelMaker:
    def make(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
        del reasons
        return kind, {"webhookUrl": made.secret(text(config.get("webhook-url")), name, "url")}

    return make


def _telegram(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    if config.get("topic-id"):
        reasons.append("the topic of its messages is not carried")
    token = made.secret(text(config.get("token")), name, "bot_token")
    return "telegram", {"botToken": token, "chatId": text(config.get("id"))}


def _pagerduty(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del reasons
    return "pagerduty", {"integrationKey": made.secret(text(config.get("integration-key")), name, "key")}


def _opsgenie(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del reasons
    priority = text(config.get("priority"))
    return "opsgenie", {"apiKey": made.secret(text(config.get("api-key")), name, "key"), "priority": priority}


def _email(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del name, reasons
    return email(made, comma_separated(config.get("to")))


def _custom(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    reasons.append("its body is Tocsin's: body and placeholders are not carried")
    return "webhook", {
        "url": made.secret(text(config.get("url")), name, "url"),
        "headers": made.secret_headers(name, mapping(config.get("headers"))),
        "method": webhook_method(text(config.get("method"))),
    }


def _ntfy(config: Config) -> str:
    server = text(config.get("url")) or "https://ntfy.sh"
    scheme = "ntfys" if server.startswith("https") else "ntfy"
    token = text(config.get("token"))
    return f"{scheme}://{token + '@' if token else ''}{server.partition('://')[2].rstrip('/')}/{text(config.get('topic'))}"


def _gotify(config: Config) -> str:
    server = text(config.get("server-url"))
    scheme = "gotifys" if server.startswith("https") else "gotify"
    return f"{scheme}://{server.partition('://')[2].rstrip('/')}/{text(config.get('token'))}"


def _pushover(config: Config) -> str:
    return f"pover://{text(config.get('user-key'))}@{text(config.get('application-token'))}"


def _by_url(config: Config) -> str:
    return text(config.get("webhook-url"))


_TYPES: Final[Mapping[str, ChannelMaker]] = {
    "slack": _webhook_url("slack"),
    "discord": _webhook_url("discord"),
    "telegram": _telegram,
    "pagerduty": _pagerduty,
    "opsgenie": _opsgenie,
    "email": _email,
    "custom": _custom,
    "ntfy": by_apprise(_ntfy),
    "gotify": by_apprise(_gotify),
    "pushover": by_apprise(_pushover),
    "teams": by_apprise(_by_url),
    "teams-workflows": by_apprise(_by_url),
    "mattermost": by_apprise(_by_url),
    "googlechat": by_apprise(_by_url),
    "rocketchat": by_apprise(_by_url),
}
