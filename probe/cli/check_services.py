"""``tocsin check`` for DNS, TLS and single-protocol servers."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, get_args

from shared.kinds.dns import Rcode, RecordType
from shared.kinds.fields import Security, host_and_port, is_host, is_host_and_port, is_place
from shared.kinds.tls import MinVersion, StartTls
from shared.kinds.websocket import is_websocket

Options = argparse.Namespace


@dataclass(frozen=True, slots=True)
class _Service:
    """*port* 0: required; None: the kind derives it from the security."""

    help: str
    port: int | None
    secure: bool


_SERVICES: Final = {
    "grpc": _Service("a gRPC server's health", 0, secure=False),
    "smtp": _Service("a mail server (SMTP)", None, secure=True),
    "imap": _Service("a mail server (IMAP)", None, secure=True),
    "pop3": _Service("a mail server (POP3)", None, secure=True),
    "postgres": _Service("a PostgreSQL server", 5432, secure=False),
    "mysql": _Service("a MySQL or MariaDB server", 3306, secure=False),
    "redis": _Service("a Redis server", 6379, secure=False),
}


def add(types: Any, common: argparse.ArgumentParser) -> None:
    """Add a parser for each service to *types*, with the *common* options."""

    def parser(name: str, text: str, read: Callable[[Options], dict[str, Any]]) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = types.add_parser(
            name, parents=[common], allow_abbrev=False, help=text
        )
        made.set_defaults(read=read)
        return made

    _add_dns(parser("dns", "what a name server answers", _read_dns))
    _add_tls(parser("tls", "a certificate", _read_tls))
    _add_websocket(parser("websocket", "a WebSocket", _read_websocket))
    for name, service in _SERVICES.items():
        _add_service(parser(name, service.help, _read_service), service)


def _add_dns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", metavar="NAME", type=_such(is_host, "a host name"))
    parser.add_argument("--record-type", type=str.upper, choices=get_args(RecordType), default="A")
    parser.add_argument("--resolver", metavar="HOST[:PORT]", type=_such(is_host_and_port, "a host"))
    parser.add_argument("--expected", metavar="ANSWER", action="append", default=[])
    parser.add_argument("--rcode", type=str.upper, choices=get_args(Rcode), default="NOERROR")


def _add_tls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("domain", metavar="HOST[:PORT]", type=_such(is_place, "a host, or a URL"))
    parser.add_argument(
        "--expiry-days", metavar="DAYS", type=int, default=14, help="minimum until expiry (14)"
    )
    parser.add_argument("--server-name", metavar="NAME", type=_such(is_host, "a host name"))
    parser.add_argument("--min-version", choices=get_args(MinVersion))
    parser.add_argument("--start-tls", choices=get_args(StartTls))


def _add_websocket(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", type=_such(is_websocket, "a ws or wss URL"))
    parser.add_argument("--send", metavar="TEXT")
    parser.add_argument("--expect", metavar="TEXT")
    parser.add_argument("--no-verify-tls", action="store_true", help="accept any certificate")


def _add_service(parser: argparse.ArgumentParser, service: _Service) -> None:
    place = _with_port if service.port == 0 else _such(is_host_and_port, "a host, perhaps with a port")
    parser.add_argument("address", metavar="HOST[:PORT]" if service.port != 0 else "HOST:PORT", type=place)
    parser.set_defaults(port=service.port)
    if service.secure:
        parser.add_argument("--security", choices=get_args(Security), default="none")
    else:
        parser.add_argument("--tls", action="store_true", help="over TLS")


def _read_dns(options: Options) -> dict[str, Any]:
    options.shown = f"{options.host} {options.record_type}"
    return {
        "host": options.host,
        "recordType": options.record_type,
        "resolver": options.resolver,
        "expected": options.expected,
        "rcode": options.rcode,
    }


def _read_tls(options: Options) -> dict[str, Any]:
    options.shown = options.domain
    return {
        "domain": options.domain,
        "expiryDays": options.expiry_days,
        "serverName": options.server_name,
        "minVersion": options.min_version,
        "startTls": options.start_tls,
    }


def _read_websocket(options: Options) -> dict[str, Any]:
    options.shown = options.url
    return {
        "url": options.url,
        "send": options.send,
        "expect": options.expect,
        "verifyTls": not options.no_verify_tls,
    }


def _read_service(options: Options) -> dict[str, Any]:
    host, port = host_and_port(options.address, options.port or 0)
    options.shown = options.address
    secured = {name: value for name, value in vars(options).items() if name in {"security", "tls"}}
    return {"host": host, "port": port, **secured} if port else {"host": host, **secured}


def _such(is_right: Callable[[str], bool], what: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not is_right(text):
            msg = f"must be {what}"
            raise argparse.ArgumentTypeError(msg)
        return text

    return read


def _with_port(text: str) -> str:
    if not is_host_and_port(text) or not host_and_port(text, 0)[1]:
        raise argparse.ArgumentTypeError("must be a host with a port")
    return text
