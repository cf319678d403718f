"""StatusCake: what its API v1 lists of ``/uptime``, ``/heartbeat`` and ``/ssl``, as one file."""

from collections.abc import Mapping
from typing import Any, Final

from collector.importers.core.draft import Body, Draft, NotCarried, WrongSource
from collector.importers.core.report import PAUSED, Origin
from collector.importers.core.values import (
    drop_empty,
    elements,
    expected,
    host_port,
    interval,
    key,
    login,
    mapping,
    objects,
    read_json,
    tags,
    text,
    threshold,
    timeout,
    truth,
    whole,
)

SYSTEM: Final = "statuscake"

Test = Mapping[str, Any]

_DEFAULT_S: Final = 300
_STATUS: Final = (100, 599)


def draft(document: Any) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if it lists no tests.

    *document*: `uptime`, `heartbeat`, `ssl`, each a list or an answer with `data`; or an answer of `/uptime`.
    """
    given = mapping(document)
    if isinstance(given.get("data"), list):
        given = {"uptime": given["data"]}
    if not {"uptime", "heartbeat", "ssl"} & set(given):
        raise WrongSource("is no answer of StatusCake: it has none of uptime, heartbeat and ssl")
    made = Draft(SYSTEM)
    made.report.say("contact groups are not carried: make channels and rules")
    for test in _listed(given.get("uptime")):
        _add(made, test)
    for test in _listed(given.get("heartbeat")):
        name, id_ = text(test.get("name")), text(test.get("id"))
        made.report.ping_urls[name] = text(test.get("website_url") or test.get("url"))
        config: Body = {"expectedInterval": whole(test.get("period")), "gracePeriod": 1}
        body: Body = {"name": name, "type": "heartbeat", "config": config}
        made.add(
            "monitors",
            Origin("heartbeat", name, f"heartbeat {id_}"),
            f"sc-heartbeat-{key(id_)}",
            body,
            ["its URL changes"],
        )
    for test in _listed(given.get("ssl")):
        url, id_ = text(test.get("website_url")), text(test.get("id"))
        days = max((whole(day) or 0 for day in _days(test.get("alert_at"))), default=14)
        body = {
            "name": url,
            "type": "tls",
            "config": {"domain": host_port(url)[0] or url, "expiryDays": days},
        }
        made.add("monitors", Origin("ssl", url, f"ssl {id_}"), f"sc-ssl-{key(id_)}", body)
    return made


def _add(made: Draft, test: Test) -> None:
    id_, type_ = text(test.get("id")), text(test.get("test_type")).upper()
    name = text(test.get("name")) or text(test.get("website_url")) or f"Test {id_}"
    origin, reasons = Origin("uptime test", name, f"uptime {id_}"), list[str]()
    every = interval(float(whole(test.get("check_rate")) or _DEFAULT_S), reasons)
    try:
        kind, config = _configuration(made, test, type_, name, reasons)
    except NotCarried as error:
        made.report.leave_out(origin, str(error))
        return
    if truth(test.get("paused")):
        reasons.append(PAUSED)
    body: Body = {
        "name": name,
        "type": kind,
        "interval": every,
        "timeout": timeout(float(whole(test.get("timeout")) or 0), reasons),
        "failureThreshold": threshold((whole(test.get("trigger_rate")) or 0) * 60 / every + 1),
        "tags": tags((text(tag), "") for tag in elements(test.get("tags"))),
        "config": drop_empty(config),
    }
    made.add("monitors", origin, f"sc-{key(id_)}", drop_empty(body), reasons)


def _configuration(made: Draft, test: Test, type_: str, name: str, reasons: list[str]) -> tuple[str, Body]:
    url, port = text(test.get("website_url")), whole(test.get("port"))
    host, own = host_port(url)
    if type_ in {"HTTP", "HEAD"}:
        return "http", _http(made, test, type_, name, reasons)
    if type_ in {"TCP", "SSH"}:
        return "tcp", {"host": host, "port": port or own or (22 if type_ == "SSH" else None)}
    if type_ == "PING":
        return "icmp", {"host": host}
    if type_ == "SMTP":
        return "smtp", {"host": host, "port": port or own}
    if type_ == "DNS":
        wanted = [text(address) for address in elements(test.get("dns_ips"))]
        return "dns", {"host": host, "resolver": text(test.get("dns_server")), "expected": wanted}
    raise NotCarried(f"tests of type {type_ or 'none'} have no counterpart")


def _http(made: Draft, test: Test, type_: str, name: str, reasons: list[str]) -> Body:
    url, user, password = login(text(test.get("website_url")))
    user, password = text(test.get("basic_username")) or user, text(test.get("basic_password")) or password
    found, body = text(test.get("find_string")), text(test.get("post_raw")) or test.get("post_body") or ""
    headers = mapping(read_json(test.get("custom_header")))
    config: Body = {
        "url": url,
        "method": "HEAD" if type_ == "HEAD" else "POST" if body else "",
        "headers": made.secret_headers(name, headers),
        "body": body if isinstance(body, str) else "",
        "expectedStatus": _good(test.get("status_codes")),
        "followRedirects": truth(test.get("follow_redirects")),
        "auth": made.sign_in(name, user, password),
    }
    if found:
        op = "notContains" if truth(test.get("do_not_find")) else "contains"
        config["assertions"] = [{"source": "body", "op": op, "value": found}]
    reasons += [
        f"its {field} is not carried" for field in ("user_agent", "final_endpoint") if test.get(field)
    ]
    if truth(test.get("enable_ssl_alert")):
        reasons.append("the warning about its certificate's expiry: add a monitor of type tls")
    return config


def _good(alerting: Any) -> Any:
    """Return the statuses other than those that alert."""
    bad = (
        {code for item in alerting if (code := whole(item)) is not None}
        if isinstance(alerting, list)
        else set[int]()
    )
    first, last = _STATUS
    return expected([(code, code) for code in range(first, last + 1) if code not in bad]) if bad else None


def _days(value: Any) -> list[Any]:
    return value if isinstance(value, list) else text(value).split(",")


def _listed(value: Any) -> list[dict[str, Any]]:
    return objects(value.get("data") if isinstance(value, dict) else value)
