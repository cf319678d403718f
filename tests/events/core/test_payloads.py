"""The JSON of every event, byte for byte: clients of webhooks and of the stream depend on it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

import orjson
import pytest

from collector.events.core import events
from collector.events.core.kinds import CHANGES, DELIVERED, EventKind
from collector.events.core.payloads import (
    AlertEvent,
    AlertIncident,
    CertificateExpiringEvent,
    EndingCertificate,
    EventAlert,
    EventIncident,
    EventLocation,
    EventPayload,
    EventProbe,
    EventWindow,
    MaintenanceEvent,
    MonitorChangeEvent,
    OfflineReason,
    ProbeOfflineEvent,
    ProbeOnlineEvent,
)
from collector.incidents.answers import IncidentAnswer
from collector.incidents.core.payloads import EventNote, IncidentEvent
from collector.incidents.core.status import IncidentStatus
from collector.platform.answer_json import encode
from collector.platform.answers import Person
from collector.status_pages.core.payloads import EventPage, EventPageIncident, PageIncidentEvent
from collector.web3.core import events as web3_events
from collector.web3.core.web3 import ChainAlert
from shared import ids

NOW: Final = datetime(2026, 11, 21, 7, 24, 1, 5_000, tzinfo=UTC)
SINCE: Final = NOW - timedelta(seconds=332)
ID: Final = UUID("019ae3b0-0000-7000-8000-000000000001")
INCIDENT_ID: Final = UUID("019ae3b0-0000-7000-8000-000000000002")
GOLDEN: Final = Path(__file__).with_name("event_payloads.jsonl")

MONITOR: Final = events.monitor_part(
    id_=ID, name="shop", type_="http", url="https://shop.example.com/", status="down"
)
ACTOR: Final = Person(id=None, name="System")
INCIDENT: Final = IncidentAnswer(
    id="inc_1",
    title="shop is down",
    description="",
    monitor_id="mon_1",
    monitor_name="shop",
    status=IncidentStatus.OPEN,
    severity="critical",
    started_at=SINCE,
    created_at=SINCE,
    acknowledged_at=NOW,
    acknowledged_by=Person(id="usr_1", name="Admin"),
    resolved_at=None,
    resolved_by=None,
    resolution_note=None,
    reopened_at=None,
    downtime=332,
    downtime_formatted="5m 32s",
    failure_count=3,
    last_error="refused",
    parent_incident_id=None,
)
LOCATIONS: Final = [
    EventLocation(
        location="local",
        status="down",
        failing=True,
        consecutive_failures=3,
        failing_since=SINCE,
        last_checked_at=NOW,
        error="refused",
    )
]
ALERT: Final = EventAlert(
    id="alert_1",
    rule_id="rule_1",
    rule_name="slow",
    reason="latencyThresholdMs",
    value=2140,
    threshold=None,
    fired_at=SINCE,
    escalation=0,
    severity="high",
    message="it is slow",
)
ALERT_INCIDENT: Final = AlertIncident(
    id="inc_1", severity="critical", started_at=SINCE, last_error="refused", downtime=332
)
PAGE: Final = EventPage(id="sp_1", name="Example", slug="example")
PAGE_INCIDENT: Final = EventPageIncident(
    id="spi_1",
    title="Checkout is slow",
    status="identified",
    severity="minor",
    affected_components=["comp_1"],
    component_status=None,
    scheduled_start=None,
    scheduled_end=None,
    message="We look into it",
    published_at=SINCE,
    updated_at=NOW,
    resolved_at=None,
)
WINDOW: Final = EventWindow(
    id="mw_1",
    name="Upgrade",
    description="",
    all=True,
    monitors=["mon_1"],
    tags={"team": "shop"},
    starts_at=datetime(2026, 11, 21, 7, 24, tzinfo=UTC),
    ends_at=datetime(2026, 11, 21, 8, 24, tzinfo=UTC),
)
PROBE: Final = EventProbe(
    id=ids.show("prb", ID),
    name="fra-1",
    locations=("fra",),
    version="0.2.0",
    last_seen_at=SINCE,
    reason=OfflineReason.LOST,
)
GAS: Final = web3_events.monitor_part(ID, "gas", "gas_price", "ethereum")
CROSSED: Final = {"current": "52.1", "threshold": "50", "unit": "gwei", "message": "gas costs 52.1 gwei"}
LOG: Final = {"name": "Transfer", "args": {"value": "1"}, "address": "0xd", "blockNumber": 19, "logIndex": 1}


def change(kind: EventKind) -> EventPayload:
    return MonitorChangeEvent(event=kind, timestamp=NOW, monitor=MONITOR)


def incident(kind: EventKind) -> EventPayload:
    note = EventNote(id="note_1", incident_id="inc_1", text="On it", created_by=ACTOR, created_at=NOW)
    return IncidentEvent(
        event=kind,
        timestamp=NOW,
        monitor=MONITOR,
        incident=INCIDENT,
        actor=ACTOR,
        note=note if kind == EventKind.INCIDENT_NOTE_ADDED else None,
    )


def alert(kind: EventKind) -> EventPayload:
    return AlertEvent(
        event=kind,
        timestamp=NOW,
        monitor=MONITOR,
        alert=ALERT,
        incident=ALERT_INCIDENT,
        location_states=LOCATIONS,
    )


def channel(kind: EventKind) -> EventPayload:
    return events.channel(kind, id_=ID, name="ops", type_="slack", since=SINCE, error="404", now=NOW)


def notice(kind: EventKind) -> EventPayload:
    build = events.degraded if kind == EventKind.MONITOR_DEGRADED else events.flapping
    return build(MONITOR, LOCATIONS, begins=True, now=NOW)


def down(_kind: EventKind) -> EventPayload:
    return events.down(
        MONITOR,
        incident_id=INCIDENT_ID,
        severity="critical",
        failures=3,
        error="refused",
        started_at=SINCE,
        now=NOW,
    )


def up(_kind: EventKind) -> EventPayload:
    return events.up(MONITOR, incident_id=INCIDENT_ID, severity="critical", downtime_s=332, now=NOW)


def certificate(_kind: EventKind) -> EventPayload:
    return CertificateExpiringEvent(
        event=EventKind.CERTIFICATE_EXPIRING,
        timestamp=NOW,
        monitor=MONITOR,
        certificate=EndingCertificate(ends_at=NOW, days_left=3, expiry_days=14),
        incident=EventIncident(id="inc_1", severity="high"),
    )


def measurement(kind: EventKind) -> EventPayload:
    measured = kind == "monitor.measured"
    return events.measurement(MONITOR, measured=measured, since=SINCE, error="no route", now=NOW)


def maintenance(kind: EventKind) -> EventPayload:
    return MaintenanceEvent(event=kind, timestamp=NOW, maintenance_window=WINDOW)


def page_incident(kind: EventKind) -> EventPayload:
    return PageIncidentEvent(event=kind, timestamp=NOW, status_page=PAGE, incident=PAGE_INCIDENT, actor=ACTOR)


def probe(kind: EventKind) -> EventPayload:
    if kind == "probe.offline":
        return ProbeOfflineEvent(event=kind, timestamp=NOW, probe=PROBE, affected_monitors=2)
    return ProbeOnlineEvent(event=kind, timestamp=NOW, probe=PROBE, offline_since=SINCE)


def crossing(kind: EventKind) -> EventPayload:
    sub_type = "gas_price" if kind == "web3.gas.alert" else "defi_protocol"
    crossed = ChainAlert(locations=(1,), raised_at=SINCE, data=CROSSED)
    return web3_events.crossing(GAS, sub_type, "high_gas", crossed, over=False, now=NOW)


def log(_kind: EventKind) -> EventPayload:
    return web3_events.log(GAS, "contract_event", LOG, removed=False, now=NOW)


BUILDERS: Final[dict[Callable[[EventKind], EventPayload], tuple[str, ...]]] = {
    down: ("monitor.down",),
    up: ("monitor.up",),
    change: tuple(f"monitor.{past}" for past in ("created", "updated", "paused", "resumed", "deleted")),
    notice: ("monitor.degraded", "monitor.flapping"),
    measurement: ("monitor.measured", "monitor.unmeasured"),
    incident: tuple(
        f"incident.{past}" for past in ("created", "acknowledged", "resolved", "reopened", "note_added")
    ),
    probe: ("probe.offline", "probe.online"),
    channel: ("channel.failing", "channel.recovered"),
    alert: ("alert.fired", "alert.recovered", "alert.escalated"),
    certificate: ("certificate.expiring",),
    maintenance: ("maintenance.started", "maintenance.ended"),
    page_incident: ("status_page.incident.published", "status_page.incident.updated"),
    crossing: ("web3.gas.alert", "web3.alert"),
    log: ("web3.event",),
}
EXPECTED: Final = GOLDEN.read_bytes().splitlines()
CASES: Final = [(EventKind(kind), build) for build, kinds in BUILDERS.items() for kind in kinds]


def sent(kind: EventKind, build: Callable[[EventKind], EventPayload]) -> bytes:
    """The event as receivers get it."""
    stored = orjson.loads(encode(build(kind)))
    fact = events.Fact(ID, kind, ID, 7, stored, INCIDENT_ID)
    return encode(events.body(fact, "https://tocsin.example.com"))


@pytest.mark.parametrize(
    ("kind", "build", "expected"),
    [pytest.param(*case, line, id=case[0].value) for case, line in zip(CASES, EXPECTED, strict=True)],
)
def test_receivers_get_the_same_bytes(
    kind: EventKind, build: Callable[[EventKind], EventPayload], expected: bytes
) -> None:
    assert sent(kind, build) == expected


def test_every_kind_has_its_bytes() -> None:
    # The test of a channel is built where it is sent.
    tested = {kind for kind, _ in CASES} | {"test"}

    assert tested == DELIVERED | CHANGES | {"channel.failing", "channel.recovered"}
