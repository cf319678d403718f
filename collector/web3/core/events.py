"""The payloads of Web3 events: web3.gas.alert, web3.alert and web3.event."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from collector.events.core.kinds import EventKind
from collector.web3.core.web3 import ChainAlert
from shared import ids
from shared.clock import iso

_GAS: Final = "gas_price"
_LOG: Final = ("name", "args", "address", "transactionHash", "blockNumber", "logIndex")


def monitor_part(id_: UUID, name: str, type_: str, chain: str | int | None) -> dict[str, Any]:
    """Build the monitor's part; *chain*: as the configuration names it; None without one."""
    return {"id": ids.show("mon", id_), "name": name, "type": type_, "chain": chain}


def crossing(
    monitor: Mapping[str, Any], sub_type: str, type_: str, alert: ChainAlert, *, over: bool, now: datetime
) -> dict[str, Any]:
    """Build the event of a crossed threshold or its end (*over*); unknown values are null."""
    data = alert.data
    if over:
        # Without a recovery from the probe the threshold was removed, or is no longer checked.
        gone = {"threshold": data.get("threshold"), "unit": data.get("unit")}
        data = alert.recovery or {**gone, "message": f"{type_} is not watched any more"}
    shown = f"{type_}_recovered" if over else type_
    if sub_type == _GAS:
        alert_part = {
            "type": shown,
            "currentGwei": _number(data.get("current")),
            "thresholdGwei": _number(data.get("threshold")),
            "message": data.get("message", shown),
        }
        return {
            "event": EventKind.WEB3_GAS,
            "timestamp": iso(now),
            "monitor": dict(monitor),
            "alert": alert_part,
        }
    return {
        "event": EventKind.WEB3_ALERT,
        "timestamp": iso(now),
        "monitor": dict(monitor),
        "alert": _alert(shown, sub_type, data),
    }


def log(
    monitor: Mapping[str, Any], sub_type: str, data: Mapping[str, Any], *, removed: bool, now: datetime
) -> dict[str, Any]:
    """Build the event of a log, or with *removed* of its retraction by the chain; *data* as stored."""
    shown = {name: data.get(name) for name in _LOG} | {"removed": removed}
    if "error" in data:
        shown["error"] = data["error"]
    head = {"timestamp": iso(now), "monitor": dict(monitor)}
    alert = data.get("alert")
    if alert is None:
        return {"event": EventKind.WEB3_EVENT, **head, "log": shown}
    alert_part = _alert(alert["type"], sub_type, alert)
    if removed:
        alert_part["type"] += "_removed"
        alert_part["message"] = f"taken back by the chain: {alert_part['message']}"
    return {"event": EventKind.WEB3_ALERT, **head, "alert": alert_part, "log": shown}


def _alert(type_: str, sub_type: str, data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": type_,
        "subType": sub_type,
        "current": data.get("current"),
        "threshold": data.get("threshold"),
        "unit": data.get("unit"),
        "message": data.get("message", type_),
    }


def _number(text: str | None) -> int | float | None:
    if text is None:
        return None
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() and abs(value) < 2**53 else float(value)
