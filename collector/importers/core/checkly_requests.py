"""What Checkly's checks ask for and expect, as configurations of our types."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from collector.importers.core.draft import Body, Draft, NotCarried, clean, variable
from collector.importers.core.values import (
    drop_empty,
    elements,
    expected,
    mapping,
    number,
    objects,
    read_json,
    text,
    whole,
)

Check = Mapping[str, Any]
Made = tuple[str, Body]

_NAMED: Final = re.compile(r"\{\{\{?\s*([A-Za-z_][A-Za-z0-9_]{0,99})\s*\}?\}\}")
_COMPARISONS: Final = {
    "EQUALS": "eq", "NOT_EQUALS": "ne", "CONTAINS": "contains", "NOT_CONTAINS": "notContains",
    "LESS_THAN": "lt", "GREATER_THAN": "gt",
}  # fmt: skip
_NULLS: Final = {"IS_NULL": "eq", "NOT_NULL": "ne"}
_SOURCES: Final = {"JSON_BODY": "json", "TEXT_BODY": "body", "HEADERS": "header"}
_IP_VERSIONS: Final = {"IPv4": "4", "IPv6": "6"}
_CONTENT_TYPES: Final = {
    "JSON": "application/json",
    "FORM": "application/x-www-form-urlencoded",
    "GRAPHQL": "application/json",
}
_UNITS_S: Final = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}


def with_variables(value: Any) -> Any:
    """Return *value* with each ``{{NAME}}`` as a variable."""
    if isinstance(value, str):
        return _NAMED.sub(lambda match: variable(match[1]), clean(value))
    if isinstance(value, dict):
        return {name: with_variables(item) for name, item in value.items()}
    return [with_variables(item) for item in value] if isinstance(value, list) else value


def configuration(made: Draft, check: Check, name: str, reasons: list[str]) -> Made:
    """Return type and configuration of a check; adds to *reasons* how it differs.

    Raises NotCarried if no type of ours does the same.
    """
    type_ = text(first_type(check))
    make = _TYPES.get(type_)
    if make is None:
        raise NotCarried(f"checks of type {type_ or 'none'} have no counterpart")
    kind, config = make(made, check, name, reasons)
    return kind, drop_empty(config)


def first_type(check: Check) -> Any:
    """Return the check's type: `checkType`, or `type` in older answers."""
    return check.get("checkType") or check.get("type")


def _http(made: Draft, check: Check, name: str, reasons: list[str]) -> Made:
    request = mapping(check.get("request"))
    headers = {text(item.get("key")): text(item.get("value")) for item in objects(request.get("headers"))}
    content_type = _CONTENT_TYPES.get(text(request.get("bodyType")), "")
    body = text(request.get("body"))
    if body and content_type and "content-type" not in {field.lower() for field in headers}:
        headers["Content-Type"] = content_type
    method = text(request.get("method")).upper()
    asserted = objects(request.get("assertions"))
    sign_in = mapping(request.get("basicAuth"))
    config: Body = {
        "url": _url(request),
        "method": method if method != "GET" else "",
        "headers": {
            field: value if field == "Content-Type" else made.secret(value, name, field)
            for field, value in headers.items()
        },
        "body": body,
        "expectedStatus": _statuses(asserted, fails=check.get("shouldFail") is True),
        "assertions": [*_assertions(asserted, reasons), *_fastest(check)],
        "ipVersion": _IP_VERSIONS.get(text(request.get("ipFamily")), ""),
        "auth": made.sign_in(name, text(sign_in.get("username")), text(sign_in.get("password"))),
    }
    if request.get("followRedirects") is False:
        config["followRedirects"] = False
    if request.get("skipSSL") is True:
        config["verifyTls"] = False
    return "http", config


def _url(request: Check) -> str:
    url = text(request.get("url"))
    asked = [
        (text(item.get("key")), text(item.get("value"))) for item in objects(request.get("queryParameters"))
    ]
    if not asked:
        return url
    # A variable stays as it is: its value is escaped by whoever sets it.
    escaped = "&".join(f"{urlencode({key: ''})}{value}" if clean(value) != value else urlencode({key: value})
                       for key, value in asked)  # fmt: skip
    return f"{url}{'&' if '?' in url else '?'}{escaped}"


def _statuses(asserted: Iterable[Check], *, fails: bool) -> str | int | list[str | int] | None:
    """Return `expectedStatus`: below 400, or from 400 if it should fail, and what is asserted of it."""
    wanted = [item for item in asserted if item.get("source") == "STATUS_CODE"]
    codes = [code for code in range(100, 600) if all(_allows(item, code) for item in wanted)]
    usual = [code for code in codes if (code >= 400) is fails and (fails or code >= 200)]
    return expected((code, code) for code in usual or codes)


def _allows(assertion: Check, code: int) -> bool:
    target = number(assertion.get("target"))
    if target is None:
        return True
    return {
        "EQUALS": code == target,
        "NOT_EQUALS": code != target,
        "LESS_THAN": code < target,
        "GREATER_THAN": code > target,
    }.get(text(assertion.get("comparison")), True)


def _assertions(asserted: Iterable[Check], reasons: list[str]) -> list[Body]:
    made: list[Body] = []
    for item in asserted:
        source = text(item.get("source"))
        if source == "STATUS_CODE":
            continue
        assertion = _assertion(item, source)
        if assertion is None:
            reasons.append(
                f"its assertion {source} {text(item.get('property'))} {text(item.get('comparison'))} "
                "has no counterpart"
            )
        else:
            made.append(drop_empty(assertion) | {"value": assertion["value"]})
    return made


def _assertion(item: Check, source: str) -> Body | None:
    comparison, path = text(item.get("comparison")), text(item.get("property"))
    op, target = _COMPARISONS.get(comparison), text(item.get("target"))
    if source == "RESPONSE_TIME":
        return {"source": "responseTime", "op": op, "value": number(target)} if op else None
    # A pattern there chooses the part of a text that is compared.
    if source not in _SOURCES or text(item.get("regex")) or (source == "TEXT_BODY" and path):
        return None
    if source == "JSON_BODY" and comparison in _NULLS:
        return {"source": "json", "op": _NULLS[comparison], "path": path, "value": None}
    if op is None or (source == "TEXT_BODY" and not op.lower().endswith("contains")):
        return None
    value = _scalar(target) if source == "JSON_BODY" else target
    return {"source": _SOURCES[source], "op": op, "path": path, "value": value}


def _scalar(target: str) -> Any:
    """Return a number or truth value that stands as text, else the text."""
    value = read_json(target)
    return value if isinstance(value, bool) or whole(value) is not None else target


def _fastest(check: Check) -> list[Body]:
    slowest = whole(check.get("maxResponseTime"))
    return [{"source": "responseTime", "op": "lt", "value": slowest}] if slowest and slowest > 0 else []


def _tcp(made: Draft, check: Check, name: str, reasons: list[str]) -> Made:
    del name
    request = mapping(check.get("request"))
    config: Body = {"host": text(request.get("hostname")), "port": whole(request.get("port"))}
    if text(request.get("data")):
        config["send"] = made.secret(text(request.get("data")), text(check.get("name")), "data")
    for item in objects(request.get("assertions")):
        is_expected = item.get("source") == "RESPONSE_DATA" and item.get("comparison") == "CONTAINS"
        if is_expected and "expect" not in config:
            config["expect"] = text(item.get("target"))
        else:
            reasons.append(_uncarried(item))
    return "tcp", config


def _dns(made: Draft, check: Check, name: str, reasons: list[str]) -> Made:
    del made, name
    request = mapping(check.get("request"))
    server = request.get("nameServer")
    resolver, port = text(server), whole(request.get("port"))
    if isinstance(server, dict):
        resolver, port = text(server.get("host")), whole(server.get("port"))
    config: Body = {
        "host": text(request.get("query")),
        "recordType": text(request.get("recordType")),
        "resolver": f"{resolver}:{port}" if resolver and port and port != 53 else resolver,
    }
    for item in objects(request.get("assertions")):
        if item.get("source") == "RESPONSE_CODE" and item.get("comparison") == "EQUALS":
            config["rcode"] = text(item.get("target"))
        else:
            reasons.append(_uncarried(item))
    return "dns", config


def _icmp(made: Draft, check: Check, name: str, reasons: list[str]) -> Made:
    del made, name
    request = mapping(check.get("request"))
    reasons += [_uncarried(item) for item in objects(request.get("assertions"))]
    count = whole(request.get("pingCount"))
    return "icmp", {
        "host": text(request.get("hostname")),
        "count": min(max(count, 1), 20) if count else None,
        "ipVersion": _IP_VERSIONS.get(text(request.get("ipFamily")), ""),
    }


def _tls(made: Draft, check: Check, name: str, reasons: list[str]) -> Made:
    del made, name
    request = mapping(check.get("request"))
    reasons += [_uncarried(item) for item in objects(request.get("assertions"))]
    host, port = text(request.get("hostname")), whole(request.get("port"))
    return "tls", {"domain": f"{host}:{port}" if port and port != 443 else host}


def _heartbeat(made: Draft, check: Check, name: str, reasons: list[str]) -> Made:
    about = mapping(check.get("heartbeat"))
    reasons.append("its URL changes")
    if text(about.get("pingUrl")):
        made.report.ping_urls[name] = text(about.get("pingUrl"))
    every, grace = (
        (whole(about.get(field)) or 0) * _UNITS_S.get(text(about.get(unit)), 1)
        for field, unit in (("period", "periodUnit"), ("grace", "graceUnit"))
    )
    return "heartbeat", {"expectedInterval": every, "gracePeriod": max(grace, 1)}


def _uncarried(item: Check) -> str:
    return f"its assertion {text(item.get('source'))} {text(item.get('comparison'))} has no counterpart"


def scripts(check: Check) -> bool:
    """Whether it runs a script before or after its request."""
    fields = ("localSetupScript", "localTearDownScript", "setupSnippetId", "tearDownSnippetId")
    return any(check.get(field) for field in fields) or bool(elements(check.get("dependencies")))


_TYPES: Final[Mapping[str, Callable[[Draft, Check, str, list[str]], Made]]] = {
    "API": _http,
    "URL": _http,
    "TCP": _tcp,
    "DNS": _dns,
    "ICMP": _icmp,
    "SSL": _tls,
    "HEARTBEAT": _heartbeat,
}
