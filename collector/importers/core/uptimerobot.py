"""UptimeRobot: what its API lists (v2 and v3), or the same as a file."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from collector.importers.core.draft import Body, Draft, NotCarried, WrongSource
from collector.importers.core.report import PAUSED, Origin
from collector.importers.core.values import (
    drop_empty,
    elements,
    first_of,
    host_port,
    interval,
    key,
    mapping,
    objects,
    statuses,
    tags,
    text,
    timeout,
    truth,
    whole,
)

SYSTEM: Final = "uptimerobot"

Monitor = Mapping[str, Any]

_TYPES: Final = {"1": "HTTP", "2": "KEYWORD", "3": "PING", "4": "PORT", "5": "HEARTBEAT"}
_METHODS: Final = {
    "1": "HEAD",
    "2": "GET",
    "3": "POST",
    "4": "PUT",
    "5": "PATCH",
    "6": "DELETE",
    "7": "OPTIONS",
}
_PORTS: Final = {"1": 80, "2": 443, "3": 21, "4": 25, "5": 110, "6": 143}
_CONTACTS: Final = {
    "2": "email", "5": "webhook", "11": "slack", "23": "discord",
    "EMAIL": "email", "WEBHOOK": "webhook", "SLACK": "slack", "DISCORD": "discord",
}  # fmt: skip
_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_COMPARISONS: Final = {
    "equals": "eq", "not_equals": "ne", "contains": "contains", "not_contains": "notContains",
    "greater_than": "gt",
    "less_than": "lt",
}  # fmt: skip
_LONGEST_REPEAT_M: Final = 10_080


def draft(document: Any) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if the document lists no monitors.

    *document*: answers of the API: `monitors`, `alert_contacts`, `mwindows`, `psps` (v2), or `data` (v3).
    """
    if isinstance(document, list):
        document = {"monitors": document}
    monitors = document.get("monitors", document.get("data")) if isinstance(document, dict) else None
    if not isinstance(monitors, list):
        raise WrongSource("is no answer of UptimeRobot: it has neither `monitors` nor `data`")
    made = Draft(SYSTEM)
    channels = _add_contacts(made, objects(document.get("alert_contacts", document.get("alertContacts"))))
    keys: dict[str, str] = {}
    for monitor in objects(monitors):
        id_ = text(monitor.get("id"))
        name = html.unescape(text(first_of(monitor, "friendly_name", "friendlyName"))) or f"Monitor {id_}"
        origin = Origin("monitor", name, f"monitor {id_}")
        reasons: list[str] = []
        try:
            body = _body(made, monitor, name, reasons)
        except NotCarried as error:
            made.report.leave_out(origin, str(error))
            continue
        keys[id_] = made.add("monitors", origin, f"ur-{key(id_)}", body, reasons)
        _notify(made, keys[id_], monitor, body, channels)
    _add_windows(
        made, objects(document.get("mwindows", document.get("maintenanceWindows"))), objects(monitors), keys
    )
    _add_pages(made, objects(document.get("psps")), keys)
    return made


def _body(made: Draft, monitor: Monitor, name: str, reasons: list[str]) -> Body:
    type_ = text(monitor.get("type")).upper()
    type_ = _TYPES.get(type_, type_)
    every = interval(float(whole(monitor.get("interval")) or 300), reasons)
    if text(monitor.get("status")).upper() in {"0", "PAUSED"}:
        reasons.append(PAUSED)
    url = html.unescape(text(monitor.get("url")))
    body: Body = {
        "name": name,
        "interval": every,
        "timeout": timeout(float(whole(monitor.get("timeout")) or 30), reasons),
        "failureThreshold": max(
            min(whole(mapping(monitor.get("config")).get("applicationErrorRetries")) or 1, 100), 1
        ),
        "group": text(monitor.get("groupName")),
        "tags": tags((_tag(tag), "") for tag in elements(monitor.get("tags"))),
    }
    if type_ in {"HTTP", "KEYWORD", "API"}:
        body |= {"type": "http", "config": _http(made, monitor, type_, url, name, reasons)}
    elif type_ == "PING":
        body |= {"type": "icmp", "config": {"host": host_port(url)[0]}}
    elif type_ == "PORT":
        port = whole(monitor.get("port")) or _PORTS.get(text(monitor.get("sub_type")))
        body |= {"type": "tcp", "config": {"host": host_port(url)[0], "port": port or host_port(url)[1]}}
    elif type_ == "HEARTBEAT":
        grace = whole(first_of(monitor, "gracePeriod", "grace_period"))
        made.report.ping_urls[name] = url
        reasons.append("its URL changes")
        body = {
            "name": name,
            "type": "heartbeat",
            "config": {"expectedInterval": every, "gracePeriod": max(grace or 60, 1)},
        }
    elif type_ == "DNS":
        body |= {"type": "dns", "config": _dns(monitor, url, reasons)}
    else:
        raise NotCarried(f"monitors of type {type_ or 'none'} have no counterpart")
    if truth(first_of(monitor, "sslExpirationReminder", "ssl_expiration_reminder")):
        reasons.append("the reminder of its certificate's expiry: add a monitor of type tls")
    return drop_empty(body)


def _http(made: Draft, monitor: Monitor, type_: str, url: str, name: str, reasons: list[str]) -> Body:
    method = text(first_of(monitor, "http_method", "httpMethodType")).upper()
    method = _METHODS.get(method, method) or "GET"
    headers = mapping(first_of(monitor, "custom_http_headers", "customHttpHeaders"))
    config: Body = {
        "url": url,
        "method": method if method != "GET" else "",
        "headers": made.secret_headers(name, headers),
        "body": _sent(monitor),
        "expectedStatus": _expected(monitor),
        "auth": _auth(made, monitor, name, reasons),
    }
    family = text(mapping(monitor.get("config")).get("ipVersion"))
    if family in {"ipv4Only", "ipv6Only"}:
        config["ipVersion"] = family[3]
    if truth(first_of(monitor, "ignore_ssl_errors")) or monitor.get("checkSSLErrors") is False:
        config["verifyTls"] = False
    if monitor.get("followRedirections") is False:
        config["followRedirects"] = False
    assertions: list[Body] = []
    if type_ == "KEYWORD":
        assertions.append(_keyword(monitor))
    if type_ == "API":
        assertions += _assertions(mapping(mapping(monitor.get("config")).get("apiAssertions")))
    config["assertions"] = assertions
    return drop_empty(config)


def _sent(monitor: Monitor) -> Any:
    value = first_of(monitor, "post_value", "postValueData")
    return value if isinstance(value, str | dict | list) else ""


def _keyword(monitor: Monitor) -> Body:
    """Return the assertion: UptimeRobot's type says when to alert, not what is wanted."""
    wanted = html.unescape(text(first_of(monitor, "keyword_value", "keywordValue")))
    absent = text(first_of(monitor, "keyword_type", "keywordType")).upper() in {"1", "ALERT_EXISTS"}
    any_case = text(first_of(monitor, "keyword_case_type", "keywordCaseType")) in {"1", "CaseInsensitive"}
    if not any_case:
        return {"source": "body", "op": "notContains" if absent else "contains", "value": wanted}
    if absent:
        raise NotCarried("wants a keyword to be absent in any case, which has no counterpart")
    return {"source": "body", "op": "matches", "value": f"(?i){re.escape(wanted)}"}


def _assertions(given: Mapping[str, Any]) -> list[Body]:
    checks = objects(given.get("checks"))
    if text(given.get("logic")).upper() == "OR" and len(checks) > 1:
        raise NotCarried("wants any of several assertions, which has no counterpart")
    found: list[Body] = []
    for check in checks:
        op = _COMPARISONS.get(text(check.get("comparison")))
        if op is None:
            raise NotCarried(f"its comparison {text(check.get('comparison'))} has no counterpart")
        found.append(
            {"source": "json", "path": text(check.get("property")), "op": op, "value": check.get("target")}
        )
    return found


def _expected(monitor: Monitor) -> Any:
    given = monitor.get("successHttpResponseCodes")
    if isinstance(given, list) and given:
        return statuses(given)
    custom = text(monitor.get("custom_http_statuses"))
    pairs = [part.partition(":") for part in custom.split("_") if ":" in part]
    kept = set(range(200, 400))
    for code, _, up in pairs:
        if code.isdigit():
            (kept.add if up == "1" else kept.discard)(int(code))
    return statuses(kept)


def _auth(made: Draft, monitor: Monitor, name: str, reasons: list[str]) -> Body | None:
    kind = text(first_of(monitor, "http_auth_type", "authType")).upper()
    user = text(first_of(monitor, "http_username", "httpUsername"))
    password = text(first_of(monitor, "http_password", "httpPassword"))
    if kind in {"2", "DIGEST"}:
        reasons.append("digest authentication is not carried")
        return None
    if kind == "BEARER":
        return {"type": "bearer", "token": made.secret(password, name, "token")}
    return made.sign_in(name, user, password)


def _dns(monitor: Monitor, url: str, reasons: list[str]) -> Body:
    records = mapping(mapping(monitor.get("config")).get("dnsRecords"))
    wanted = [(record, values) for record, values in records.items() if values]
    if len(wanted) > 1:
        reasons.append(f"only its {wanted[0][0]} records are checked: add a monitor for each other type")
    record, values = wanted[0] if wanted else ("A", [])
    return {
        "host": host_port(url)[0],
        "recordType": record,
        "expected": [text(item) for item in elements(values)],
    }


def _add_contacts(made: Draft, contacts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for contact in contacts:
        id_, value = text(contact.get("id")), text(contact.get("value"))
        name = html.unescape(text(first_of(contact, "friendly_name", "friendlyName"))) or value or id_
        origin = Origin("alert contact", name, f"alert contact {id_}")
        kind = _CONTACTS.get(text(contact.get("type")).upper())
        if text(contact.get("status")) in {"0", "1"}:
            made.report.leave_out(origin, "is paused or not activated there")
        elif kind is None or not value:
            made.report.leave_out(
                origin, f"contacts of type {text(contact.get('type'))} do not show what a channel needs"
            )
        else:
            field = {"email": "recipients", "webhook": "url"}.get(kind, "webhookUrl")
            config: Body = {field: [value] if kind == "email" else made.secret(value, name, "url")}
            reasons = ["its body is Tocsin's: the receiver must be changed"] if kind == "webhook" else []
            body: Body = {"name": name, "type": kind, "config": config}
            found[id_] = made.add("channels", origin, f"ur-contact-{key(id_)}", body, reasons)
    return found


def _notify(made: Draft, monitor: str, source: Monitor, body: Body, channels: Mapping[str, str]) -> None:
    """Make a rule for each wait before and between notifications."""
    for contact in objects(first_of(source, "alert_contacts", "assignedAlertContacts")):
        channel = channels.get(text(first_of(contact, "id", "alertContactId")))
        if channel is None:
            continue
        wait, again = whole(contact.get("threshold")) or 0, whole(contact.get("recurrence")) or 0
        settings: Body = {}
        if wait:
            failures = min(max(round(wait * 60 / body.get("interval", 300)), 1), 1000)
            settings["conditions"] = {"consecutiveFailures": failures}
        if again:
            settings["repeatMinutes"] = min(again, _LONGEST_REPEAT_M)
        made.notify(monitor, [channel], **settings)


def _add_windows(
    made: Draft, windows: Sequence[Mapping[str, Any]], monitors: Sequence[Monitor], keys: Mapping[str, str]
) -> None:
    for window in windows:
        id_ = text(window.get("id"))
        name = html.unescape(text(first_of(window, "friendly_name", "friendlyName"))) or f"Maintenance {id_}"
        origin = Origin("maintenance", name, f"maintenance window {id_}")
        named = [text(item) for item in elements(window.get("monitorIds"))]
        named += [
            text(item.get("id"))
            for item in monitors
            for own in objects(item.get("mwindows"))
            if text(own.get("id")) == id_
        ]
        covered = list(dict.fromkeys(keys[item] for item in named if item in keys))
        times = _times(window)
        if times is None or not covered:
            made.report.leave_out(
                origin, "no monitor of it is carried" if times else "its times cannot be read"
            )
            continue
        reasons = ["its times are those of the account's zone: they are taken as UTC"]
        body: Body = {"name": name, "monitors": covered, "timezone": "UTC", **times}
        made.add("maintenanceWindows", origin, f"ur-window-{key(id_)}", body, reasons)


def _times(window: Mapping[str, Any]) -> Body | None:
    kind = {"1": "once", "2": "daily", "3": "weekly", "4": "monthly"}.get(
        text(window.get("type")), text(window.get("interval"))
    )
    clock = re.search(r"(\d{1,2}):(\d{2})", text(first_of(window, "start_time", "time")))
    minutes = whole(window.get("duration"))
    days = [
        number for part in re.split(r"[-,]", text(window.get("value"))) if (number := whole(part)) is not None
    ]
    days = [number for item in elements(window.get("days")) or days if (number := whole(item)) is not None]
    day = text(window.get("date"))[:10] or "2026-01-01"
    rules = {
        "daily": "FREQ=DAILY",
        "weekly": "FREQ=WEEKLY;BYDAY=" + ",".join(_DAYS[(number - 1) % 7] for number in days),
        "monthly": "FREQ=MONTHLY;BYMONTHDAY=" + ",".join(map(str, days)),
    }
    if (
        not minutes
        or clock is None
        or (kind in {"weekly", "monthly"} and not days)
        or kind not in {"once", *rules}
    ):
        return None
    times: Body = {"start": f"{day}T{int(clock[1]):02}:{clock[2]}:00", "duration": minutes * 60}
    return times if kind == "once" else {**times, "rrule": rules[kind]}


def _add_pages(made: Draft, pages: Sequence[Mapping[str, Any]], keys: Mapping[str, str]) -> None:
    names = {item_key: item.body["name"] for item_key, item in made.sections["monitors"].items()}
    for page in pages:
        id_ = text(page.get("id"))
        name = html.unescape(text(first_of(page, "friendly_name", "friendlyName"))) or f"Status {id_}"
        listed = first_of(page, "monitors", "monitorIds")
        chosen = [text(item) for item in listed] if isinstance(listed, list) else list(keys)
        shown = [keys[item] for item in (chosen if chosen != ["0"] else keys) if item in keys]
        reasons = (
            ["its password is not shown by the API"]
            if truth(first_of(page, "password", "isPasswordSet"))
            else []
        )
        body: Body = {
            "name": name,
            "domain": text(first_of(page, "custom_url", "customDomain")).partition("://")[2]
            or text(first_of(page, "custom_url", "customDomain")),
            "components": [{"name": names[item], "monitorId": item} for item in shown],
            "visibility": "private" if reasons else "public",
        }
        made.add(
            "statusPages",
            Origin("status page", name, f"status page {id_}"),
            f"ur-page-{key(id_)}",
            drop_empty(body),
            reasons,
        )


def _tag(tag: Any) -> str:
    return text(tag.get("name")) if isinstance(tag, dict) else text(tag)
