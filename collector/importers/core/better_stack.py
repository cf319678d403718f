"""Better Stack (Uptime): what its API lists, monitors, heartbeats and groups, as one file."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from collector.importers.core.draft import Body, Draft, WrongSource
from collector.importers.core.report import PAUSED, Origin
from collector.importers.core.values import (
    drop_empty,
    host_port,
    interval,
    key,
    mapping,
    objects,
    statuses,
    text,
    threshold,
    timeout,
    whole,
)

SYSTEM: Final = "betterstack"

Attributes = Mapping[str, Any]
Made = tuple[str, Body]

_DEFAULT_S: Final = 180
# Their timeouts are in milliseconds.
_IN_MS: Final = {"ping", "tcp", "udp", "smtp", "pop", "imap"}


def draft(document: Any) -> Draft:
    """Return the file's contents and the report.

    *document*: `monitors`, `heartbeats`, `monitor_groups`, each a list of resources or an answer with `data`;
    or one answer of `/monitors`. Raises WrongSource if it has no monitors.
    """
    given = mapping(document)
    if isinstance(given.get("data"), list):
        given = {"monitors": given}
    monitors, heartbeats = _resources(given.get("monitors")), _resources(given.get("heartbeats"))
    if "monitors" not in given and "heartbeats" not in given:
        raise WrongSource("is no answer of Better Stack: it has neither monitors nor heartbeats")
    made = Draft(SYSTEM)
    made.report.say(
        "policies, on-call calendars and the ways to notify are not carried: make channels and rules"
    )
    groups = {
        text(item.get("id")): text(_attributes(item).get("name"))
        for item in _resources(given.get("monitor_groups"))
    }
    for monitor in monitors:
        _add_monitor(made, monitor, groups)
    for heartbeat in heartbeats:
        _add_heartbeat(made, heartbeat)
    return made


def _add_monitor(made: Draft, monitor: Mapping[str, Any], groups: Mapping[str, str]) -> None:
    id_, about = text(monitor.get("id")), _attributes(monitor)
    type_ = text(about.get("monitor_type"))
    name = text(about.get("pronounceable_name")) or text(about.get("url")) or f"Monitor {id_}"
    origin, reasons = Origin("monitor", name, f"monitor {id_}"), list[str]()
    make = _TYPES.get(type_)
    if make is None:
        made.report.leave_out(origin, f"monitors of type {type_ or 'none'} have no counterpart")
        return
    every = interval(float(whole(about.get("check_frequency")) or _DEFAULT_S), reasons)
    wait = float(whole(about.get("request_timeout")) or 0)
    _differences(about, reasons)
    for at, (kind, config) in enumerate(make(made, about, name), 1):
        body: Body = {
            "name": name if at == 1 else f"{name} ({config.get('port')})",
            "type": kind,
            "interval": every,
            "timeout": timeout(wait / 1000 if type_ in _IN_MS else wait, reasons),
            "failureThreshold": threshold((whole(about.get("confirmation_period")) or 0) / every + 1),
            "recoveryThreshold": threshold((whole(about.get("recovery_period")) or 0) / every + 1),
            "group": groups.get(text(about.get("monitor_group_id")), ""),
            "config": drop_empty(config),
        }
        made.add(
            "monitors",
            origin,
            f"bs-{key(id_)}" if at == 1 else f"bs-{key(id_)}-{at}",
            drop_empty(body),
            reasons,
        )


def _differences(about: Attributes, reasons: list[str]) -> None:
    if about.get("paused"):
        reasons.append(PAUSED)
    if (whole(about.get("domain_expiration")) or -1) > 0:
        reasons.append("the warning about its domain's expiry is not carried")
    if about.get("maintenance_from"):
        reasons.append("its daily maintenance is not carried: make a maintenance window")
    if about.get("playwright_script") or about.get("remember_cookies"):
        reasons.append("cookies and scripts are not carried")


def _http(made: Draft, about: Attributes, name: str) -> list[Made]:
    type_, wanted = text(about.get("monitor_type")), text(about.get("required_keyword"))
    method = text(about.get("http_method")).upper()
    codes = about.get("expected_status_codes") if type_ == "expected_status_code" else None
    assertions: list[Body] = []
    if type_ in {"keyword", "keyword_absence"}:
        op = "contains" if type_ == "keyword" else "notContains"
        assertions.append({"source": "body", "op": op, "value": wanted})
    days = whole(about.get("ssl_expiration"))
    if days and days > 0:
        assertions.append({"source": "certificateDays", "op": "gt", "value": days})
    headers = {
        text(item.get("name")): made.secret(text(item.get("value")), name, text(item.get("name")))
        for item in objects(about.get("request_headers"))
    }
    config: Body = {
        "url": text(about.get("url")),
        "method": method if method != "GET" else "",
        "headers": headers,
        "body": text(about.get("request_body")),
        "expectedStatus": statuses(codes) if isinstance(codes, list) else None,
        "assertions": assertions,
        "ipVersion": {"ipv4": "4", "ipv6": "6"}.get(text(about.get("ip_version")), ""),
    }
    config["auth"] = made.sign_in(name, text(about.get("auth_username")), text(about.get("auth_password")))
    if about.get("verify_ssl") is False:
        config["verifyTls"] = False
    if about.get("follow_redirects") is False:
        config["followRedirects"] = False
    if text(about.get("proxy_host")):
        config["proxy"] = f"http://{text(about.get('proxy_host'))}:{text(about.get('proxy_port')) or 80}"
    return [("http", config)]


def _ping(made: Draft, about: Attributes, name: str) -> list[Made]:
    del made, name
    return [("icmp", {"host": host_port(text(about.get("url")))[0]})]


def _ports(kind: str) -> Callable[[Draft, Attributes, str], list[Made]]:
    """Return a maker of a monitor for each of its ports, which are one text: ``25,465``."""

    def make(made: Draft, about: Attributes, name: str) -> list[Made]:
        del made, name
        host, own = host_port(text(about.get("url")))
        ports = [port for part in text(about.get("port")).split(",") if (port := whole(part.strip()))]
        return [(kind, {"host": host, "port": port}) for port in ports or [own or 0]]

    return make


def _dns(made: Draft, about: Attributes, name: str) -> list[Made]:
    del made, name
    wanted = text(about.get("required_keyword"))
    config: Body = {
        "host": text(about.get("request_body")),
        "resolver": host_port(text(about.get("url")))[0],
        "expected": [wanted] if wanted else [],
    }
    return [("dns", config)]


_TYPES: Final[Mapping[str, Callable[[Draft, Attributes, str], list[Made]]]] = {
    "status": _http,
    "expected_status_code": _http,
    "keyword": _http,
    "keyword_absence": _http,
    "ping": _ping,
    "tcp": _ports("tcp"),
    "smtp": _ports("smtp"),
    "pop": _ports("pop3"),
    "imap": _ports("imap"),
    "dns": _dns,
}


def _add_heartbeat(made: Draft, heartbeat: Mapping[str, Any]) -> None:
    id_, about = text(heartbeat.get("id")), _attributes(heartbeat)
    name = text(about.get("name")) or f"Heartbeat {id_}"
    every, reasons = whole(about.get("period")), ["its URL changes"]
    origin = Origin("heartbeat", name, f"heartbeat {id_}")
    if about.get("paused"):
        reasons.append(PAUSED)
    made.report.ping_urls[name] = text(about.get("url"))
    config = {"expectedInterval": every, "gracePeriod": max(whole(about.get("grace")) or 0, 1)}
    made.add(
        "monitors",
        origin,
        f"bs-heartbeat-{key(id_)}",
        {"name": name, "type": "heartbeat", "config": config},
        reasons,
    )


def _resources(listed: Any) -> list[dict[str, Any]]:
    """Return a list of resources, or those of one or several answers of the API."""
    if isinstance(listed, dict):
        return objects(listed.get("data"))
    found: list[dict[str, Any]] = []
    for item in objects(listed):
        found += objects(item["data"]) if isinstance(item.get("data"), list) else [item]
    return found


def _attributes(resource: Mapping[str, Any]) -> Attributes:
    return mapping(resource.get("attributes")) or resource
