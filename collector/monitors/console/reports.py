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
from shared.kinds import RECEIVING

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
    ping, db = monitor.type == "heartbeat", context_of(request).db
    pings = await heartbeats.expectation(db, monitor) if ping else None
    found, total = ([], 0) if ping else await series.page(db, monitor, None, _SERIES, 0)
    return ReportCard(
        title="How to send pings" if ping else "How to send metrics",
        secret="key" if ping else "token",
        lines=_lines(request, monitor) if _may_see(request, monitor) else (),
        awaited=monitor.last_at is None,
        pings=pings,
        schedule=schedules.words(pings.plan) if pings else "",
        series=[_series(each) for each in found],
        total=total,
    )


def _series(found: SeriesValue) -> SeriesLine:
    labels = ", ".join(f"{name}={text}" for name, text in found.labels.items() if name != "__name__")
    value = found.value
    shown = "–" if value is None else f"{value:,.10g}"
    return SeriesLine(found.labels.get("__name__", ""), labels, shown, found.seen_at, found.stale)


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
    found = report_secrets.target(monitor, config, addresses(request))
    if found is None:
        return ()
    if found.token is None:
        return _of_pings(found, config)
    own = (Copyable("Endpoint", found.url), Copyable("Token", found.token))
    if monitor.type == "prometheus":
        return (*own, Copyable("In prometheus.yml", _remote_write(found)))
    return (*own, *_of_otlp(found, config))


def _of_pings(found: ReportingTarget, config: Mapping[str, Any]) -> Sequence[Copyable]:
    ping, when = f"{_CURL} {found.url}", config.get("cron") or _NIGHTLY
    return (
        Copyable("Ping URL", found.url),
        Copyable("curl", ping),
        Copyable("In a crontab: ping after success", f"{when} /path/to/job && {ping}"),
        Copyable(
            "In a script: report run time and exit status too",
            f"{ping}/start\n/path/to/job\n{ping}/$?",
        ),
        Copyable("In Python", _python(found.url)),
        Copyable(
            "A Kubernetes CronJob", _cron_job(found.url, str(when), str(config.get("timezone") or "UTC"))
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


def _remote_write(found: ReportingTarget) -> str:
    url, token = orjson.dumps(found.url).decode(), orjson.dumps(found.token).decode()
    return f"remote_write:\n  - url: {url}\n    authorization:\n      credentials: {token}"


def _of_otlp(found: ReportingTarget, config: Mapping[str, Any]) -> Sequence[Copyable]:
    protocol = str(config["otlpProtocol"])
    over = "http/protobuf" if protocol == "http" else protocol
    token = found.token or ""
    settings = {
        "OTEL_EXPORTER_OTLP_PROTOCOL": over,
        "OTEL_EXPORTER_OTLP_ENDPOINT": found.url,
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization={quote(f'Bearer {token}', safe='')}",
    }
    text = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in settings.items())
    return (
        Copyable("Environment of an exporter", text),
        Copyable("In the configuration of an OpenTelemetry Collector", _otel_collector(found, over)),
        *([] if over == "grpc" else [_try_http(found)]),
    )


def _otel_collector(found: ReportingTarget, protocol: str) -> str:
    name = "otlp" if protocol == "grpc" else "otlphttp"
    url, bearer = orjson.dumps(found.url).decode(), orjson.dumps(f"Bearer {found.token}").decode()
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


def _try_http(found: ReportingTarget) -> Copyable:
    header = shlex.quote(f"Authorization: Bearer {found.token}")
    sent = "-H 'Content-Type: application/json' -d '{\"resourceMetrics\": []}'"
    return Copyable("Try it", f"curl -i -H {header} {sent} {found.url}/v1/metrics")
