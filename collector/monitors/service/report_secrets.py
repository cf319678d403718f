"""The address and secret that a reporting monitor uses, and the secret's rotation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.evaluation import event_writer
from collector.events.core.kinds import EventKind
from collector.events.storage import events
from collector.metrics.service import series
from collector.monitors.answers import ReportTarget
from collector.monitors.service import receivers
from collector.monitors.service.columns import columns, settings_of, whole_config
from collector.monitors.service.monitors import SavedMonitor, record
from collector.monitors.storage import monitors as table
from collector.monitors.storage.monitors import Monitor
from collector.platform.context import ServiceContext
from collector.platform.storage.db import Tx
from collector.platform.storage.give_way import giving_way
from collector.platform.validation.validation import to_json
from shared.errors import Invalid, NotFound
from shared.kinds import RECEIVING, Kind, ReceiverType, load
from shared.kinds.heartbeat import Heartbeat
from shared.kinds.opentelemetry import OpenTelemetry
from shared.kinds.prometheus import Prometheus
from shared.tokens import new_token


@dataclass(frozen=True, slots=True)
class ReportingTarget:
    """The address of a monitor's reports; *token* is None if the URL is the secret."""

    url: str
    token: str | None


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of this service: the API with its version, and OTLP over gRPC."""

    base_url: str
    otlp_url: str


def shown(monitor: Monitor, config: Mapping[str, Any], at: Addresses) -> dict[str, Any]:
    """Return *config*, its secrets masked or not, as a GET shows it."""
    with_ping = receivers.shown(monitor.type, config, at.base_url)
    return series.shown(monitor, with_ping, at.base_url, at.otlp_url)


def made(monitor: Monitor, config: Mapping[str, Any], at: Addresses) -> ReportTarget | None:
    """Return the fields of *config* (whole) that the service made; None unless it receives reports."""
    known = shown(monitor, config, at)
    match monitor.type:
        case ReceiverType.HEARTBEAT:
            return ReportTarget(ping_url=known["pingUrl"])
        case ReceiverType.PROMETHEUS:
            return ReportTarget(ingest_url=known["ingestUrl"], auth_token=known["authToken"])
        case ReceiverType.OPENTELEMETRY:
            return ReportTarget(endpoint=known["endpoint"], auth_token=known["authToken"])
        case _:
            return None


def made_by(saved: SavedMonitor, at: Addresses) -> ReportTarget | None:
    """As `made`, of a monitor that was saved just now."""
    if saved.monitor.type not in RECEIVING:
        return None
    return made(saved.monitor, to_json(saved.kind), at)


def target(monitor: Monitor, config: Mapping[str, Any], at: Addresses) -> ReportingTarget | None:
    """Return the address and the secret in them."""
    known = made(monitor, config, at)
    url = known and (known.ping_url or known.ingest_url or known.endpoint)
    return ReportingTarget(url, known.auth_token) if known and url else None


async def rotate(means: ServiceContext, team_id: int, id_: UUID, now: datetime) -> SavedMonitor:
    """Replace its key or token; the old one is invalid from now on.

    Raises NotFound; Invalid for a monitor that does not receive reports.
    """

    async def work(tx: Tx) -> SavedMonitor:
        before = _reporting(await table.lock(tx, team_id, id_))
        kind = _renewed(load(before.type, whole_config(means.keyring, before)))
        written = columns(means.keyring, (team_id, id_), settings_of(before), kind)
        await table.save(tx, team_id, id_, written, before.revision + 1, now)
        after = _reporting(await table.get(tx, team_id, id_))
        await receivers.keep_changed(tx, after, kind, now)
        await record(tx, means.who, "rotate-key", after)
        await events.append_all(tx, [event_writer.change(EventKind.MONITOR_UPDATED, after, now)], now)
        return SavedMonitor(after, kind, [])

    return await giving_way(means.db, work)


def _renewed(kind: Kind) -> Kind:
    if isinstance(kind, Heartbeat):
        return receivers.with_new_key(kind)
    assert isinstance(kind, Prometheus | OpenTelemetry)  # noqa: S101 - no other type receives reports
    return replace(kind, auth_token=new_token())


def _reporting(monitor: Monitor | None) -> Monitor:
    if monitor is None:
        raise NotFound("Monitor not found")
    if monitor.type not in RECEIVING:
        raise Invalid({"type": f"a monitor of type {monitor.type} has no key to rotate"})
    return monitor
