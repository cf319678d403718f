"""Checkly: what its API lists, checks, groups, channels, windows and pages, as one file."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from collector.importers.core.channels import ChannelSettings, email, webhook_method
from collector.importers.core.checkly_requests import configuration, first_type, scripts, with_variables
from collector.importers.core.draft import Body, Draft, NotCarried, WrongSource
from collector.importers.core.report import PAUSED, Origin
from collector.importers.core.values import (
    drop_empty,
    elements,
    first_of,
    interval,
    key,
    mapping,
    number,
    objects,
    tags,
    text,
    threshold,
    timeout,
    whole,
)

SYSTEM: Final = "checkly"

Item = Mapping[str, Any]

_DEFAULT_MIN: Final = 10
_LONGEST_REPEAT_MIN: Final = 10_080
_LATEST: Final = 1_000
_FREQUENCIES: Final = {"DAY": "DAILY", "WEEK": "WEEKLY", "MONTH": "MONTHLY"}


@dataclass(slots=True)
class _Checks:
    """*keys*: of the monitors by the check's id; *tags* and *names*: of carried checks by their ids."""

    keys: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    tags: dict[str, set[str]] = field(default_factory=dict)

    def tagged(self, wanted: Sequence[str], *, all_of: bool = False) -> list[str]:
        """Return the ids of checks with any, or *all_of*, these tags; of all checks if there are none."""
        sought = set(wanted)
        return [
            id_
            for id_, own in self.tags.items()
            if not sought or (sought <= own if all_of else bool(sought & own))
        ]


def draft(document: Any) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if it lists no checks.

    *document*: `checks`, and perhaps `groups`, `alertChannels`, `maintenanceWindows`, `dashboards` and
    `statusPages`, each the list that the API returns; or the list of checks alone.
    """
    given = mapping({"checks": document} if isinstance(document, list) else document)
    if not isinstance(given.get("checks"), list):
        raise WrongSource("is no answer of Checkly: it has no checks")
    given = mapping(with_variables(dict(given)))
    made = Draft(SYSTEM)
    made.report.say("its locations are not carried: the monitors run at the probes' locations")
    made.report.say("a degraded response time has no counterpart: add a rule on the latency")
    groups = {
        text(item.get("id")): item
        for item in objects(first_of(given, "groups", "checkGroups", "check-groups"))
    }
    checks = _Checks()
    channels = _Channels(made, objects(first_of(given, "alertChannels", "alert_channels", "alert-channels")))
    for check in objects(given["checks"]):
        group = groups.get(text(check.get("groupId")), {})
        _add_check(made, check, group, channels, checks)
    for window in objects(
        first_of(given, "maintenanceWindows", "maintenance_windows", "maintenance-windows")
    ):
        _add_window(made, window, checks)
    for dashboard in objects(given.get("dashboards")):
        _add_dashboard(made, dashboard, checks)
    for page in objects(first_of(given, "statusPages", "status_pages", "status-pages")):
        _add_page(made, page)
    for name in ("snippets", "variables", "private-locations", "incidents"):
        if objects(given.get(name)):
            made.report.behind[name] = len(objects(given.get(name)))
    return made


def _add_check(made: Draft, check: Item, group: Item, channels: "_Channels", checks: _Checks) -> None:
    id_ = text(check.get("id"))
    name = text(check.get("name")) or f"Check {id_}"
    origin, reasons = Origin("check", name, f"check {id_}"), list[str]()
    check = _with_defaults(check, group, reasons)
    try:
        kind, config = configuration(made, check, name, reasons)
    except NotCarried as error:
        made.report.leave_out(origin, str(error))
        return
    if check.get("activated") is False or group.get("activated") is False:
        reasons.append(PAUSED)
    if scripts(check):
        reasons.append("its scripts before and after the request are not carried")
    if check.get("shouldFail") is True and kind != "http":
        made.report.leave_out(origin, "wants the check to fail, which has no counterpart")
        return
    labels = [text(tag) for item in (check, group) for tag in elements(item.get("tags"))]
    every, retries = _interval(check, reasons), _retries(check)
    body: Body = {"name": name, "type": kind, "config": config, "group": text(group.get("name"))}
    body["tags"] = tags((tag, "") for tag in dict.fromkeys(labels))
    if kind != "heartbeat":
        slowest = number(check.get("maxResponseTime")) if kind != "http" else None
        body |= {
            "interval": every,
            "timeout": timeout(slowest / 1000 if slowest else None, reasons),
            "failureThreshold": threshold(retries + 1),
        }
    checks.keys[id_] = made.add("monitors", origin, f"checkly-{key(id_)}", drop_empty(body), reasons)
    checks.names[id_], checks.tags[id_] = name, set(labels)
    if check.get("muted") is True or group.get("muted") is True:
        reasons_of = made.sections["monitors"][checks.keys[id_]].reasons
        reasons_of.append("is muted there: no rule notifies about it")
    else:
        channels.notify(id_, checks.keys[id_], check, group, _settings(check, group, every, retries))


def _with_defaults(check: Item, group: Item, reasons: list[str]) -> Item:
    """Return *check* with what its group adds to each request: headers, assertions, a sign-in."""
    defaults, request = mapping(group.get("apiCheckDefaults")), mapping(check.get("request"))
    if first_type(check) != "API" or not defaults:
        return check
    own = {text(item.get("key")).lower() for item in objects(request.get("headers"))}
    headers = [item for item in objects(defaults.get("headers")) if text(item.get("key")).lower() not in own]
    merged = {
        **request,
        "headers": [*objects(request.get("headers")), *headers],
        "assertions": [*objects(request.get("assertions")), *objects(defaults.get("assertions"))],
        "queryParameters": [
            *objects(request.get("queryParameters")), *objects(defaults.get("queryParameters")),
        ],
    }  # fmt: skip
    if not text(mapping(request.get("basicAuth")).get("username")):
        merged["basicAuth"] = defaults.get("basicAuth")
    if text(defaults.get("url")):
        base = text(with_variables("{{GROUP_BASE_URL}}"))
        merged["url"] = text(request.get("url")).replace(base, text(defaults.get("url")))
    if any(merged[name] != request.get(name) for name in ("headers", "assertions")):
        reasons.append("its group's headers and assertions are its own here")
    return {**check, "request": merged}


def _interval(check: Item, reasons: list[str]) -> int:
    """Return the interval in seconds: `frequency` is in minutes, 0 means `frequencyOffset` in seconds."""
    minutes = whole(check.get("frequency"))
    if minutes == 0:
        return interval(whole(check.get("frequencyOffset")) or 60, reasons)
    return interval((minutes if minutes is not None else _DEFAULT_MIN) * 60, reasons)


def _retries(check: Item) -> int:
    strategy = mapping(check.get("retryStrategy"))
    type_ = text(strategy.get("type"))
    if not type_:
        return 1 if check.get("doubleCheck") is True else 0
    if type_ in {"NO_RETRIES", "SINGLE_RETRY"}:
        return int(type_ == "SINGLE_RETRY")
    return max(whole(strategy.get("maxRetries")) or 0, 0)


def _settings(check: Item, group: Item, every_s: int, retries: int) -> Body:
    """Return the settings of the rule: after how many failed runs, and how often again."""
    of_group = group.get("useGlobalAlertSettings") is False
    alerts = mapping((group if of_group else check).get("alertSettings"))
    by_run, by_time = (
        mapping(alerts.get(name)) for name in ("runBasedEscalation", "timeBasedEscalation")
    )  # fmt: skip
    runs = whole(by_run.get("failedRunThreshold")) or 1
    if text(alerts.get("escalationType")) == "TIME_BASED":
        runs = math.ceil((whole(by_time.get("minutesFailingThreshold")) or 0) * 60 / every_s)
    settings: Body = {}
    if runs > 1:
        settings["conditions"] = {"consecutiveFailures": min(retries + runs, _LATEST)}
    reminders = mapping(alerts.get("reminders"))
    every_min = whole(reminders.get("interval"))
    if (whole(reminders.get("amount")) or 0) > 0 and every_min:
        settings["repeatMinutes"] = min(max(every_min, 1), _LONGEST_REPEAT_MIN)
    return settings


class _Channels:
    """Adds the alert channels; who is notified follows their subscriptions and those of checks."""

    def __init__(self, made: Draft, listed: Sequence[Item]) -> None:
        self._made = made
        self._keys: dict[str, str] = {}
        self._recovers: dict[str, bool] = {}
        self._subscribed: dict[tuple[str, str], list[str]] = defaultdict(list)
        for item in listed:
            self._add(item)

    def _add(self, item: Item) -> None:
        id_, type_, config = text(item.get("id")), text(item.get("type")), mapping(item.get("config"))
        name = text(config.get("name")) or text(config.get("serviceName")) or text(config.get("address"))
        name = name or text(config.get("channel")) or f"{type_.title()} {id_}"
        origin, reasons = Origin("channel", name, f"alert channel {id_}"), list[str]()
        make = _CHANNELS.get(type_)
        if make is None:
            self._made.report.leave_out(origin, f"channels of type {type_ or 'none'} have no counterpart")
            return
        if item.get("sendFailure") is False:
            self._made.report.leave_out(origin, "is not notified about failures there")
            return
        if item.get("sslExpiry") is True:
            reasons.append("the warning about a certificate's expiry: add a monitor of type tls")
        kind, settings = make(self._made, name, config, reasons)
        body: Body = {"name": name, "type": kind, "config": drop_empty(settings)}
        self._keys[id_] = self._made.add("channels", origin, f"checkly-channel-{key(id_)}", body, reasons)
        self._recovers[id_] = item.get("sendRecovery") is not False
        for subscription in objects(item.get("subscriptions")):
            self._subscribe(subscription, id_)

    def _subscribe(self, subscription: Item, channel: str) -> None:
        if subscription.get("activated") is False:
            return
        for kind in ("checkId", "groupId"):
            if text(subscription.get(kind)):
                self._subscribed[kind, text(subscription.get(kind))].append(channel)

    def notify(self, id_: str, monitor: str, check: Item, group: Item, settings: Body) -> None:
        """Notify the channels of the check *id_* and of its group about *monitor*."""
        chosen = self._subscribed["checkId", id_] + self._subscribed["groupId", text(group.get("id"))]
        chosen = [
            *chosen,
            *(
                text(link.get("alertChannelId"))
                for item in (check, group)
                for link in objects(item.get("alertChannelSubscriptions"))
                if link.get("activated") is not False
            ),
        ]
        for recovers in (True, False):
            named = [self._keys[item] for item in chosen if self._recovers.get(item) is recovers]
            self._made.notify(monitor, named, **settings, **({} if recovers else {"notifyOnRecovery": False}))


def _email(made: Draft, name: str, config: Item, reasons: list[str]) -> ChannelSettings:
    del name, reasons
    return email(made, [text(config.get("address"))])


def _slack(made: Draft, name: str, config: Item, reasons: list[str]) -> ChannelSettings:
    del reasons
    return "slack", {
        "webhookUrl": made.secret(text(config.get("url")), name, "url"),
        "channel": text(config.get("channel")),
    }


def _webhook(made: Draft, name: str, config: Item, reasons: list[str]) -> ChannelSettings:
    url = made.secret(text(config.get("url")), name, "url")
    if text(config.get("webhookType")) == "WEBHOOK_DISCORD":
        return "discord", {"webhookUrl": url}
    reasons.append("its body is Tocsin's, not that of its template: the receiver must be changed")
    if text(config.get("webhookSecret")):
        reasons.append("its signature is Tocsin's: the receiver needs the channel's secret")
    headers = {text(item.get("key")): item.get("value") for item in objects(config.get("headers"))}
    return "webhook", {
        "url": url,
        "method": webhook_method(text(config.get("method"))),
        "headers": made.secret_headers(name, headers),
    }


def _pagerduty(made: Draft, name: str, config: Item, reasons: list[str]) -> ChannelSettings:
    del reasons
    return "pagerduty", {"integrationKey": made.secret(text(config.get("serviceKey")), name, "key")}


def _opsgenie(made: Draft, name: str, config: Item, reasons: list[str]) -> ChannelSettings:
    del reasons
    priority = text(config.get("priority"))
    is_eu = text(config.get("region")).upper() == "EU"
    return "opsgenie", {
        "apiKey": made.secret(text(config.get("apiKey")), name, "key"),
        "apiUrl": "https://api.eu.opsgenie.com" if is_eu else "",
        "priority": priority if priority in {"P1", "P2", "P3", "P4", "P5"} else "",
    }


_CHANNELS: Final[Mapping[str, Callable[[Draft, str, Item, list[str]], ChannelSettings]]] = {
    "EMAIL": _email,
    "SLACK": _slack,
    "WEBHOOK": _webhook,
    "PAGERDUTY": _pagerduty,
    "OPSGENIE": _opsgenie,
}


def _add_window(made: Draft, window: Item, checks: _Checks) -> None:
    id_ = text(window.get("id"))
    name = text(window.get("name")) or f"Maintenance {id_}"
    origin = Origin("maintenance", name, f"maintenance window {id_}")
    starts, ends, until = (_moment(window.get(name)) for name in ("startsAt", "endsAt", "repeatEndsAt"))
    unit = text(window.get("repeatUnit"))
    labels = [text(tag) for tag in elements(window.get("tags"))]
    covered = [checks.keys[item] for item in checks.tagged(labels)]
    if starts is None or ends is None or ends <= starts:
        made.report.leave_out(origin, "its times cannot be read")
        return
    every = max(whole(window.get("repeatInterval")) or 1, 1)
    rule = f"FREQ={_FREQUENCIES[unit]};INTERVAL={every}" if unit in _FREQUENCIES else ""
    if rule and until:
        rule += f";UNTIL={until:%Y%m%dT%H%M%SZ}"
    body: Body = {
        "name": name,
        "monitors": covered,
        "timezone": "UTC",
        "start": f"{starts:%Y-%m-%dT%H:%M:%S}",
        "duration": int((ends - starts).total_seconds()),
        "rrule": rule,
    }
    reasons = [] if labels else ["covers the checks that were there at the import, not later ones"]
    made.add(
        "maintenanceWindows",
        origin,
        f"checkly-window-{key(id_)}",
        drop_empty(body) | {"monitors": covered},
        reasons,
    )


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text(value))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _add_dashboard(made: Draft, item: Item, checks: _Checks) -> None:
    id_ = text(first_of(item, "dashboardId", "id"))
    name = text(item.get("header")) or text(item.get("customUrl")) or f"Dashboard {id_}"
    labels = [text(tag) for tag in elements(item.get("tags"))]
    shown = checks.tagged(labels, all_of=item.get("useTagsAndOperator") is True)
    reasons = ["shows the checks that have its tags at the import, not later ones"]
    _page(
        made,
        Origin("dashboard", name, f"dashboard {id_}"),
        f"checkly-dashboard-{key(id_)}",
        item,
        [{"name": checks.names[check], "monitorId": checks.keys[check]} for check in shown],
        reasons,
    )


def _add_page(made: Draft, item: Item) -> None:
    id_ = text(item.get("id"))
    name = text(item.get("name")) or f"Page {id_}"
    shown: list[Body] = []
    for card in objects(item.get("cards")):
        for service in objects(card.get("services")):
            called = text(service.get("name"))
            shown.append(drop_empty({"name": called, "group": text(card.get("name"))}))
    reasons = ["its services have no monitors: set monitorId where one of yours checks the same"]
    _page(
        made,
        Origin("status page", name, f"status page {id_}"),
        f"checkly-page-{key(id_)}",
        item,
        shown,
        reasons,
    )


def _page(
    made: Draft, origin: Origin, called: str, item: Item, shown: list[Body], reasons: list[str]
) -> None:
    logo = text(item.get("logo"))
    named = [part for part in reversed(shown) if part.get("name")]
    components = {(text(part.get("group")), part["name"]): part for part in named}
    if len(components) < len(shown):
        reasons.append("components without a name, and all but one of the same name and group, are left out")
    if item.get("isPrivate") is True:
        reasons.append("is private there: here only members of the team see it")
    if text(item.get("customCSS")):
        reasons.append("its custom CSS is not carried")
    body: Body = {
        "name": origin.name,
        "slug": text(first_of(item, "customUrl", "url")),
        "domain": text(item.get("customDomain")),
        "visibility": "private" if item.get("isPrivate") is True else "",
        "branding": {"logo": logo} if logo.startswith(("http://", "https://")) else {},
        "components": list(reversed(components.values())),
    }
    made.add("statusPages", origin, called, drop_empty(body), reasons)
