"""How a job or a sender of metrics reports to its monitor: address, secret, lines to copy."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

import orjson
from aiohttp import web

from collector.console import common
from collector.console.answers import back
from collector.console.site import SITE
from collector.console.state import visitor
from collector.heartbeats import service as heartbeats
from collector.heartbeats.service import Expectation
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.metrics.service import series
from collector.metrics.storage.series import SeriesValue
from collector.monitors.api.context import addresses
from collector.monitors.console import monitors, schedules
from collector.monitors.service import report_secrets
from collector.monitors.service.columns import whole_config
from collector.monitors.service.reads import WHAT
from collector.monitors.service.report_secrets import ReportingTarget
from collector.monitors.storage.monitors import Monitor
from shared import ids
from shared.kinds import RECEIVING, ReceiverType

_CURL: Final = "curl -fsS -m 10 --retry 5 -o /dev/null"
_NIGHTLY: Final = "0 3 * * *"
_SERIES: Final = 50


@dataclass(frozen=True, slots=True)
class Copyable:
    """A text to copy, under its label."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class SeriesLine:
    """*stale*: its sender stopped it."""

    metric: str
    labels: str
    value: str
    at: datetime
    stale: bool


@dataclass(frozen=True, slots=True)
class ReportCard:
    """*lines*: empty if the visitor may not see them; *secret*: what rotates; *awaited*: no report so far.

    *pings*: of a heartbeat, *schedule*: the same in words; *series*: the newest values of metrics by name,
    of *total* series.
    """

    title: str
    secret: str
    lines: Sequence[Copyable]
    awaited: bool
    pings: Expectation | None
    schedule: str
    series: Sequence[SeriesLine]
    total: int


async def card(request: web.Request, monitor: Monitor) -> ReportCard | None:
    """Return how to report to a monitor, and what it reported; None for one that probes check."""
    if monitor.type not in RECEIVING:
        return None
    ping, db = monitor.type == ReceiverType.HEARTBEAT, context_of(request).db
    pings = await heartbeats.expectation(db, monitor) if ping else None
    values, total = ([], 0) if ping else await series.page(db, monitor, None, _SERIES, 0)
    return ReportCard(
        title="How to send pings" if ping else "How to send metrics",
        secret="key" if ping else "token",
        lines=_lines(request, monitor) if _may_see(request, monitor) else (),
        awaited=monitor.last_at is None,
        pings=pings,
        schedule=schedules.words(pings.plan) if pings else "",
        series=[_series(each) for each in values],
        total=total,
    )


def _series(series_value: SeriesValue) -> SeriesLine:
    labels = ", ".join(f"{name}={text}" for name, text in series_value.labels.items() if name != "__name__")
    value = series_value.value
    shown = "–" if value is None else f"{value:,.10g}"
    return SeriesLine(
        series_value.labels.get("__name__", ""), labels, shown, series_value.seen_at, series_value.stale
    )


async def rotate(request: web.Request) -> web.StreamResponse:
    id_ = path_id(request, "mon", WHAT)
    await report_secrets.rotate(
        common.service_context(request), visitor(request).team_id, id_, context_of(request).now()
    )
    return back(request, f"{monitors.path(id_)}#report", "Rotated: the previous one is refused.")


def _may_see(request: web.Request, monitor: Monitor) -> bool:
    """Whether the visitor may change the monitor and so read its secrets, as in the API."""
    path = f"{monitors.HERE}/{ids.show('mon', monitor.id)}/edit"
    return request.app[SITE].may(visitor(request).permission, "POST", path)


def _lines(request: web.Request, monitor: Monitor) -> Sequence[Copyable]:
    config = whole_config(context_of(request).keyring, monitor)
    target = report_secrets.target(monitor, config, addresses(request))
    if target is None:
        return ()
    if target.token is None:
        return _of_pings(target, config)
    own = (Copyable("Endpoint", target.url), Copyable("Token", target.token))
    if monitor.type == ReceiverType.PROMETHEUS:
        return (*own, Copyable("In prometheus.yml", _remote_write(target)))
    return (*own, *_of_otlp(target, config))


def _of_pings(target: ReportingTarget, config: Mapping[str, Any]) -> Sequence[Copyable]:
    ping, when = f"{_CURL} {target.url}", config.get("cron") or _NIGHTLY
    return (
        Copyable("Ping URL", target.url),
        Copyable("curl", ping),
        Copyable("In a crontab: ping after success", f"{when} /path/to/job && {ping}"),
        Copyable(
            "In a script: report run time and exit status too",
            f"{ping}/start\n/path/to/job\n{ping}/$?",
        ),
        Copyable("In Python", _python(target.url)),
        Copyable(
            "A Kubernetes CronJob", _cron_job(target.url, str(when), str(config.get("timezone") or "UTC"))
        ),
    )


def _python(url: str) -> str:
    return "\n".join(
        [
            "from urllib.request import urlopen",
            "",
            f"URL = {url!r}",
            "",
            'urlopen(f"{URL}/start", timeout=10)',
            "try:",
            "    job()",
            "except Exception:",
            '    urlopen(f"{URL}/fail", timeout=10)',
            "    raise",
            "urlopen(URL, timeout=10)",
        ]
    )


def _cron_job(url: str, when: str, zone: str) -> str:
    return "\n".join(
        [
            "apiVersion: batch/v1",
            "kind: CronJob",
            "metadata:",
            "  name: job",
            "spec:",
            f'  schedule: "{when}"',
            f'  timeZone: "{zone}"',
            "  jobTemplate:",
            "    spec:",
            "      template:",
            "        spec:",
            "          restartPolicy: Never",
            "          containers:",
            "            - name: job",
            "              image: example.com/job:latest",
            "              command:",
            "                - /bin/sh",
            "                - -c",
            f"                - /path/to/job; {_CURL} {url}/$?",
        ]
    )


def _remote_write(target: ReportingTarget) -> str:
    url, token = orjson.dumps(target.url).decode(), orjson.dumps(target.token).decode()
    return f"remote_write:\n  - url: {url}\n    authorization:\n      credentials: {token}"


def _of_otlp(target: ReportingTarget, config: Mapping[str, Any]) -> Sequence[Copyable]:
    protocol = str(config["otlpProtocol"])
    over = "http/protobuf" if protocol == "http" else protocol
    token = target.token or ""
    settings = {
        "OTEL_EXPORTER_OTLP_PROTOCOL": over,
        "OTEL_EXPORTER_OTLP_ENDPOINT": target.url,
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization={quote(f'Bearer {token}', safe='')}",
    }
    text = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in settings.items())
    return (
        Copyable("Environment of an exporter", text),
        Copyable("In the configuration of an OpenTelemetry Collector", _otel_collector(target, over)),
        *([] if over == "grpc" else [_try_http(target)]),
    )


def _otel_collector(target: ReportingTarget, protocol: str) -> str:
    name = "otlp" if protocol == "grpc" else "otlphttp"
    url, bearer = orjson.dumps(target.url).decode(), orjson.dumps(f"Bearer {target.token}").decode()
    return "\n".join(
        [
            "exporters:",
            f"  {name}/tocsin:",
            f"    endpoint: {url}",
            "    headers:",
            f"      authorization: {bearer}",
            "service:",
            "  pipelines:",
            "    metrics:",
            "      receivers: [otlp]",
            f"      exporters: [{name}/tocsin]",
        ]
    )


def _try_http(target: ReportingTarget) -> Copyable:
    header = shlex.quote(f"Authorization: Bearer {target.token}")
    sent = "-H 'Content-Type: application/json' -d '{\"resourceMetrics\": []}'"
    return Copyable("Try it", f"curl -i -H {header} {sent} {target.url}/v1/metrics")
