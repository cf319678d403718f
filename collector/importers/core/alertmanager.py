"""Receivers of Alertmanager as channels, and its routes."""

import math
import re
from collections.abc import Mapping
from typing import Final

from collector.importers.core.channels import ChannelMaker, ChannelSettings, Config, by_apprise, email
from collector.importers.core.draft import Body, Draft
from collector.importers.core.report import Origin
from collector.importers.core.values import (
    comma_separated,
    drop_empty,
    elements,
    key,
    label_matches,
    mapping,
    objects,
    seconds,
    text,
    truth,
)

_REPEAT: Final = "4h"
_LONGEST_REPEAT_M: Final = 10_080
_DEEPEST: Final = 32
_MATCHER: Final = re.compile(r'\s*(\w+)\s*(=~|!~|!=|=)\s*"?((?:[^"\\]|\\.)*?)"?\s*')


class Routes:
    """Finds the channels of an alert by its labels; a receiver becomes channels on first use."""

    def __init__(self, made: Draft, document: Config) -> None:
        self._made = made
        self._global = mapping(document.get("global"))
        self._root = mapping(document.get("route"))
        self._receivers = {text(item.get("name")): item for item in objects(document.get("receivers"))}
        self._channels: dict[str, list[str]] = {}
        for name in ("inhibit_rules", "templates", "time_intervals", "mute_time_intervals"):
            if document.get(name):
                made.report.say(f"{name} of Alertmanager are not carried")

    def channels(self, labels: Mapping[str, str]) -> tuple[list[str], int]:
        """Return the keys of the channels, and the minutes between reminders."""
        found: list[str] = []
        repeat = 0
        for receiver, every in self._leaves(self._root, labels, "", _REPEAT, 0):
            found += self._receiver(receiver)
            minutes = math.ceil((seconds(every) or 0) / 60)
            repeat = min(repeat or minutes, minutes)
        return list(dict.fromkeys(found)), min(repeat, _LONGEST_REPEAT_M)

    def _leaves(
        self, route: Config, labels: Mapping[str, str], receiver: str, repeat: str, depth: int
    ) -> list[tuple[str, str]]:
        """Return receiver and repeat interval of each leaf that takes the alert."""
        own = text(route.get("receiver")) or receiver
        every = text(route.get("repeat_interval")) or repeat
        found: list[tuple[str, str]] = []
        for child in objects(route.get("routes")) if depth < _DEEPEST else []:
            if _takes(child, labels):
                found += self._leaves(child, labels, own, every, depth + 1)
                if not truth(child.get("continue")):
                    break
        return found or ([(own, every)] if own else [])

    def _receiver(self, name: str) -> list[str]:
        if name not in self._channels:
            self._channels[name] = self._make(name, self._receivers.get(name, {}))
        return self._channels[name]

    def _make(self, name: str, receiver: Config) -> list[str]:
        found: list[str] = []
        for field, configs in receiver.items():
            type_ = str(field).removesuffix("_configs")
            for at, config in enumerate(objects(configs) if str(field).endswith("_configs") else [], 1):
                called = name if at == 1 else f"{name} {at}"
                origin = Origin("receiver", called, f"receivers: {name}.{field}[{at}]")
                make = _TYPES.get(type_)
                if make is None:
                    self._made.report.leave_out(origin, f"receivers of type {type_} have no counterpart")
                    continue
                reasons: list[str] = []
                kind, settings = make(self._made, called, {**self._usual(type_), **config}, reasons)
                body: Body = {"name": called, "type": kind, "config": drop_empty(settings)}
                found.append(self._made.add("channels", origin, f"am-{key(called)}-{type_}", body, reasons))
        return found

    def _usual(self, type_: str) -> Config:
        """Return the global settings of a type, by the names of its own."""
        names = {
            "slack": {"slack_api_url": "api_url"},
            "opsgenie": {"opsgenie_api_key": "api_key", "opsgenie_api_url": "api_url"},
        }
        return {own: self._global[name] for name, own in names.get(type_, {}).items() if name in self._global}


def _takes(route: Config, labels: Mapping[str, str]) -> bool:
    for name, value in mapping(route.get("match")).items():
        if labels.get(str(name), "") != text(value):
            return False
    wanted = [(str(name), "=~", text(value)) for name, value in mapping(route.get("match_re")).items()]
    for matcher in elements(route.get("matchers")):
        parts = _MATCHER.fullmatch(text(matcher).strip("{}"))
        if parts is None:
            return False
        wanted.append((parts[1], parts[2], parts[3]))
    return all(label_matches(labels.get(name, ""), operator, value) for name, operator, value in wanted)


def _slack(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del reasons
    return "slack", {
        "webhookUrl": made.secret(text(config.get("api_url")), name, "url"),
        "channel": text(config.get("channel")),
    }


def _discord(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del reasons
    return "discord", {"webhookUrl": made.secret(text(config.get("webhook_url")), name, "url")}


def _telegram(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del reasons
    token = made.secret(text(config.get("bot_token")), name, "bot_token")
    return "telegram", {"botToken": token, "chatId": text(config.get("chat_id"))}


def _pagerduty(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    if not config.get("routing_key") and config.get("service_key"):
        reasons.append("its key is one of Events v1: make one of Events v2")
    return "pagerduty", {"integrationKey": made.secret(text(config.get("routing_key")), name, "key")}


def _opsgenie(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del reasons
    settings: Body = {
        "apiKey": made.secret(text(config.get("api_key")), name, "key"),
        "priority": text(config.get("priority")),
    }
    url = text(config.get("api_url")).rstrip("/")
    return "opsgenie", {**settings, "apiUrl": url} if url and url != "https://api.opsgenie.com" else settings


def _email(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del name, reasons
    return email(made, comma_separated(config.get("to")))


def _webhook(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    reasons.append("its body is Tocsin's, not Alertmanager's: the receiver must be changed")
    return "webhook", {"url": made.secret(text(config.get("url")), name, "url")}


def _pushover(config: Config) -> str:
    return f"pover://{text(config.get('user_key'))}@{text(config.get('token'))}"


def _by_url(config: Config) -> str:
    return text(config.get("webhook_url"))


_TYPES: Final[Mapping[str, ChannelMaker]] = {
    "slack": _slack,
    "discord": _discord,
    "telegram": _telegram,
    "pagerduty": _pagerduty,
    "opsgenie": _opsgenie,
    "email": _email,
    "webhook": _webhook,
    "pushover": by_apprise(_pushover),
    "msteams": by_apprise(_by_url),
    "msteamsv2": by_apprise(_by_url),
    "mattermost": by_apprise(_by_url),
}
