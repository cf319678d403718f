"""What an event means to people."""

from typing import Any

import pytest

from collector.history.core.phase import Phase
from collector.notifications.core.summary import notice
from tests.notifications.channels.payloads import ALERT, INCIDENT, LINKS, MONITOR, PARTS, PROBE, event


@pytest.mark.parametrize(
    ("kind", "phase"),
    [
        ("monitor.down", Phase.PROBLEM),
        ("alert.fired", Phase.PROBLEM),
        ("alert.escalated", Phase.PROBLEM),
        ("incident.reopened", Phase.PROBLEM),
        ("probe.offline", Phase.PROBLEM),
        ("incident.acknowledged", Phase.TAKEN),
        ("monitor.up", Phase.OVER),
        ("alert.recovered", Phase.OVER),
        ("incident.resolved", Phase.OVER),
        ("probe.online", Phase.OVER),
        ("incident.note_added", Phase.NEWS),
        ("monitor.degraded", Phase.NEWS),
        ("of.a.later.version", Phase.NEWS),
    ],
)
def test_trouble_is_told_from_its_end_and_from_news(kind: str, phase: Phase) -> None:
    assert notice(event(kind)).phase is phase


@pytest.mark.parametrize(
    "kinds",
    [
        ("monitor.down", "monitor.up", "incident.acknowledged", "alert.escalated", "incident.note_added"),
        ("alert.fired", "alert.recovered"),
        ("probe.offline", "probe.online"),
        ("channel.failing", "channel.recovered"),
    ],
)
def test_trouble_and_its_end_have_one_key(kinds: tuple[str, ...]) -> None:
    assert len({notice(event(kind)).key for kind in kinds}) == 1


def test_the_key_is_the_incident_s_else_the_alert_s_else_what_it_is_about() -> None:
    assert notice(event("alert.fired", incident=INCIDENT)).key == INCIDENT["id"]
    assert notice(event("alert.fired")).key == ALERT["id"]
    assert notice(event("certificate.expiring")).key == MONITOR["id"]
    assert notice(event("probe.offline")).key == PROBE["id"]
    assert notice(event("test")).key == event("test")["id"]


@pytest.mark.parametrize(
    ("incident", "since", "lasted"),
    [
        ({"startedAt": "2026-11-21T08:00:00+01:00"}, "2026-11-21 07:00:00 UTC", ""),
        ({"downtime": 60}, "2026-11-21 07:28:32 UTC", "1m"),
        ({"downtimeSeconds": 60, "downtimeFormatted": "1m"}, "2026-11-21 07:28:32 UTC", "1m"),
        ({"downtime": "10" * 20}, "", ""),
        ({"downtime": -5}, "", ""),
        ({"startedAt": "yesterday"}, "", ""),
        ({}, "", ""),
    ],
)
def test_since_when_and_for_how_long(incident: dict[str, Any], since: str, lasted: str) -> None:
    found = notice(event("monitor.down", incident=incident))
    assert (found.since, found.lasted) == (since, lasted)


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ([("a", "down")], "1 of 1 fail (a)"),
        ([("a", "down"), ("b", "up"), ("c", "unknown")], "1 of 3 fail (a); good: b; unknown: c"),
        ([("a", "up"), ("b", "up")], "0 of 2 fail; good: a, b"),
        ([], ""),
    ],
)
def test_how_sure_it_is(states: list[tuple[str, str]], said: str) -> None:
    shown = [{"location": location, "status": status} for location, status in states]
    assert notice(event("monitor.down", locationStates=shown)).locations == said


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("consecutiveFailures", "5 failed checks in a row"),
        ("latencyThresholdMs", "responses take 5 ms, limit 9 ms"),
        ("errorRatePercent", "5 % of the checks fail, limit 9 %"),
        ("statusCode", "it answers with status 5"),
        ("availability", "5 % available in 24 hours, limit 9 %"),
        ("down", ""),
        (None, ""),
    ],
)
def test_why_a_rule_fired(reason: str | None, said: str) -> None:
    alert = {**ALERT, "reason": reason, "value": 5, "threshold": 9}
    assert notice(event("alert.fired", alert=alert)).reason == said


def test_where_to_look() -> None:
    assert notice(event("monitor.down")).link == LINKS["incident"]
    assert (
        notice(event("monitor.down", links={"monitor": "https://x.example/m"})).link == "https://x.example/m"
    )
    assert notice(event("monitor.down", links={"monitor": "https://x.example/\r\nm"})).link == ""


@pytest.mark.parametrize("kind", PARTS)
def test_what_stands_in_headers_and_paths_is_of_plain_letters(kind: str) -> None:
    found = notice({**event(kind), "event": f"{kind}\r\nX: é", "id": "evt_1\r\n/../"})
    assert found.kind.isascii()
    assert not set(found.kind + found.key) & set("\r\n/: ")
