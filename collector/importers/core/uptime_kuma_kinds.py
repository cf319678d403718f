"""Monitors of Uptime Kuma as configurations of ours, by type."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from collector.importers.core.draft import Body, Draft, NotCarried
from collector.importers.core.values import (
    comma_separated,
    drop_empty,
    host_port,
    interval,
    login,
    number,
    read_json,
    statuses,
    text,
    truth,
    url_parts,
    whole,
)

Row = Mapping[str, Any]
Made = tuple[str, Body]

DEFAULT_S: Final = 60
_PLAIN_PATH: Final = re.compile(r"\$?\.?[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*|\[\d+\])*|\$")
_STAND_INS: Final = {
    "mqtt": 1883, "kafka-producer": 9092, "rabbitmq": 5672, "mongodb": 27017, "sqlserver": 1433,
    "oracledb": 1521,
}  # fmt: skip
_RECORDS: Final = {"A", "AAAA", "CNAME", "MX", "TXT", "NS", "SOA", "SRV", "CAA"}
_BODY_TYPES: Final = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "xml": "text/xml; charset=utf-8",
}
_OPERATORS: Final = {
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "contains": "contains",
}
_DATABASES: Final = {
    "postgresql": "postgres", "postgres": "postgres", "mysql": "mysql", "redis": "redis", "rediss": "redis",
}  # fmt: skip


class Kinds:
    """Makes type and configuration; *stand_ins*: a TCP check in place of protocols that we do not speak."""

    def __init__(self, made: Draft, proxies: Sequence[Row], *, stand_ins: bool) -> None:
        self._made = made
        self._proxies = proxies
        self._stand_ins = stand_ins
        self._makers: Mapping[str, Callable[[Row, list[str]], Made]] = {
            "http": self._http,
            "keyword": self._keyword,
            "json-query": self._json_query,
            "port": self._tcp,
            "ping": self._ping,
            "dns": self._dns,
            "push": self._push,
            "websocket-upgrade": self._websocket,
            "smtp": self._smtp,
            "postgres": self._database,
            "mysql": self._database,
            "redis": self._database,
            "grpc-keyword": self._grpc,
        }

    def config(self, row: Row, type_: str, reasons: list[str]) -> Made:
        """Return type and configuration of a monitor. Raises NotCarried if it has no counterpart."""
        if truth(row.get("upsidedown")) and type_ not in {"http", "keyword", "json-query"}:
            raise NotCarried("is upside down: it wants the check to fail, which has no counterpart")
        make = self._makers.get(type_)
        if make is not None:
            return make(row, reasons)
        if type_ in _STAND_INS:
            return self._stand_in(row, type_, reasons)
        raise NotCarried(f"monitors of type {type_ or 'none'} have no counterpart")

    def _stand_in(self, row: Row, type_: str, reasons: list[str]) -> Made:
        if not self._stand_ins:
            raise NotCarried(
                f"monitors of type {type_} have no counterpart; --stand-ins checks that the port is open"
            )
        place = text(row.get("hostname")) or text(row.get("databaseconnectionstring"))
        brokers = row.get("kafkaproducerbrokers") or row.get("rabbitmqnodes")
        if brokers:
            listed = read_json(brokers)
            place = text(listed[0]) if isinstance(listed, list) and listed else place
        host, port = host_port(place, whole(row.get("port")) or _STAND_INS[type_])
        if not host:
            raise NotCarried(f"a monitor of type {type_} whose host cannot be read")
        reasons.append(f"only whether the port is open is checked in place of {type_}")
        return "tcp", {"host": host, "port": port}

    def _http(self, row: Row, reasons: list[str]) -> Made:
        url, user, password = login(text(row.get("url")))
        inverted = truth(row.get("upsidedown"))
        codes = read_json(row.get("acceptedstatuscodesjson") or row.get("acceptedstatuscodes")) or []
        accepted = statuses(codes if isinstance(codes, list) else [codes])
        if inverted:
            accepted = _others(codes if isinstance(codes, list) else [codes])
            reasons.append("is upside down: the status codes that are not accepted there count as up")
        auth = self._auth(row, user, password, reasons)
        config: Body = {
            "url": url,
            "method": text(row.get("method")).upper() or "GET",
            "headers": self._headers(row, reasons),
            "body": text(row.get("body")),
            "expectedStatus": accepted,
            "auth": auth,
        }
        if whole(row.get("maxredirects")) == 0:
            config["followRedirects"] = False
        if truth(row.get("ignoretls")):
            config["verifyTls"] = False
        config.update(self._client_certificate(row))
        config.update(self._proxy(row, reasons))
        family = text(row.get("ipfamily")).lower()
        if family in {"ipv4", "ipv6"}:
            config["ipVersion"] = family[-1]
        if config["method"] == "GET":
            del config["method"]
        if truth(row.get("cachebust")):
            reasons.append("the random parameter against caches is not sent")
        return "http", drop_empty(config)

    def _headers(self, row: Row, reasons: list[str]) -> Body:
        given = read_json(row.get("headers"))
        headers: Body = {}
        for name, value in (given if isinstance(given, dict) else {}).items():
            if name.lower() in {"content-length", "connection"}:
                reasons.append(f"the header {name} is set by the service itself")
            else:
                headers[name] = self._made.secret(text(value), text(row.get("name")), name)
        encoding = text(row.get("httpbodyencoding")) or "json"
        if text(row.get("body")) and "content-type" not in {name.lower() for name in headers}:
            headers["Content-Type"] = _BODY_TYPES.get(encoding, "application/json")
        return headers

    def _auth(self, row: Row, user: str, password: str, reasons: list[str]) -> Body | None:
        method = text(row.get("authmethod"))
        name = text(row.get("name"))
        if method == "bearer":
            return {"type": "bearer", "token": self._made.secret(text(row.get("bearertoken")), name, "token")}
        if method in {"ntlm", "oauth2-cc"}:
            reasons.append(f"the sign-in by {method} is not carried")
            return None
        user = text(row.get("basicauthuser")) or user
        password = text(row.get("basicauthpass")) or password
        return self._made.sign_in(name, user, password)

    def _client_certificate(self, row: Row) -> Body:
        certificate, private = text(row.get("tlscert")), text(row.get("tlskey"))
        if text(row.get("authmethod")) != "mtls" or not certificate or not private:
            return {}
        name = text(row.get("name"))
        return {
            "clientCert": self._made.secret(certificate, name, "client_cert"),
            "clientKey": self._made.secret(private, name, "client_key"),
        }

    def _proxy(self, row: Row, reasons: list[str]) -> Body:
        id_ = text(row.get("proxyid"))
        proxy = next((item for item in self._proxies if text(item.get("id")) == id_), None)
        if not id_ or id_ == "0" or proxy is None or not truth(proxy.get("active", True)):
            return {}
        scheme = text(proxy.get("protocol")) or "http"
        if scheme == "socks4":
            reasons.append("its proxy speaks SOCKS 4, which is not carried")
            return {}
        scheme = "socks5" if scheme.startswith("socks") else scheme
        sign_in = ""
        if truth(proxy.get("auth")):
            sign_in = f"{text(proxy.get('username'))}:{text(proxy.get('password'))}@"
        url = f"{scheme}://{sign_in}{text(proxy.get('host'))}:{text(proxy.get('port'))}"
        return {"proxy": self._made.secret(url, "proxy", id_) if sign_in else url}

    def _keyword(self, row: Row, reasons: list[str]) -> Made:
        kind, config = self._http({**row, "upsidedown": False}, reasons)
        absent = truth(row.get("invertkeyword")) != truth(row.get("upsidedown"))
        config["assertions"] = [
            {
                "source": "body",
                "op": "notContains" if absent else "contains",
                "value": text(row.get("keyword")),
            }
        ]
        return kind, config

    def _json_query(self, row: Row, reasons: list[str]) -> Made:
        if truth(row.get("upsidedown")):
            raise NotCarried("is upside down: it wants the JSON query to fail, which has no counterpart")
        path = text(row.get("jsonpath")).strip() or "$"
        if not _PLAIN_PATH.fullmatch(path):
            raise NotCarried(f"its query {path} is JSONata that is no plain path")
        kind, config = self._http(row, reasons)
        operator = text(row.get("jsonpathoperator")) or "=="
        op = _OPERATORS.get(operator)
        if op is None:
            raise NotCarried(f"its comparison {operator} has no counterpart")
        value = text(row.get("expectedvalue"))
        whole_path = path if path.startswith("$") else f"$.{path}"
        config["assertions"] = [
            {"source": "json", "path": whole_path, "op": op, "value": _json_value(value, op)}
        ]
        return kind, config

    def _tcp(self, row: Row, reasons: list[str]) -> Made:
        config: Body = {"host": text(row.get("hostname")), "port": whole(row.get("port"))}
        if text(row.get("smtpsecurity")) == "secure":
            config["tls"] = True
        if row.get("expectedtlsalert"):
            reasons.append("the expected TLS alert is not carried")
        return "tcp", config

    def _ping(self, row: Row, reasons: list[str]) -> Made:
        del reasons
        config: Body = {
            "host": text(row.get("hostname")),
            "count": min(max(whole(row.get("pingcount")) or 1, 1), 20),
        }
        size = whole(row.get("packetsize"))
        if size and size != 56:
            config["packetSize"] = max(size, 8)
        return "icmp", config

    def _dns(self, row: Row, reasons: list[str]) -> Made:
        record = text(row.get("dnsresolvetype")).upper() or "A"
        if record not in _RECORDS:
            raise NotCarried(f"DNS records of type {record} have no counterpart")
        servers = comma_separated(row.get("dnsresolveserver"))
        if len(servers) > 1:
            reasons.append(f"only the first of its {len(servers)} DNS servers is asked")
        port = whole(row.get("port"))
        resolver = servers[0] if servers else None
        if resolver and port and port != 53:
            resolver = f"[{resolver}]:{port}" if ":" in resolver else f"{resolver}:{port}"
        if read_json(row.get("conditions")):
            reasons.append("its conditions are not carried")
        return "dns", drop_empty(
            {"host": text(row.get("hostname")), "recordType": record, "resolver": resolver}
        )

    def _push(self, row: Row, reasons: list[str]) -> Made:
        every = interval(float(whole(row.get("interval")) or DEFAULT_S), [])
        retries = whole(row.get("maxretries")) or 0
        wait = whole(row.get("retryinterval")) or every
        if truth(row.get("upsidedown")):
            raise NotCarried("is upside down: it wants no push, which has no counterpart")
        token = text(row.get("pushtoken"))
        self._made.report.ping_urls[text(row.get("name"))] = f"/api/push/{token}"
        reasons.append("its URL changes; a push with a status other than up or down counts as good here")
        return "heartbeat", {"expectedInterval": every, "gracePeriod": max(retries * wait, 1)}

    def _websocket(self, row: Row, reasons: list[str]) -> Made:
        if text(row.get("wssubprotocol")):
            reasons.append("its subprotocol is not sent")
        config: Body = {"url": text(row.get("url"))}
        if truth(row.get("ignoretls")):
            config["verifyTls"] = False
        return "websocket", config

    def _smtp(self, row: Row, reasons: list[str]) -> Made:
        del reasons
        security = {"secure": "tls", "starttls": "starttls"}.get(text(row.get("smtpsecurity")), "none")
        return "smtp", drop_empty(
            {"host": text(row.get("hostname")), "port": whole(row.get("port")), "security": security}
        )

    def _database(self, row: Row, reasons: list[str]) -> Made:
        url = text(row.get("databaseconnectionstring"))
        parts = url_parts(url)
        kind = _DATABASES.get(parts.scheme)
        _, user, password = login(url)
        if kind is None or not parts.hostname:
            raise NotCarried("its connection string is no URL that can be read")
        password = text(row.get("radiuspassword")) or password if kind == "mysql" else password
        if text(row.get("databasequery")) and kind != "redis":
            reasons.append("its query is not run: the check signs in")
        config: Body = {"host": parts.hostname, "port": parts.port, "username": user}
        if kind == "redis" and user and not password:
            config["username"] = ""
        if password:
            config["password"] = self._made.secret(password, text(row.get("name")), "password")
        if kind == "postgres" and parts.path.strip("/"):
            config["database"] = parts.path.strip("/")
        if parts.scheme == "rediss" or "sslmode=require" in parts.query:
            config["tls"] = True
        return kind, drop_empty(config)

    def _grpc(self, row: Row, reasons: list[str]) -> Made:
        called = text(row.get("grpcservicename")).lower(), text(row.get("grpcmethod")).lower()
        if called[0].rpartition(".")[2] != "health" or called[1] != "check":
            raise NotCarried("calls a method other than the health service's Check")
        host, port = host_port(text(row.get("grpcurl")))
        if text(row.get("grpcmetadata")):
            reasons.append("its metadata is not sent")
        config: Body = {"host": host, "port": port}
        if truth(row.get("grpcenabletls")):
            config["tls"] = True
        return "grpc", config


def _others(codes: Iterable[Any]) -> Any:
    """Return the codes from 100 to 599 that are not among *codes*."""
    accepted = statuses(codes) or "200-299"
    listed = accepted if isinstance(accepted, list) else [accepted]
    kept = set(range(100, 600))
    for part in listed:
        first, _, last = str(part).partition("-")
        kept -= set(range(int(first), int(last or first) + 1))
    return statuses(kept)


def _json_value(value: str, op: str) -> Any:
    """Return a number, true or false for a text that is one: Kuma compares texts."""
    if op in {"lt", "le", "gt", "ge"}:
        return number(value) if number(value) is not None else value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    known = isinstance(parsed, bool) or (isinstance(parsed, int | float) and whole(parsed) is not None)
    return parsed if op in {"eq", "ne"} and known else value
