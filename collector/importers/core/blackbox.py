"""Modules of blackbox_exporter as types and configurations of ours."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from collector.importers.core.draft import Body, Draft, NotCarried
from collector.importers.core.values import (
    drop_empty,
    elements,
    host_port,
    mapping,
    objects,
    statuses,
    text,
    truth,
)

Made = tuple[str, Body]
Options = Mapping[str, Any]

_PLAIN: Final = re.compile(r"[\w\s/:,;=@%&<>'\"#-]+")
_MAIL: Final = {"220": "smtp", "* OK": "imap", "+OK": "pop3"}


def configuration(
    made: Draft, module: Options, name: str, target: str, hostname: str, reasons: list[str]
) -> Made:
    """Return type and configuration of *target* by a module. Raises NotCarried if it has no counterpart.

    *name*: of the module; *hostname*: the name to send in place of the target's host, or empty.
    """
    prober = text(module.get("prober"))
    make = _PROBERS.get(prober)
    if make is None:
        raise NotCarried(f"the prober {prober or 'none'} of its module {name} has no counterpart")
    kind, config = make(made, mapping(module.get(prober)), name, target, reasons)
    if hostname and kind == "http":
        config.setdefault("headers", {})["Host"] = hostname
    return kind, drop_empty(config)


def _http(made: Draft, options: Options, name: str, target: str, reasons: list[str]) -> Made:
    headers = made.secret_headers(name, mapping(options.get("headers")))
    for field, given in mapping(options.get("http_headers")).items():
        values = [text(item) for item in elements(mapping(given).get("values"))]
        secret = [text(item) for item in elements(mapping(given).get("secrets"))]
        headers[field] = made.secret(", ".join(secret), name, field) if secret else ", ".join(values)
    codes = [text(code) for code in elements(options.get("valid_status_codes"))]
    method = text(options.get("method")).upper()
    config: Body = {
        "url": target if "://" in target else f"http://{target}",
        "method": method if method != "GET" else "",
        "headers": headers,
        "body": text(options.get("body")),
        "expectedStatus": statuses(codes),
        "assertions": _assertions(options, reasons),
        "auth": _auth(made, options, name, reasons),
        "proxy": text(options.get("proxy_url")),
        "ipVersion": _family(options),
    }
    if options.get("follow_redirects") is False or truth(options.get("no_follow_redirects")):
        config["followRedirects"] = False
    tls = mapping(options.get("tls_config"))
    if truth(tls.get("insecure_skip_verify")):
        config["verifyTls"] = False
    reasons += [
        f"{field} of its module {name} is not carried"
        for field in (
            "oauth2",
            "body_file",
            "fail_if_ssl",
            "fail_if_body_json_matches_cel",
            "compression",
            "source_ip_address",
        )
        if options.get(field)
    ]
    reasons += [
        f"tls_config.{field} of its module {name} is not carried"
        for field in sorted(tls)
        if field != "insecure_skip_verify"
    ]
    return "http", config


def _assertions(options: Options, reasons: list[str]) -> list[Body]:
    found: list[Body] = [
        {"source": "body", "op": "matches", "value": text(pattern)}
        for pattern in elements(options.get("fail_if_body_not_matches_regexp"))
    ]
    for pattern in elements(options.get("fail_if_body_matches_regexp")):
        _add_absent(found, {"source": "body"}, text(pattern), reasons)
    for header in objects(options.get("fail_if_header_not_matches")):
        about = {"source": "header", "path": text(header.get("header"))}
        found.append({**about, "op": "matches", "value": text(header.get("regexp"))})
        if truth(header.get("allow_missing")):
            reasons.append(f"a response without the header {about['path']} fails here")
    for header in objects(options.get("fail_if_header_matches")):
        _add_absent(
            found,
            {"source": "header", "path": text(header.get("header"))},
            text(header.get("regexp")),
            reasons,
        )
    return found


def _add_absent(found: list[Body], about: Body, pattern: str, reasons: list[str]) -> None:
    """Add that a plain text is absent; other patterns have no opposite."""
    if _PLAIN.fullmatch(pattern):
        found.append({**about, "op": "notContains", "value": pattern})
    else:
        reasons.append(f"that {about['source']} does not match {pattern} is not checked")


def _auth(made: Draft, options: Options, name: str, reasons: list[str]) -> Body | None:
    basic, bearer = mapping(options.get("basic_auth")), mapping(options.get("authorization"))
    if basic:
        if basic.get("password_file"):
            reasons.append("its password is in a file: set the variable")
        password = made.secret(text(basic.get("password")), name, "password")
        return {"type": "basic", "username": text(basic.get("username")), "password": password}
    token = text(bearer.get("credentials")) or text(options.get("bearer_token"))
    if bearer or token:
        return {"type": "bearer", "token": made.secret(token, name, "token")}
    return None


def _family(options: Options) -> str:
    if options.get("ip_protocol_fallback") is not False:
        return ""
    return {"ip4": "4", "ip6": "6"}.get(text(options.get("preferred_ip_protocol")), "")


def _tcp(made: Draft, options: Options, name: str, target: str, reasons: list[str]) -> Made:
    del made
    host, port = host_port(target)
    steps = objects(options.get("query_response"))
    expected = [text(step.get("expect")) for step in steps if step.get("expect")]
    sent = [text(step.get("send")) for step in steps if step.get("send")]
    mail = next(
        (kind for start, kind in _MAIL.items() if expected and start in expected[0].replace("\\", "")), None
    )
    verify: Body = (
        {"verifyTls": False} if truth(mapping(options.get("tls_config")).get("insecure_skip_verify")) else {}
    )
    if mail and any(truth(step.get("starttls")) for step in steps):
        return mail, {"host": host, "port": port, "security": "starttls", **verify}
    if len(sent) > 1 or len(expected) > 1:
        reasons.append(f"of the dialogue of its module {name} one question and one answer are carried")
    config: Body = {
        "host": host,
        "port": port,
        "send": sent[0] if sent else "",
        "expect": f"=~{expected[0]}" if expected else "",
    }
    if truth(options.get("tls")):
        config |= {"tls": True, **verify}
    return "tcp", config


def _icmp(made: Draft, options: Options, name: str, target: str, reasons: list[str]) -> Made:
    del made, name, reasons
    size = options.get("payload_size")
    return "icmp", {
        "host": host_port(target)[0],
        "count": 1,
        "packetSize": max(size, 8) if isinstance(size, int) and size else None,
        "ipVersion": _family(options),
    }


def _dns(made: Draft, options: Options, name: str, target: str, reasons: list[str]) -> Made:
    del made
    record = text(options.get("query_type")).upper() or "ANY"
    if record not in {"A", "AAAA", "CNAME", "MX", "TXT", "NS", "SOA", "SRV", "CAA"}:
        raise NotCarried(f"DNS records of type {record} have no counterpart")
    if text(options.get("transport_protocol")) == "tcp" or truth(options.get("dns_over_tls")):
        reasons.append("the DNS server is asked by UDP here")
    if any(
        options.get(field)
        for field in ("validate_answer_rrs", "validate_authority_rrs", "validate_additional_rrs")
    ):
        reasons.append(f"the patterns on the records of its module {name} are not carried")
    rcodes = [text(code) for code in elements(options.get("valid_rcodes")) or ["NOERROR"]]
    return "dns", {
        "host": text(options.get("query_name")).rstrip("."),
        "recordType": record,
        "resolver": target,
        "rcode": rcodes[0] if rcodes[0] != "NOERROR" else "",
    }


def _grpc(made: Draft, options: Options, name: str, target: str, reasons: list[str]) -> Made:
    del made
    host, port = host_port(target)
    if options.get("metadata"):
        reasons.append(f"the metadata of its module {name} is not sent")
    config: Body = {"host": host, "port": port, "service": text(options.get("service"))}
    return "grpc", {**config, "tls": True} if truth(options.get("tls")) else config


def _websocket(made: Draft, options: Options, name: str, target: str, reasons: list[str]) -> Made:
    steps = objects(options.get("query_response"))
    expected = next((text(step.get("expect")) for step in steps if step.get("expect")), "")
    if expected and not _PLAIN.fullmatch(expected):
        reasons.append(f"the pattern {expected} of its module {name} is not carried: only a text can be")
        expected = ""
    headers = made.secret_headers(name, mapping(options.get("headers")))
    sent = next((text(step.get("send")) for step in steps if step.get("send")), "")
    return "websocket", {"url": target, "headers": headers, "send": sent, "expect": expected}


_PROBERS: Final[Mapping[str, Callable[[Draft, Options, str, str, list[str]], Made]]] = {
    "http": _http,
    "tcp": _tcp,
    "icmp": _icmp,
    "dns": _dns,
    "grpc": _grpc,
    "websocket": _websocket,
}
