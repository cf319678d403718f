"""Events as receivers get them, one of each kind that is notified."""

from typing import Any, Final

import orjson

from collector.notifications.channels.message import Message

MONITOR: Final = {
    "id": "mon_01kqs3w8e7m0000000000000aa",
    "name": "Shop checkout",
    "type": "http",
    "url": "https://shop.example.com/checkout",
    "status": "down",
}
INCIDENT: Final = {
    "id": "inc_01kqs3w8e7m0000000000000bb",
    "title": "Shop checkout is down",
    "severity": "critical",
    "status": "open",
    "startedAt": "2026-11-21T07:24:00.000Z",
    "downtime": 332,
    "downtimeFormatted": "5m 32s",
    "consecutiveFailures": 4,
    "lastError": "status 503, expected 200-299",
}
LINKS: Final = {
    "monitor": "https://tocsin.example.com/monitors/mon_01kqs3w8e7m0000000000000aa",
    "incident": "https://tocsin.example.com/incidents/inc_01kqs3w8e7m0000000000000bb",
}
LOCATIONS: Final = [
    {"location": "eu-west", "status": "down", "error": "status 503, expected 200-299"},
    {"location": "us-east", "status": "down", "error": "status 503, expected 200-299"},
    {"location": "ap-south", "status": "up", "error": None},
]
ALERT: Final = {
    "id": "alert_01kqs3w8e7m0000000000000cc",
    "ruleId": "rule_01kqs3w8e7m0000000000000dd",
    "ruleName": "Production",
    "reason": "latencyThresholdMs",
    "value": 2140,
    "threshold": 1000,
    "firedAt": "2026-11-21T07:25:00.000Z",
    "escalation": 2,
}
PROBE: Final = {"id": "prb_01kqs3w8e7m0000000000000ee", "name": "fra-1", "reason": "lost"}
CHANNEL: Final = {
    "id": "chan_01kqs3w8e7m000000000000ff",
    "name": "Ops chat",
    "type": "slack",
    "failingSince": "2026-11-21T06:20:00.000Z",
    "lastError": "answered 404: no_service",
}
WINDOW: Final = {
    "id": "mw_01kqs3w8e7m0000000000000ii",
    "name": "Database upgrade",
    "description": "",
    "all": False,
    "monitors": ["mon_01kqs3w8e7m0000000000000aa"],
    "tags": {},
    "startsAt": "2026-11-21T07:00:00.000Z",
    "endsAt": "2026-11-21T08:00:00.000Z",
}
ACTOR: Final = {"id": "usr_01kqs3w8e7m0000000000000gg", "name": "Person on call"}

GAS: Final[dict[str, Any]] = {
    "id": "mon_01kqs3w8e7m0000000000000kk",
    "name": "Gas",
    "type": "gas_price",
    "chain": "ethereum",
}
GAS_ALERT: Final[dict[str, Any]] = {
    "type": "high_gas",
    "currentGwei": 251.3,
    "thresholdGwei": 200,
    "message": "gas costs 251.3 gwei, high is 200 gwei",
}
VAULT: Final[dict[str, Any]] = {
    "id": "mon_01kqs3w8e7m0000000000000ll",
    "name": "Vault",
    "type": "web3",
    "chain": 8453,
}
VAULT_ALERT: Final[dict[str, Any]] = {
    "type": "low_tvl",
    "subType": "defi_protocol",
    "current": "90.5",
    "threshold": "100",
    "unit": "ETH",
    "message": "90.5 ETH is locked, least is 100 ETH",
}
LOG: Final[dict[str, Any]] = {
    "name": "Transfer",
    "args": {"from": "0x" + "a1" * 20, "to": "0x" + "b2" * 20, "value": "1500000"},
    "address": "0x" + "c3" * 20,
    "transactionHash": "0x" + "d4" * 32,
    "blockNumber": 21_000_000,
    "logIndex": 3,
    "removed": False,
}
WEB3_LINKS: Final = {"monitor": "https://tocsin.example.com/monitors/mon_01kqs3w8e7m0000000000000kk"}

PARTS: Final[dict[str, dict[str, Any]]] = {
    "monitor.down": {"incident": INCIDENT, "locationStates": LOCATIONS},
    "monitor.up": {
        "monitor": {**MONITOR, "status": "up"},
        "incident": {
            "id": INCIDENT["id"],
            "severity": "critical",
            "downtimeSeconds": 332,
            "downtimeFormatted": "5m 32s",
        },
    },
    "monitor.degraded": {"degraded": True, "locationStates": LOCATIONS},
    "monitor.flapping": {"flapping": True, "locationStates": LOCATIONS},
    "monitor.unmeasured": {
        "notMeasuredSince": "2026-11-21T07:00:00.000Z",
        "lastError": "probe: not permitted to ping",
    },
    "monitor.measured": {"notMeasuredSince": "2026-11-21T07:00:00.000Z"},
    "alert.fired": {"alert": ALERT, "incident": None, "locationStates": LOCATIONS},
    "alert.recovered": {"alert": ALERT, "incident": None},
    "alert.escalated": {"alert": ALERT, "incident": INCIDENT},
    "incident.created": {"incident": INCIDENT, "actor": ACTOR},
    "incident.acknowledged": {"incident": INCIDENT, "actor": ACTOR},
    "incident.resolved": {"incident": INCIDENT, "actor": ACTOR},
    "incident.reopened": {"incident": INCIDENT, "actor": ACTOR},
    "incident.note_added": {"incident": INCIDENT, "actor": ACTOR, "note": {"text": "Rolled back to 4.2"}},
    "certificate.expiring": {"incident": None},
    "probe.offline": {
        "monitor": None,
        "probe": PROBE,
        "affectedMonitors": 12,
        "links": {"probe": "https://tocsin.example.com/probes/x"},
    },
    "probe.online": {
        "monitor": None,
        "probe": PROBE,
        "links": {"probe": "https://tocsin.example.com/probes/x"},
    },
    "channel.failing": {"monitor": None, "channel": CHANNEL, "links": {}},
    "channel.recovered": {"monitor": None, "channel": CHANNEL, "links": {}},
    "maintenance.started": {"monitor": None, "maintenanceWindow": WINDOW, "links": {}},
    "maintenance.ended": {"monitor": None, "maintenanceWindow": WINDOW, "links": {}},
    "web3.gas.alert": {"monitor": GAS, "alert": GAS_ALERT, "links": WEB3_LINKS},
    "web3.alert": {"monitor": VAULT, "alert": VAULT_ALERT, "links": WEB3_LINKS},
    "web3.event": {"monitor": VAULT, "log": LOG, "links": WEB3_LINKS},
    "status_page.incident.published": {"monitor": None, "links": {}},
    "test": {
        "monitor": None,
        "message": "This is a test. Nothing is wrong.",
        "channel": CHANNEL,
        "links": {},
    },
    "of.a.later.version": {
        "monitor": "odd",
        "incident": 5,
        "alert": ["odd"],
        "links": "odd",
        "locationStates": 1,
    },
}


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "event": kind,
        "id": "evt_01kqs3w8e7m0000000000000hh",
        "sequence": 7,
        "timestamp": "2026-11-21T07:29:32.000Z",
        "monitor": MONITOR,
        "links": LINKS,
        **PARTS[kind],
        **more,
    }


def message(kind: str, *, reached: frozenset[str] = frozenset(), **more: Any) -> Message:
    told = event(kind, **more)
    return Message(told["id"], "dlv_01kqs3w8e7m0000000000000jj", kind, orjson.dumps(told), reached)
