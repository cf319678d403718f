"""Upptime: the `.upptimerc.yml` of its repository."""

import re
from collections.abc import Mapping
from typing import Any, Final

from collector.importers.core.draft import Body, Draft, NotCarried, WrongSource, clean, variable
from collector.importers.core.report import Origin
from collector.importers.core.values import (
    drop_empty,
    elements,
    host_port,
    key,
    mapping,
    objects,
    statuses,
    text,
    truth,
    whole,
)

SYSTEM: Final = "upptime"

Site = Mapping[str, Any]

_DEFAULT_S: Final = 300
_TIMEOUT_S: Final = 30
_SECRET: Final = re.compile(r"\$([A-Z][A-Z0-9_]*)")
_EVERY: Final = re.compile(r"\*/(\d{1,2}) \* \* \* \*")
_UNVERIFIED: Final = (
    "__dangerous__insecure", "__dangerous__disable_verify_peer", "__dangerous__disable_verify_host",
)  # fmt: skip


def with_variables(raw: str) -> str:
    """Return the file with the repository's secrets marked as variables."""
    return _SECRET.sub(lambda match: variable(match[1]), clean(raw))


def draft(document: Any) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if it is no file of Upptime."""
    given = mapping(document)
    if not isinstance(given.get("sites"), list):
        raise WrongSource("is no configuration of Upptime: it has no sites")
    made = Draft(SYSTEM)
    made.report.say("notifications of Upptime are secrets of its repository: make channels and rules")
    every_s = _interval(given, made)
    components: list[Body] = []
    for number, site in enumerate(objects(given["sites"]), 1):
        name = text(site.get("name")) or text(site.get("url"))
        origin, reasons = Origin("site", name, f"sites[{number}]"), list[str]()
        try:
            kind, config = _configuration(site, reasons)
        except NotCarried as error:
            made.report.leave_out(origin, str(error))
            continue
        tags = {text(tag): "" for tag in elements(site.get("tags"))}
        body: Body = {
            "name": name,
            "type": kind,
            "interval": every_s,
            "timeout": _TIMEOUT_S,
            "tags": tags,
            "config": config,
        }
        called = made.add(
            "monitors", origin, f"upptime-{key(site.get('slug') or name)}", drop_empty(body), reasons
        )
        components.append({"name": name, "monitorId": called})
    _page(made, mapping(given.get("status-website")), components)
    return made


def _interval(given: Mapping[str, Any], made: Draft) -> int:
    schedule = text(mapping(given.get("workflowSchedule")).get("uptime"))
    match = _EVERY.fullmatch(schedule)
    if schedule and match is None:
        made.report.say(f"its schedule {schedule} is no plain interval: {_DEFAULT_S} s is taken")
    return int(match[1]) * 60 if match and int(match[1]) else _DEFAULT_S


def _configuration(site: Site, reasons: list[str]) -> tuple[str, Body]:
    url, check = text(site.get("url")), text(site.get("check")) or "http"
    if site.get("maxResponseTime"):
        reasons.append("maxResponseTime marks it as degraded there: add a rule on the latency")
    if check == "tcp-ping":
        host, port = host_port(url)
        return "tcp", {"host": host, "port": whole(site.get("port")) or port or 80}
    if check == "ws":
        return "websocket", {"url": url}
    if check == "ssl":
        return "tls", {"domain": host_port(url)[0] or url}
    if check != "http":
        raise NotCarried(f"checks of type {check} have no counterpart")
    return "http", _http(site, url, reasons)


def _http(site: Site, url: str, reasons: list[str]) -> Body:
    pairs = [text(header).partition(":") for header in elements(site.get("headers"))]
    codes = site.get("expectedStatusCodes")
    assertions: list[Body] = []
    for field, op in (
        ("__dangerous__body_down", "notContains"),
        ("__dangerous__body_down_if_text_missing", "contains"),
    ):
        if site.get(field):
            assertions.append({"source": "body", "op": op, "value": text(site.get(field))})
    reasons += [
        f"{field} is not carried" for field in site if str(field).startswith("__dangerous__body_degraded")
    ]
    method = text(site.get("method")).upper()
    config: Body = {
        "url": url,
        "method": method if method != "GET" else "",
        "headers": {name.strip(): value.strip() for name, mark, value in pairs if mark},
        "body": text(site.get("body")),
        "expectedStatus": statuses(codes) if isinstance(codes, list) else "200-399",
        "assertions": assertions,
        "ipVersion": "6" if truth(site.get("ipv6")) else "",
    }
    if any(truth(site.get(field)) for field in _UNVERIFIED):
        config["verifyTls"] = False
    if whole(site.get("maxRedirects")) == 0:
        config["followRedirects"] = False
    return drop_empty(config)


def _page(made: Draft, website: Mapping[str, Any], components: list[Body]) -> None:
    if not components or not website:
        return
    name = text(website.get("name")) or "Status"
    logo = text(website.get("logoUrl"))
    reasons = [
        f"its {field} is not carried"
        for field in ("introTitle", "introMessage", "navbar", "theme")
        if website.get(field)
    ]
    body: Body = {
        "name": name,
        "domain": text(website.get("cname")),
        "branding": {"logo": logo} if logo.startswith(("http://", "https://")) else {},
        "components": components,
    }
    made.add(
        "statusPages",
        Origin("status page", name, "status-website"),
        "upptime-page",
        drop_empty(body),
        reasons,
    )
