"""The JSON of every event, byte for byte: clients of webhooks and of the stream depend on it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest

from collector.events.core import events
from collector.events.core.kinds import CHANGES, DELIVERED, EventKind
from collector.platform.answer_json import encode
from collector.web3.core import events as web3_events
from collector.web3.core.web3 import ChainAlert

NOW: Final = datetime(2026, 11, 21, 7, 24, 1, 5_000, tzinfo=UTC)
SINCE: Final = NOW - timedelta(seconds=332)
ID: Final = UUID("019ae3b0-0000-7000-8000-000000000001")
INCIDENT_ID: Final = UUID("019ae3b0-0000-7000-8000-000000000002")
GOLDEN: Final = Path(__file__).with_name("event_payloads.jsonl")

MONITOR: Final = events.monitor_part(
    id_=ID, name="shop", type_="http", url="https://shop.example.com/", status="down"
)
ACTOR: Final = {"id": None, "name": "System"}
SHOWN: Final = {"id": "inc_1", "title": "shop is down", "startedAt": SINCE, "resolvedAt": None}
STATES: Final = [{"location": "local", "status": "down", "failing": True, "failingSince": SINCE}]
ALERT: Final = {"id": "alert_1", "ruleName": "slow", "firedAt": SINCE, "value": 2140}
PAGE: Final = {"id": "sp_1", "name": "Example", "slug": "example"}
WINDOW: Final = {"id": "mw_1", "name": "Upgrade", "all": True, "startsAt": "2026-11-21T07:24:00.000Z"}
PROBE: Final = events.probe_part(
    id_=ID, name="fra-1", locations=("fra",), version="0.2.0", seen_at=SINCE, reason="lost"
)
GAS: Final = web3_events.monitor_part(ID, "gas", "gas_price", "ethereum")
CROSSED: Final = {"current": "52.1", "threshold": "50", "unit": "gwei", "message": "gas costs 52.1 gwei"}
LOG: Final = {"name": "Transfer", "args": {"value": "1"}, "address": "0xd", "blockNumber": 19, "logIndex": 1}


def change(kind: EventKind) -> dict[str, Any]:
    return events.change(kind, MONITOR, NOW)


def incident(kind: EventKind) -> dict[str, Any]:
    note = {"id": "note_1", "text": "On it", "createdAt": NOW} if kind.endswith("note_added") else None
    return events.incident(kind, SHOWN, ACTOR, monitor=MONITOR, note=note, now=NOW)


def alert(kind: EventKind) -> dict[str, Any]:
    return events.alert(kind, MONITOR, ALERT, incident=SHOWN, states=STATES, now=NOW)


def channel(kind: EventKind) -> dict[str, Any]:
    return events.channel(kind, id_=ID, name="ops", type_="slack", since=SINCE, error="404", now=NOW)


def notice(kind: EventKind) -> dict[str, Any]:
    return events.notice(kind, MONITOR, STATES, begins=True, now=NOW)


def down(_kind: EventKind) -> dict[str, Any]:
    about: dict[str, Any] = {
        "incident_id": INCIDENT_ID,
        "severity": "critical",
        "failures": 3,
        "error": "refused",
    }
    return events.down(MONITOR, **about, started_at=SINCE, now=NOW)


def up(_kind: EventKind) -> dict[str, Any]:
    return events.up(MONITOR, incident_id=INCIDENT_ID, severity="critical", downtime_s=332, now=NOW)


def certificate(_kind: EventKind) -> dict[str, Any]:
    of = {"id": "inc_1", "severity": "major"}
    return events.certificate(MONITOR, ends_at=NOW, days_left=3, expiry_days=14, incident=of, now=NOW)


def measurement(kind: EventKind) -> dict[str, Any]:
    measured = kind == "monitor.measured"
    return events.measurement(MONITOR, measured=measured, since=SINCE, error="no route", now=NOW)


def maintenance(kind: EventKind) -> dict[str, Any]:
    return events.maintenance(kind, WINDOW, now=NOW)


def page_incident(kind: EventKind) -> dict[str, Any]:
    return events.page_incident(kind, PAGE, SHOWN, ACTOR, now=NOW)


def probe(kind: EventKind) -> dict[str, Any]:
    if kind == "probe.offline":
        return events.probe_offline(PROBE, affected=2, now=NOW)
    return events.probe_online(PROBE, offline_since=SINCE, now=NOW)


def crossing(kind: EventKind) -> dict[str, Any]:
    sub_type = "gas_price" if kind == "web3.gas.alert" else "defi_protocol"
    crossed = ChainAlert(locations=(1,), raised_at=SINCE, data=CROSSED)
    return web3_events.crossing(GAS, sub_type, "high_gas", crossed, over=False, now=NOW)


def log(_kind: EventKind) -> dict[str, Any]:
    return web3_events.log(GAS, "contract_event", LOG, removed=False, now=NOW)


BUILDERS: Final[dict[Callable[[EventKind], dict[str, Any]], tuple[str, ...]]] = {
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


def sent(kind: EventKind, build: Callable[[EventKind], dict[str, Any]]) -> bytes:
    """The event as receivers get it."""
    fact = events.Fact(ID, kind, ID, 7, build(kind), INCIDENT_ID)
    return encode(events.body(fact, "https://tocsin.example.com"))


@pytest.mark.parametrize(
    ("kind", "build", "expected"),
    [pytest.param(*case, line, id=case[0].value) for case, line in zip(CASES, EXPECTED, strict=True)],
)
def test_receivers_get_the_same_bytes(
    kind: EventKind, build: Callable[[EventKind], dict[str, Any]], expected: bytes
) -> None:
    assert sent(kind, build) == expected


def test_every_kind_has_its_bytes() -> None:
    # The test of a channel is built where it is sent.
    tested = {kind for kind, _ in CASES} | {"test"}

    assert tested == DELIVERED | CHANGES | {"channel.failing", "channel.recovered"}
