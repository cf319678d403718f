"""Gatus: its YAML files."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from collector.importers.core import gatus_alerts, gatus_conditions
from collector.importers.core.draft import Body, Draft, NotCarried, WrongSource, clean, variable
from collector.importers.core.gatus_conditions import Expectations
from collector.importers.core.report import Origin
from collector.importers.core.values import (
    drop_empty,
    elements,
    host_port,
    interval,
    key,
    login,
    mapping,
    objects,
    seconds,
    tags,
    text,
    timeout,
    truth,
    url_parts,
)

Made = tuple[str, Body]
SYSTEM: Final = "gatus"

_VARIABLE: Final = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-?[^}]*)?\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_DEFAULT_S: Final = 60.0
_DAY_H: Final = 24
_DAYS: Final = {
    "monday": "MO", "tuesday": "TU", "wednesday": "WE", "thursday": "TH", "friday": "FR",
    "saturday": "SA", "sunday": "SU",
}  # fmt: skip
_KNOWN: Final = {
    "endpoints", "external-endpoints", "alerting", "maintenance", "ui", "suites", "web", "storage", "metrics",
    "debug",
    "concurrency", "disable-monitoring-lock", "skip-invalid-config-update", "services", "default-endpoint",
}  # fmt: skip
_REPORTED: Final = {
    "security": "who may see the page: the status page becomes private",
    "connectivity": "its own check of the connection",
    "tunneling": "SSH tunnels",
    "remote": "pages of other instances",
    "announcements": "announcements",
}


def with_variables(raw: str, values: Mapping[str, str] | None = None) -> str:
    """Return the file with variables marked, or filled with *values*; ``$$`` becomes ``$``."""

    def one(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name is None:
            return "$"
        return variable(name) if values is None else values.get(name, "")

    return _VARIABLE.sub(one, clean(raw))


def merged(documents: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the documents as one: objects merge, lists append. Raises WrongSource for a double text."""
    whole: dict[str, Any] = {}
    for document in documents:
        _merge(whole, document, "")
    return whole


def _merge(into: dict[str, Any], other: Mapping[str, Any], path: str) -> None:
    for name, value in other.items():
        before = into.get(name)
        if name not in into or before is None:
            into[name] = value
        elif isinstance(before, dict) and isinstance(value, dict):
            into[name] = dict(before)
            _merge(into[name], value, f"{path}{name}.")
        elif isinstance(before, list) and isinstance(value, list):
            into[name] = [*before, *value]
        elif before != value:
            raise WrongSource(f"{path}{name} stands in two of the files")


def draft(document: Mapping[str, Any]) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if it is no file of Gatus."""
    lists = ("endpoints", "external-endpoints", "suites", "services")
    if not any(isinstance(document.get(name), list) for name in lists) and not document.get("alerting"):
        seems = "; it seems to be one of Docker Compose" if isinstance(document.get("services"), dict) else ""
        raise WrongSource(f"is no configuration of Gatus: it has neither endpoints nor alerting{seems}")
    made = Draft(SYSTEM)
    for name, words in _REPORTED.items():
        if document.get(name):
            made.report.say(f"{name} is not carried: {words}")
    others = sorted(set(document) - _KNOWN - set(_REPORTED))
    if others:
        made.report.say(f"Gatus ignores these, and so does the import: {', '.join(map(str, others))}")
    alerts = gatus_alerts.Alerts(made, mapping(document.get("alerting")))
    components: list[Body] = []
    for number, endpoint in enumerate(objects(document.get("endpoints") or document.get("services")), 1):
        _add(made, endpoint, number, alerts, components, _endpoint)
    for number, endpoint in enumerate(objects(document.get("external-endpoints")), 1):
        _add(made, endpoint, number, alerts, components, _external)
    for number, suite in enumerate(objects(document.get("suites")), 1):
        origin = Origin("suite", text(suite.get("name")) or f"suite {number}", f"suites[{number}]")
        made.report.leave_out(origin, "a sequence of requests that depend on each other has no counterpart")
    _maintenance(made, document.get("maintenance"), "maintenance", None)
    _page(made, document, components)
    return made


_Make = Callable[[Draft, Mapping[str, Any], list[str]], Body]


def _add(
    made: Draft,
    endpoint: Mapping[str, Any],
    number: int,
    alerts: "gatus_alerts.Alerts",
    components: list[Body],
    make: _Make,
) -> None:
    """Add an endpoint, its alerts, its windows and its component."""
    name, group = text(endpoint.get("name")), text(endpoint.get("group"))
    section = "endpoints" if make is _endpoint else "external-endpoints"
    origin = Origin(
        "endpoint", f"{group}/{name}" if group else name or f"endpoint {number}", f"{section}[{number}]"
    )
    reasons: list[str] = []
    try:
        body = make(made, endpoint, reasons)
        thresholds = alerts.thresholds(endpoint)
    except NotCarried as error:
        made.report.leave_out(origin, str(error))
        return
    if not truth(endpoint.get("enabled", True)):
        reasons.append("is switched off there; a file cannot pause: pause it after `tocsin apply`")
    if body["type"] != "heartbeat":
        body.update(thresholds)
    labels = mapping(endpoint.get("extra-labels"))
    body = drop_empty({"name": name, "group": group, **body, "tags": tags(labels.items())})
    called = f"gatus-{key(group)}_{key(name)}" if group else f"gatus-{key(name)}"
    monitor = made.add("monitors", origin, called, body, reasons)
    reasons = made.sections["monitors"][monitor].reasons
    alerts.notify(monitor, endpoint, reasons)
    components.append(drop_empty({"name": name or monitor, "group": group, "monitorId": monitor}))
    for at, window in enumerate(objects(endpoint.get("maintenance-windows")), 1):
        _maintenance(made, window, f"{origin.place}.maintenance-windows[{at}]", monitor)


def _endpoint(made: Draft, endpoint: Mapping[str, Any], reasons: list[str]) -> Body:
    url = text(endpoint.get("url"))
    client = mapping(endpoint.get("client"))
    found = gatus_conditions.read(elements(endpoint.get("conditions")))
    every = seconds(endpoint.get("interval"))
    if endpoint.get("interval") is not None and every is None:
        raise NotCarried(
            f"its interval {endpoint.get('interval')} cannot be read; with variables in it, use --env"
        )
    kind, config = _config(made, endpoint, url, client, found)
    reasons += [f"a condition is not carried: {words}" for words in found.unknown]
    if not found.connected:
        raise NotCarried("wants the connection to fail, which has no counterpart")
    for name in ("oauth2", "identity-aware-proxy", "tunnel", "dns-resolver"):
        if client.get(name):
            reasons.append(f"client.{name} is not carried")
    return {
        "type": kind,
        "interval": interval(every or _DEFAULT_S, reasons),
        "timeout": timeout(seconds(client.get("timeout")) or 10.0, reasons),
        "config": drop_empty(config),
    }


def _config(
    made: Draft, endpoint: Mapping[str, Any], url: str, client: Mapping[str, Any], found: Expectations
) -> Made:
    scheme = url.partition("://")[0].lower()
    if endpoint.get("dns"):
        return _dns(endpoint, url, found)
    if scheme in {"http", "https"}:
        return _http(made, endpoint, url, client, found)
    make = _SCHEMES.get(scheme)
    if make is None or (scheme == "ssh" and mapping(endpoint.get("ssh")).get("username")):
        raise NotCarried(f"endpoints of the form {scheme or url}:// have no counterpart")
    host, port = host_port(url)
    kind, config = make(host, port, found)
    if kind in {"tcp", "websocket"} and scheme != "ssh":
        config |= {"send": text(endpoint.get("body")), "expect": found.body}
        found.assertions.clear()
    if kind == "websocket":
        config["url"] = url
    if truth(client.get("insecure")) and (kind == "websocket" or config.get("tls")) and kind != "grpc":
        config["verifyTls"] = False
    if kind == "icmp":
        config["ipVersion"] = _FAMILIES.get(text(client.get("network")), "")
    return kind, config


def _tls(host: str, port: int | None, found: Expectations) -> Made:
    if found.expiry_hours is None:
        return "tcp", {"host": host, "port": port or 443, "tls": True}
    return "tls", {"domain": f"{host}:{port or 443}", "expiryDays": _days(found)}


def _grpc(host: str, port: int | None, *, tls: bool) -> Made:
    return "grpc", {"host": host, "port": port or (443 if tls else 80), **({"tls": True} if tls else {})}


def _days(found: Expectations) -> int:
    return math.ceil((found.expiry_hours or 0) / _DAY_H)


_FAMILIES: Final = {"ip4": "4", "ip6": "6"}
_SCHEMES: Final[Mapping[str, Callable[[str, int | None, Expectations], Made]]] = {
    "tcp": lambda host, port, _: ("tcp", {"host": host, "port": port}),
    "icmp": lambda host, _port, _: ("icmp", {"host": host, "count": 1}),
    "starttls": lambda host, port, found: (
        "tls",
        {"domain": f"{host}:{port or 25}", "startTls": "smtp", "expiryDays": _days(found)},
    ),
    "tls": _tls,
    "grpc": lambda host, port, _: _grpc(host, port, tls=False),
    "grpcs": lambda host, port, _: _grpc(host, port, tls=True),
    "ws": lambda _host, _port, _: ("websocket", {}),
    "wss": lambda _host, _port, _: ("websocket", {}),
    "ssh": lambda host, port, _: ("tcp", {"host": host, "port": port or 22, "expect": "=~^SSH-"}),
}


def _http(
    made: Draft, endpoint: Mapping[str, Any], url: str, client: Mapping[str, Any], found: Expectations
) -> Made:
    bare, user, password = login(url)
    name = text(endpoint.get("name"))
    headers = {
        field: made.secret(text(value), name, field) if _is_secret(field) else text(value)
        for field, value in mapping(endpoint.get("headers")).items()
    }
    body, method = text(endpoint.get("body")), text(endpoint.get("method")).upper()
    if truth(endpoint.get("graphql")):
        body = _graphql(body)
        method = method or "POST"
        headers.setdefault("Content-Type", "application/json")
    assertions = list(found.assertions)
    if found.expiry_hours is not None:
        assertions.append({"source": "certificateDays", "op": "gt", "value": _days(found)})
    certificate = mapping(client.get("tls"))
    config: Body = {
        "url": bare,
        "method": method if method != "GET" else "",
        "headers": headers,
        "body": body,
        "expectedStatus": found.expected_status(),
        "assertions": assertions,
        "ipVersion": _FAMILIES.get(text(client.get("network")), ""),
        "proxy": text(client.get("proxy-url")),
        "auth": made.sign_in(name, user, password),
    }
    if truth(client.get("insecure")):
        config["verifyTls"] = False
    if truth(client.get("ignore-redirect")):
        config["followRedirects"] = False
    if certificate.get("certificate-file") and certificate.get("private-key-file"):
        config["clientCert"] = made.secret("", name, "client_cert")
        config["clientKey"] = made.secret("", name, "client_key")
    return "http", config


def _is_secret(header: str) -> bool:
    return bool(re.search(r"auth|key|token|secret|cookie|password", header, re.IGNORECASE))


def _graphql(query: str) -> str:
    escaped = query.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'{{"query": "{escaped}"}}'


def _dns(endpoint: Mapping[str, Any], url: str, found: Expectations) -> Made:
    asked = mapping(endpoint.get("dns"))
    record = text(asked.get("query-type")).upper() or "A"
    if record == "PTR":
        raise NotCarried("DNS records of type PTR have no counterpart")
    scheme = url.partition("://")[0].lower() if "://" in url else ""
    if scheme in {"https", "tls", "tcp"}:
        raise NotCarried(f"asks its DNS server by {scheme}, which has no counterpart")
    wanted = found.body
    found.unknown += [
        f"{item['op']} of the answer"
        for item in found.assertions
        if item.get("op") != "eq" and item["source"] == "body"
    ]
    host, port = host_port(url)
    resolver = url.partition("://")[2] or url if port else host
    return "dns", {
        "host": text(asked.get("query-name")).rstrip("."),
        "recordType": record,
        "resolver": resolver.rstrip("/"),
        "expected": [wanted] if wanted else [],
        "rcode": found.rcode if found.rcode not in {None, "NOERROR"} else "",
    }


def _external(made: Draft, endpoint: Mapping[str, Any], reasons: list[str]) -> Body:
    every = seconds(mapping(endpoint.get("heartbeat")).get("interval"))
    if not every:
        raise NotCarried("has no heartbeat.interval: there is nothing to wait for")
    name, group = text(endpoint.get("name")), text(endpoint.get("group"))
    called = f"{key(group)}_{key(name)}" if group else key(name)
    made.report.ping_urls[name] = f"/api/v1/endpoints/{called}/external"
    reasons.append("its URL changes: success=false is /fail here")
    return {"type": "heartbeat", "config": {"expectedInterval": interval(every, reasons), "gracePeriod": 1}}


def _maintenance(made: Draft, window: Any, place: str, monitor: str | None) -> None:
    given = mapping(window)
    if not given or not truth(given.get("enabled", True)):
        return
    origin = Origin("maintenance", "Maintenance" if monitor is None else f"Maintenance of {monitor}", place)
    length = seconds(given.get("duration"))
    start = re.fullmatch(r"(\d{1,2}):(\d{2})", text(given.get("start")))
    if start is None or not length:
        made.report.leave_out(origin, "its start or duration cannot be read")
        return
    days = [_DAYS[day] for item in elements(given.get("every")) if (day := text(item).lower()) in _DAYS]
    body: Body = {
        "name": origin.name,
        "start": f"2026-01-01T{int(start[1]):02}:{start[2]}:00",
        "duration": int(length),
        "timezone": text(given.get("timezone")) or "UTC",
        "rrule": f"FREQ=WEEKLY;BYDAY={','.join(days)}" if days else "FREQ=DAILY",
        **({"all": True} if monitor is None else {"monitors": [monitor]}),
    }
    made.add("maintenanceWindows", origin, f"gatus-maintenance-{key(monitor or 'all')}", body)


def _page(made: Draft, document: Mapping[str, Any], components: list[Body]) -> None:
    if not components:
        return
    ui = mapping(document.get("ui"))
    logo = text(ui.get("logo"))
    reasons = [f"ui.{name} is not carried" for name in ("custom-css", "buttons", "link") if ui.get(name)]
    branding = {"logo": logo} if url_parts(logo).scheme in {"http", "https"} else None
    body: Body = {
        "name": text(ui.get("header")) or text(ui.get("title")) or "Status",
        "visibility": "private" if document.get("security") else "public",
        "branding": branding,
        "components": components,
    }
    made.add("statusPages", Origin("status page", text(body["name"]), "ui"), "gatus-page", body, reasons)
