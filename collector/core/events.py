"""The payloads of state events, as interface.md shows them, less what is added when they are sent."""

from datetime import datetime
from typing import Any

from collector.core.downtime import formatted
from shared import ids
from shared.clock import iso

DOWN = "monitor.down"
UP = "monitor.up"


def monitor_part(*, id_: Any, name: str, type_: str, url: str | None, status: str) -> dict[str, Any]:
    """*url* is None for a monitor that is not http."""
    return {"id": ids.show("mon", id_), "name": name, "type": type_, "url": url, "status": status}


def down(
    monitor: dict[str, Any],
    *,
    incident_id: Any,
    severity: str,
    failures: int,
    error: str,
    started_at: datetime,
    now: datetime,
) -> dict[str, Any]:
    """*failures*: failed checks since the last good one, over all locations."""
    return {
        "event": DOWN,
        "timestamp": iso(now),
        "monitor": monitor,
        "incident": {
            "id": ids.show("inc", incident_id),
            "severity": severity,
            "consecutiveFailures": failures,
            "lastError": error,
            "downtime": max(0, int((now - started_at).total_seconds())),
        },
    }


def up(
    monitor: dict[str, Any], *, incident_id: Any, severity: str, downtime_s: int, now: datetime
) -> dict[str, Any]:
    """*downtime_s*: seconds of all open spans of the incident."""
    return {
        "event": UP,
        "timestamp": iso(now),
        "monitor": monitor,
        "incident": {
            "id": ids.show("inc", incident_id),
            "severity": severity,
            "downtimeSeconds": downtime_s,
            "downtimeFormatted": formatted(downtime_s),
        },
    }
