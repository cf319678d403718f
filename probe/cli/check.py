"""``tocsin check``: runs one check from here and prints its phases; needs no server."""

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args
from urllib.parse import urlsplit

import orjson

from probe.checks import Check, Kept, prepare
from probe.cli import check_services, check_web3
from probe.net.engine import Net
from probe.schedule.certificate_ends import days_left
from probe.schedule.runner import CheckRun, run
from shared import loop
from shared.arguments import describe
from shared.kinds import UMBRELLA, WEB3, effective, load
from shared.kinds.fields import camel, is_host
from shared.kinds.http import (
    FRAMING,
    PROXY_PORTS,
    HttpVersion,
    Method,
    are_headers,
    is_proxy,
    is_url,
    status_ranges,
)
from shared.log import set_up
from shared.results import Status
from shared.setting_table import address

_TIMEOUT_S: Final = 10.0
_MOST_S: Final = 120.0
_UNKNOWN: Final = 3


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What to check, and how to report it."""

    type: str
    target: str
    config: Mapping[str, Any]
    timeout_s: float
    json: bool
    blocks: int = 0  # number of past blocks of a chain to check, too


def main(argv: list[str]) -> int:
    """Exit status 0: up, 1: down, 3: unknown; argparse exits with 2 on misuse."""
    whole = _parser()
    describe(whole)
    # As in the API, the subtypes of web3 monitors are types here, too.
    options, unknown = whole.parse_known_args([UMBRELLA, *argv] if argv[:1] and argv[0] in WEB3 else argv)
    parser: argparse.ArgumentParser = options.parser
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    set_up("console", "error")
    kept = Kept()
    try:
        config: dict[str, Any] = options.read(options)
        type_ = effective(options.type, config)
        blocks = getattr(options, "blocks", 0)
        asked = CheckRequest(type_, options.shown, config, options.timeout, options.json, blocks)
        check = prepare(type_, load(type_, config), kept)
    except ValueError as error:
        parser.error(str(error))
    return loop.run(_check(asked, check, kept))


async def _check(asked: CheckRequest, check: Check, kept: Kept) -> int:
    net = Net()
    try:
        ran = await run(check, net, asked.timeout_s)
        if asked.blocks and ran.outcome.state is not None:
            kept.keep(check_web3.rewound(ran.outcome.state, asked.blocks))
            ran = await run(check, net, asked.timeout_s)
    finally:
        net.close()
    print(_json(asked, ran) if asked.json else _text(asked, ran))  # noqa: T201 - to stdout, as asked
    if ran.outcome.status is Status.UNKNOWN:
        return _UNKNOWN
    return 0 if ran.outcome.status is Status.UP and not check_web3.crossed(ran.outcome) else 1


def _text(asked: CheckRequest, ran: CheckRun) -> str:
    outcome = ran.outcome
    code = f"   status {outcome.code}" if outcome.code else ""
    lines = [f"{outcome.status.name:<8}{asked.target}{code}"]
    if outcome.error:
        lines.append(f"{'':<8}{outcome.error}")
    measured = [(name.replace("_", " "), us) for name, us in _phases(ran) if us is not None]
    digits = 3 if asked.type == "icmp" else 1
    rows = [
        f"  {name:<12}{us / 1000:>10.{digits}f} ms" for name, us in [*measured, ("total", ran.duration_us)]
    ]
    if (days := days_left(outcome, time.time())) is not None:
        rows.append(f"  {'days left':<12}{days:>10.1f}")
    if outcome.loss_percent is not None:
        rows.append(f"  {'loss':<12}{outcome.loss_percent:>10.0f} %")
    if outcome.found:
        rows += ["", *check_web3.rows(outcome)]
    return "\n".join([*lines, "", *rows])


def _json(asked: CheckRequest, ran: CheckRun) -> str:
    outcome = ran.outcome
    phases = {camel(name): None if us is None else us / 1000 for name, us in _phases(ran)}
    answer: dict[str, Any] = {
        "success": outcome.status is Status.UP,
        "type": asked.type,
        "target": asked.target,
        "status": outcome.status.name.lower(),
        "responseTime": ran.duration_us / 1000,
        "statusCode": outcome.code or None,
        "error": outcome.error or None,
        "phases": phases,
    }
    if (days := days_left(outcome, time.time())) is not None:
        answer["daysLeft"] = round(days, 1)
    if outcome.loss_percent is not None:
        answer["lossPercent"] = round(outcome.loss_percent, 1)
    if asked.type in WEB3:
        answer["found"] = check_web3.found(outcome)
    return orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode()


def _phases(ran: CheckRun) -> list[tuple[str, int | None]]:
    phases = ran.outcome.phases
    return [
        ("dns", phases.dns_us),
        ("connect", phases.connect_us),
        ("tls", phases.tls_us),
        ("first_byte", phases.first_byte_us),
        ("transfer", phases.transfer_us),
    ]


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    common.add_argument(
        "--timeout", metavar="SECONDS", type=_seconds, default=_TIMEOUT_S, help="of the whole check (10)"
    )
    common.add_argument("--json", action="store_true", help="print JSON")
    parser = argparse.ArgumentParser(
        prog="tocsin check",
        allow_abbrev=False,
        description="Check a target once from here. Exit status: 0 up, 1 down, 2 misuse, "
        "3 unknown from here.",
    )
    types = parser.add_subparsers(dest="type", metavar="TYPE", required=True)
    _add_http(types.add_parser("http", parents=[common], allow_abbrev=False, help="an HTTP or HTTPS URL"))
    _add_tcp(types.add_parser("tcp", parents=[common], allow_abbrev=False, help="an open TCP port"))
    _add_icmp(types.add_parser("icmp", parents=[common], allow_abbrev=False, help="a host, by echo requests"))
    check_services.add(types, common)
    check_web3.add(types, common)
    for each in types.choices.values():
        each.set_defaults(parser=each)
    return parser


def _add_http(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", type=_url, help="http:// or https://")
    parser.add_argument("--method", type=str.upper, choices=get_args(Method), default="GET")
    parser.add_argument("--header", metavar="'NAME: VALUE'", type=_header, action="append", default=[])
    parser.add_argument("--body", metavar="TEXT", help="body of the request")
    parser.add_argument(
        "--expected-status", metavar="SPEC", type=_statuses, help="200, 200-299, or several: 200-299,401"
    )
    parser.add_argument("--ip-version", choices=("4", "6", "any"), default="any")
    parser.add_argument("--http-version", choices=get_args(HttpVersion), default="1.1")
    parser.add_argument("--proxy", metavar="URL", type=_proxy, help="http, https, socks5 or socks5h")
    parser.add_argument("--no-redirects", action="store_true", help="do not follow redirects")
    parser.add_argument("--no-verify-tls", action="store_true", help="accept any certificate")
    parser.set_defaults(read=_read_http)


def _add_tcp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("address", metavar="HOST:PORT", type=_host_and_port)
    parser.add_argument("--send", metavar="TEXT", type=_unescaped, help=r"text to send; \r\n is a line end")
    parser.add_argument("--expect", metavar="TEXT", help="text that the answer must have, or =~PATTERN")
    parser.add_argument("--tls", action="store_true", help="over TLS")
    parser.add_argument("--no-verify-tls", action="store_true", help="accept any certificate")
    parser.set_defaults(read=_read_tcp)


def _add_icmp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", metavar="HOST", type=_host)
    parser.add_argument("--count", type=int, choices=range(1, 21), metavar="N", default=3, help="echoes (3)")
    parser.add_argument("--ip-version", choices=("4", "6", "any"), default="any")
    parser.set_defaults(read=_read_icmp)


def _read_http(options: argparse.Namespace) -> dict[str, Any]:
    parts = urlsplit(options.url)
    # Do not repeat a password in the URL.
    options.shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return {
        "url": options.url,
        "method": options.method,
        "headers": dict(options.header),
        "body": options.body,
        "expectedStatus": options.expected_status,
        "ipVersion": options.ip_version,
        "httpVersion": options.http_version,
        "proxy": options.proxy,
        "followRedirects": not options.no_redirects,
        "verifyTls": not options.no_verify_tls,
    }


def _read_tcp(options: argparse.Namespace) -> dict[str, Any]:
    host, port = options.address
    options.shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return {
        "host": host,
        "port": port,
        "send": options.send,
        "expect": options.expect,
        "tls": options.tls,
        "verifyTls": not options.no_verify_tls,
    }


def _read_icmp(options: argparse.Namespace) -> dict[str, Any]:
    options.shown = options.host
    return {"host": options.host, "count": options.count, "ipVersion": options.ip_version}


def _url(text: str) -> str:
    if not is_url(text):
        raise argparse.ArgumentTypeError("must be an http or https URL")
    return text


def _proxy(text: str) -> str:
    if not is_proxy(text):
        raise argparse.ArgumentTypeError(
            "must be SCHEME://HOST:PORT, its scheme one of " + ", ".join(PROXY_PORTS)
        )
    return text


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    header = name.strip(), value.strip()
    if not colon or header[0].lower() in FRAMING or not are_headers(dict([header])):
        raise argparse.ArgumentTypeError("must be 'NAME: VALUE', and none that frames the request")
    return header


def _statuses(text: str) -> list[str]:
    specs = text.split(",")
    try:
        for spec in specs:
            status_ranges(spec)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return specs


def _host_and_port(text: str) -> tuple[str, int]:
    try:
        host, port = address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not is_host(host) or port == 0:
        raise argparse.ArgumentTypeError("must be a host name or an IP address, and a port from 1 to 65535")
    return host, port


def _unescaped(text: str) -> str:
    """Replace escapes of line ends and tabs, as typed in a shell."""
    for written, meant in (("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\0", "\0")):
        text = text.replace(written, meant)
    return text


def _host(text: str) -> str:
    if not is_host(text):
        raise argparse.ArgumentTypeError("must be a host name or an IP address")
    return text


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _MOST_S:
        raise argparse.ArgumentTypeError(f"must be more than 0 and at most {_MOST_S:g} seconds")
    return seconds


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
