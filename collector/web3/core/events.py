"""The payloads of Web3 events: web3.gas.alert, web3.alert and web3.event."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from collector.events.core.kinds import EventKind
from collector.web3.core.payloads import (
    ChainAlertEvent,
    ChainAlertPart,
    ChainEventLog,
    ChainLogEvent,
    ChainMonitor,
    GasAlert,
    GasEvent,
)
from collector.web3.core.web3 import ChainAlert
from shared import ids

_GAS: Final = "gas_price"


def monitor_part(id_: UUID, name: str, type_: str, chain: str | int | None) -> ChainMonitor:
    """Build the monitor's part; *chain*: as the configuration names it; None without one."""
    return ChainMonitor(id=ids.show("mon", id_), name=name, type=type_, chain=chain)


def crossing(
    monitor: ChainMonitor, sub_type: str, type_: str, alert: ChainAlert, *, over: bool, now: datetime
) -> GasEvent | ChainAlertEvent:
    """Build the event of a crossed threshold or its end (*over*); unknown values are null."""
    data = alert.data
    if over:
        # Without a recovery from the probe the threshold was removed, or is no longer checked.
        gone = {"threshold": data.get("threshold"), "unit": data.get("unit")}
        data = alert.recovery or {**gone, "message": f"{type_} is not watched any more"}
    shown = f"{type_}_recovered" if over else type_
    if sub_type == _GAS:
        gas = GasAlert(
            type=shown,
            current_gwei=_number(data.get("current")),
            threshold_gwei=_number(data.get("threshold")),
            message=data.get("message", shown),
        )
        return GasEvent(event=EventKind.WEB3_GAS, timestamp=now, monitor=monitor, alert=gas)
    alert_part = _alert(shown, sub_type, data)
    return ChainAlertEvent(event=EventKind.WEB3_ALERT, timestamp=now, monitor=monitor, alert=alert_part)


def log(
    monitor: ChainMonitor, sub_type: str, data: Mapping[str, Any], *, removed: bool, now: datetime
) -> ChainLogEvent | ChainAlertEvent:
    """Build the event of a log, or with *removed* of its retraction by the chain; *data* as stored."""
    chain_log = ChainEventLog(
        name=data.get("name"),
        args=data.get("args"),
        address=data.get("address"),
        transaction_hash=data.get("transactionHash"),
        block_number=data.get("blockNumber"),
        log_index=data.get("logIndex"),
        removed=removed,
        error=data.get("error"),
    )
    alert = data.get("alert")
    if alert is None:
        return ChainLogEvent(event=EventKind.WEB3_EVENT, timestamp=now, monitor=monitor, log=chain_log)
    alert_part = _alert(alert["type"], sub_type, alert)
    if removed:
        alert_part = replace(
            alert_part,
            type=f"{alert_part.type}_removed",
            message=f"taken back by the chain: {alert_part.message}",
        )
    return ChainAlertEvent(
        event=EventKind.WEB3_ALERT, timestamp=now, monitor=monitor, alert=alert_part, log=chain_log
    )


def _alert(type_: str, sub_type: str, data: Mapping[str, Any]) -> ChainAlertPart:
    return ChainAlertPart(
        type=type_,
        sub_type=sub_type,
        current=data.get("current"),
        threshold=data.get("threshold"),
        unit=data.get("unit"),
        message=data.get("message", type_),
    )


def _number(text: str | None) -> int | float | None:
    if text is None:
        return None
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() and abs(value) < 2**53 else float(value)
