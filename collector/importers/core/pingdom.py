"""Pingdom: the details of its checks (API 3.1), as one file."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from collector.importers.core.draft import Body, Draft, NotCarried, WrongSource
from collector.importers.core.report import PAUSED, Origin
from collector.importers.core.values import (
    drop_empty,
    key,
    mapping,
    objects,
    tags,
    text,
    threshold,
    truth,
    whole,
)

SYSTEM: Final = "pingdom"

Check = Mapping[str, Any]
Made = tuple[str, Body]

_SEVERITIES: Final = {"HIGH": "critical", "LOW": "low"}
_USUAL_MS: Final = 30_000


def draft(document: Any) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if it lists no checks.

    *document*: `checks`, each the answer to ``/checks/{id}`` or what it holds under `check`.
    """
    listed = mapping(document).get("checks", document)
    if not isinstance(listed, list):
        raise WrongSource("is no answer of Pingdom: it has no checks")
    made = Draft(SYSTEM)
    made.report.say("users, teams and integrations are not carried: make channels and rules")
    for number, item in enumerate(objects(listed), 1):
        check = mapping(item.get("check")) or item
        id_ = text(check.get("id")) or str(number)
        name = text(check.get("name")) or text(check.get("hostname"))
        origin, reasons = Origin("check", name, f"check {id_}"), list[str]()
        try:
            kind, config = _configuration(made, check, name, reasons)
        except NotCarried as error:
            made.report.leave_out(origin, str(error))
            continue
        made.add(
            "monitors", origin, f"pingdom-{key(id_)}", _body(check, name, kind, config, reasons), reasons
        )
    return made


def _body(check: Check, name: str, kind: str, config: Body, reasons: list[str]) -> Body:
    if truth(check.get("paused")) or text(check.get("status")) == "paused":
        reasons.append(PAUSED)
    slow = whole(check.get("responsetime_threshold"))
    if slow and slow != _USUAL_MS:
        reasons.append(f"its threshold of {slow} ms: add a rule on the latency")
    return drop_empty(
        {
            "name": name,
            "type": kind,
            "interval": max(whole(check.get("resolution")) or 5, 1) * 60,
            "failureThreshold": threshold(check.get("sendnotificationwhendown")),
            "severity": _SEVERITIES.get(text(check.get("severity_level")).upper(), ""),
            "tags": tags((text(tag.get("name")), "") for tag in objects(check.get("tags"))),
            "config": drop_empty(
                {
                    **config,
                    **({"ipVersion": "6"} if truth(check.get("ipv6")) and kind in {"http", "icmp"} else {}),
                }
            ),
        }
    )


def _configuration(made: Draft, check: Check, name: str, reasons: list[str]) -> Made:
    given = check.get("type")
    if isinstance(given, str):
        if given in {"ping", "icmp"}:
            return "icmp", {"host": text(check.get("hostname"))}
        raise NotCarried(f"the list shows no details of a check of type {given}: give those of /checks/ID")
    type_, details = next(iter(mapping(given).items()), ("", {}))
    make = _TYPES.get(str(type_))
    if make is None:
        raise NotCarried(f"checks of type {type_ or 'none'} have no counterpart")
    return make(made, text(check.get("hostname")), mapping(details), name, reasons)


def _http(made: Draft, host: str, details: Check, name: str, reasons: list[str]) -> Made:
    secure = truth(details.get("encryption"))
    port = whole(details.get("port"))
    usual = 443 if secure else 80
    place = host if not port or port == usual else f"{host}:{port}"
    assertions: list[Body] = []
    for field, op in (("shouldcontain", "contains"), ("shouldnotcontain", "notContains")):
        if text(details.get(field)):
            assertions.append({"source": "body", "op": op, "value": text(details.get(field))})
    days = whole(details.get("ssl_down_days_before"))
    if secure and days:
        assertions.append({"source": "certificateDays", "op": "gt", "value": days})
    headers = mapping(details.get("requestheaders"))
    config: Body = {
        "url": f"http{'s' if secure else ''}://{place}{text(details.get('url')) or '/'}",
        "method": "POST" if text(details.get("postdata")) else "",
        "body": text(details.get("postdata")),
        "headers": made.secret_headers(
            name, {field: value for field, value in headers.items() if field.lower() != "user-agent"}
        ),
        "expectedStatus": "200-399",
        "assertions": assertions,
    }
    config["auth"] = made.sign_in(name, text(details.get("username")), text(details.get("password")))
    if details.get("verify_certificate") is False:
        config["verifyTls"] = False
    del reasons
    return "http", config


def _tcp(made: Draft, host: str, details: Check, name: str, reasons: list[str]) -> Made:
    del made, name, reasons
    sent, wanted = text(details.get("stringtosend")), text(details.get("stringtoexpect"))
    return "tcp", {"host": host, "port": whole(details.get("port")), "send": sent, "expect": wanted}


def _ping(made: Draft, host: str, details: Check, name: str, reasons: list[str]) -> Made:
    del made, details, name, reasons
    return "icmp", {"host": host}


def _dns(made: Draft, host: str, details: Check, name: str, reasons: list[str]) -> Made:
    del made, name, reasons
    wanted = text(details.get("expectedip"))
    return "dns", {
        "host": host,
        "resolver": text(details.get("nameserver")),
        "expected": [wanted] if wanted else [],
    }


def _mail(kind: str) -> Callable[[Draft, str, Check, str, list[str]], Made]:
    def make(made: Draft, host: str, details: Check, name: str, reasons: list[str]) -> Made:
        del made, name
        if text(details.get("stringtoexpect")):
            reasons.append("the text that it expects is not carried")
        return kind, {
            "host": host,
            "port": whole(details.get("port")),
            "security": "tls" if truth(details.get("encryption")) else "none",
        }

    return make


_TYPES: Final[Mapping[str, Callable[[Draft, str, Check, str, list[str]], Made]]] = {
    "http": _http,
    "tcp": _tcp,
    "ping": _ping,
    "dns": _dns,
    "smtp": _mail("smtp"),
    "pop3": _mail("pop3"),
    "imap": _mail("imap"),
}
