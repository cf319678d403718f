"""Summarizes an event for people: trouble or recovery, since when, how certain, where to look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from collector.events.core.downtime import formatted
from collector.events.core.kinds import EventKind
from collector.history.core.phase import Phase, text
from collector.notifications.core import summary_web3 as web3

_PHASES = {
    EventKind.MONITOR_DOWN: Phase.PROBLEM,
    EventKind.MONITOR_UP: Phase.OVER,
    EventKind.ALERT_FIRED: Phase.PROBLEM,
    EventKind.ALERT_ESCALATED: Phase.PROBLEM,
    EventKind.ALERT_RECOVERED: Phase.OVER,
    EventKind.INCIDENT_CREATED: Phase.PROBLEM,
    EventKind.INCIDENT_REOPENED: Phase.PROBLEM,
    EventKind.INCIDENT_ACKNOWLEDGED: Phase.TAKEN,
    EventKind.INCIDENT_RESOLVED: Phase.OVER,
    EventKind.CERTIFICATE_EXPIRING: Phase.PROBLEM,
    EventKind.PROBE_OFFLINE: Phase.PROBLEM,
    EventKind.PROBE_ONLINE: Phase.OVER,
    EventKind.CHANNEL_FAILING: Phase.PROBLEM,
    EventKind.CHANNEL_RECOVERED: Phase.OVER,
    "test": Phase.PROBLEM,
}
_SEVERITIES = ("critical", "high", "medium", "low")
# The subject of an event, most specific first: a problem and its recovery share it.
_ABOUT = ("incident", "alert", "probe", "channel", "monitor", "maintenanceWindow")
_REASONS = {
    "consecutiveFailures": "{value} failed checks in a row",
    "latencyThresholdMs": "responses take {value} ms, limit {threshold} ms",
    "errorRatePercent": "{value} % of the checks fail, limit {threshold} %",
    "statusCode": "it answers with status {value}",
    "availability": "{value} % available in 24 hours, limit {threshold} %",
}


@dataclass(frozen=True, slots=True)
class Notice:
    """*key* is the same for a problem and its recovery; *since*, *lasted*, *error*, *link* may be empty."""

    kind: str
    phase: Phase
    severity: str
    key: str
    source: str
    at: str
    since: str
    lasted: str
    error: str
    reason: str
    locations: str
    link: str
    facts: tuple[tuple[str, str], ...]
    event: Mapping[str, Any]


def notice(event: Mapping[str, Any]) -> Notice:
    """Summarize *event*, the payload that receivers get. Missing or malformed parts are left out."""
    began = _began(event)
    lasted = _lasted(event)
    since = "" if began is None else f"{began:%Y-%m-%d %H:%M:%S} UTC"
    kind = text(event, "event")
    phase = web3.phase(event) if kind.startswith(web3.KINDS) else _PHASES.get(kind, Phase.NEWS)
    locations = _locations(event)
    reason = _reason(event)
    # For a threshold alert, "no checks fail" would read as if it were over.
    words = text(event, "alert", "message")
    return Notice(
        kind=_word(kind),
        phase=phase,
        severity=_severity(event),
        key=_key(event, phase),
        source=_source(event),
        at=text(event, "timestamp"),
        since=since,
        lasted=lasted,
        error=text(event, "incident", "lastError") or text(event, "lastError") or _first_error(event),
        reason=reason,
        locations=locations,
        link=_link(event),
        facts=tuple(
            (label, value)
            for label, value in (
                ("Since", since),
                ("Lasted" if phase is Phase.OVER else "For", lasted),
                ("Locations", "" if words else locations),
                ("Reason", "" if words else reason),
                *_plain_facts(event),
                *web3.facts(event),
            )
            if value
        ),
        event=event,
    )


def _plain_facts(event: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("Failed checks", text(event, "incident", "consecutiveFailures")),
        ("Severity", text(event, "incident", "severity")),
        ("Rule", text(event, "alert", "ruleName")),
        ("By", text(event, "actor", "name") or text(event, "actor")),
        ("Target", text(event, "monitor", "url")),
        ("Last error", text(event, "channel", "lastError")),
        ("Monitors that nobody else checks", text(event, "affectedMonitors")),
    ]


def _link(event: Mapping[str, Any]) -> str:
    links = event.get("links")
    found = links if isinstance(links, Mapping) else {}
    link = text(found, "incident") or next((text(found, name) for name in found), "")
    return link if link.isprintable() and " " not in link else ""


def _word(text: str) -> str:
    """Reduce *text* to characters allowed in headers and paths; ids and event kinds have no others."""
    return "".join(letter for letter in text if letter.isascii() and (letter.isalnum() or letter in "._-"))


def _severity(event: Mapping[str, Any]) -> str:
    words = text(event, "incident", "severity") or text(event, "alert", "severity")
    if words in _SEVERITIES:
        return words
    return "low" if text(event, "event") == "test" else "high"


def _key(event: Mapping[str, Any], phase: Phase) -> str:
    found = (text(event, name, "id") for name in _ABOUT)
    if text(event, "event").startswith(web3.KINDS) and phase is not Phase.NEWS:
        return _word(web3.key(event))
    if text(event, "event") == "test":
        return _word(text(event, "id"))
    return _word(next((id_ for id_ in found if id_), "") or text(event, "id"))


_SOURCES = ("monitor", "probe", "channel", "maintenanceWindow", "statusPage")


def _source(event: Mapping[str, Any]) -> str:
    names = (text(event, name, "name") for name in _SOURCES)
    return next((name for name in names if name), "") or text(event, "incident", "monitorName") or "Tocsin"


def _reason(event: Mapping[str, Any]) -> str:
    key = text(event, "alert", "reason")
    if key in _REASONS:
        said = {name: text(event, "alert", name) for name in ("value", "threshold")}
        return _REASONS[key].format(**said)
    return "" if key == "down" else web3.reason(event)


def _began(event: Mapping[str, Any]) -> datetime | None:
    words = text(event, "incident", "startedAt") or text(event, "alert", "firedAt")
    now, down_s = _moment(text(event, "timestamp")), _down_s(event)
    if words or now is None or down_s is None:
        return _moment(words)
    return now - timedelta(seconds=down_s)


def _lasted(event: Mapping[str, Any]) -> str:
    words, down_s = text(event, "incident", "downtimeFormatted"), _down_s(event)
    return words or (formatted(down_s) if down_s else "")


def _down_s(event: Mapping[str, Any]) -> int | None:
    """Seconds of downtime, clamped to what date arithmetic supports."""
    words = text(event, "incident", "downtime") or text(event, "incident", "downtimeSeconds")
    return int(words) if words.isascii() and words.isdigit() and len(words) < 10 else None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _states(event: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found = event.get("locationStates")
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def _first_error(event: Mapping[str, Any]) -> str:
    return next((words for state in _states(event) if (words := text(state, "error"))), "")


def _locations(event: Mapping[str, Any]) -> str:
    """``2 of 3 fail (eu-west, us-east); good: ap-south; unknown: sa-east``"""
    by_status: dict[str, list[str]] = {}
    for state in _states(event):
        by_status.setdefault(text(state, "status"), []).append(text(state, "location"))
    if not by_status:
        return ""
    failing, total = by_status.get("down", []), sum(map(len, by_status.values()))
    parts = [f"{len(failing)} of {total} fail" + (f" ({', '.join(failing)})" if failing else "")]
    parts += [f"{word}: {', '.join(by_status[key])}" for key, word in _OTHERS if key in by_status]
    return "; ".join(parts)


_OTHERS = (("up", "good"), ("unknown", "unknown"))
