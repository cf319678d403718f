"""Databases and backups of Uptime Kuma: types, thresholds, channels, windows, pages, and the report."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.importers.cli.sources import UnreadableSource, kuma_source
from collector.importers.core import uptime_kuma
from collector.importers.core.draft import Draft
from collector.importers.core.report import ImportOutcome
from collector.importers.core.uptime_kuma import Options
from collector.importers.service.finish import finish, variables
from tests.importers.kuma import KumaDatabase


@pytest.fixture
def kuma(tmp_path: Path) -> KumaDatabase:
    return KumaDatabase(tmp_path / "kuma.db")


def imported(kuma: KumaDatabase, **options: Any) -> tuple[dict[str, Any], Draft]:
    draft = uptime_kuma.draft(kuma_source(kuma.close()), Options(**options))
    return finish(draft), draft


def left_out(draft: Draft) -> dict[str, str]:
    return {
        line.origin.name: line.reasons[0]
        for line in draft.report.lines
        if line.outcome is ImportOutcome.LEFT_OUT
    }


@pytest.mark.parametrize(
    ("type_", "row", "kind", "config"),
    [
        (
            "port",
            {"hostname": "db.example.com", "port": 5432},
            "tcp",
            {"host": "db.example.com", "port": 5432},
        ),
        ("ping", {"hostname": "192.0.2.1"}, "icmp", {"host": "192.0.2.1", "count": 1}),
        (
            "dns",
            {
                "hostname": "example.com",
                "dns_resolve_type": "MX",
                "dns_resolve_server": "192.0.2.53, 192.0.2.54",
            },
            "dns",
            {"host": "example.com", "recordType": "MX", "resolver": "192.0.2.53"},
        ),
        (
            "push",
            {"push_token": "abc", "retry_interval": 30},
            "heartbeat",
            {"expectedInterval": 60, "gracePeriod": 60},
        ),
        (
            "http",
            {"url": "https://example.com", "accepted_statuscodes_json": ["200-299", "301"], "ignore_tls": 1},
            "http",
            {"url": "https://example.com", "expectedStatus": ["200-299", 301], "verifyTls": False},
        ),
        (
            "http",
            {
                "url": "https://example.com",
                "accepted_statuscodes_json": ["400-599"],
                "upside_down": 1,
                "maxredirects": 0,
            },
            "http",
            {"url": "https://example.com", "expectedStatus": "100-399", "followRedirects": False},
        ),
        (
            "keyword",
            {
                "url": "https://example.com",
                "keyword": "ready",
                "invert_keyword": 1,
                "accepted_statuscodes_json": ["200-299"],
            },
            "http",
            {
                "url": "https://example.com",
                "assertions": [{"source": "body", "op": "notContains", "value": "ready"}],
            },
        ),
        (
            "json-query",
            {
                "url": "https://example.com",
                "json_path": "a.b[0]",
                "json_path_operator": ">=",
                "expected_value": "5",
            },
            "http",
            {
                "url": "https://example.com",
                "assertions": [{"source": "json", "path": "$.a.b[0]", "op": "ge", "value": 5.0}],
            },
        ),
        (
            "mysql",
            {
                "database_connection_string": "mysql://app:old@db.example.com:3307/shop",
                "radius_password": "new",
            },
            "mysql",
            {
                "host": "db.example.com",
                "port": 3307,
                "username": "app",
                "password": "${KUMA_MONITOR_1_PASSWORD}",
            },
        ),
        (
            "grpc-keyword",
            {
                "grpc_url": "example.com:50051",
                "grpc_service_name": "grpc.health.v1.Health",
                "grpc_method": "Check",
            },
            "grpc",
            {"host": "example.com", "port": 50051},
        ),
    ],
)
def test_each_type_becomes_ours(
    kuma: KumaDatabase, type_: str, row: dict[str, Any], kind: str, config: dict[str, Any]
) -> None:
    kuma.monitor(1, type_, **row)
    sections, draft = imported(kuma)
    assert "monitors" in sections, left_out(draft)
    [monitor] = sections["monitors"]
    assert (monitor["key"], monitor["type"], monitor["config"]) == ("kuma-1", kind, config)


def test_what_has_no_counterpart_is_left_out_with_the_reason(kuma: KumaDatabase) -> None:
    kuma.monitor(1, "docker", name="Docker")
    kuma.monitor(2, "port", name="Closed", hostname="example.com", port=1, upside_down=1)
    kuma.monitor(3, "json-query", name="Sum", url="https://example.com", json_path="$sum(a.b)")
    kuma.monitor(4, "mqtt", name="Queue", hostname="mq.example.com", port=1883)
    kuma.monitor(5, "port", name="No host", port=1)
    _, draft = imported(kuma)
    reasons = left_out(draft)
    assert reasons.pop("No host").startswith("host: ")
    assert reasons == {
        "Docker": "monitors of type docker have no counterpart",
        "Closed": "is upside down: it wants the check to fail, which has no counterpart",
        "Sum": "its query $sum(a.b) is JSONata that is no plain path",
        "Queue": "monitors of type mqtt have no counterpart; --stand-ins checks that the port is open",
    }
    assert not draft.report.complete


def test_stand_ins_check_the_port(kuma: KumaDatabase) -> None:
    kuma.monitor(1, "mqtt", hostname="mq.example.com", port=1884)
    sections, draft = imported(kuma, stand_ins=True)
    assert sections["monitors"][0]["config"] == {"host": "mq.example.com", "port": 1884}
    assert draft.report.lines[0].reasons == ["only whether the port is open is checked in place of mqtt"]


def test_retries_groups_tags_and_rules(kuma: KumaDatabase) -> None:
    kuma.add(
        "notification",
        id=1,
        name="Ops",
        active=1,
        config={"type": "slack", "slackwebhookURL": "https://hooks.slack.com/services/T0/B0/c"},
    )
    kuma.add(
        "notification",
        id=2,
        name="Mail",
        active=1,
        config={"type": "smtp", "smtpTo": "Ops <ops@example.com>", "smtpCC": "lead@example.com"},
    )
    kuma.add("notification", id=3, name="Off", active=0, config={"type": "slack"})
    kuma.add("notification", id=4, name="Chat", active=1, config={"type": "stackfield"})
    kuma.add("tag", id=1, name="env", color="#fff")
    kuma.add("monitor_tag", monitor_id=3, tag_id=1, value="prod")
    kuma.add("monitor_tag", monitor_id=3, tag_id=1, value="eu")
    kuma.monitor(1, "group", name="Web", notifications=[1])
    kuma.monitor(2, "group", name="Shops", parent=1)
    kuma.monitor(
        3, "ping", name="Shop", hostname="example.com", parent=2, maxretries=4, notifications=[2, 3, 4]
    )
    kuma.monitor(4, "ping", name="Other", hostname="example.com", resend_interval=30, notifications=[1])
    sections, draft = imported(kuma)

    shop, other = sections["monitors"]
    assert (shop["group"], shop["failureThreshold"], shop["tags"]) == (
        "Web / Shops",
        5,
        {"env": "prod", "env-2": "eu"},
    )
    assert [
        (rule["channels"], rule["monitors"], rule.get("repeatMinutes")) for rule in sections["rules"]
    ] == [
        (["kuma-channel-1", "kuma-channel-2"], ["kuma-3"], None),
        (["kuma-channel-1"], ["kuma-4"], 30),
    ]
    assert sections["channels"][1]["config"] == {"recipients": ["ops@example.com", "lead@example.com"]}
    assert left_out(draft) == {
        "Off": "is switched off there",
        "Chat": "notifications of type stackfield have no counterpart",
    }
    assert variables(draft) == {"KUMA_OPS_URL": "https://hooks.slack.com/services/T0/B0/c"}
    assert other["name"] == "Other"


@pytest.mark.parametrize(
    ("row", "times"),
    [
        (
            {"strategy": "single", "start_date": "2026-12-06 02:00:00", "end_date": "2026-12-06T04:30"},
            {"start": "2026-12-06T02:00:00", "duration": 9000},
        ),
        (
            {
                "strategy": "recurring-weekday",
                "start_date": "2026-12-06",
                "start_time": "23:00",
                "end_time": "01:00",
                "weekdays": [0, 1],
            },
            {"start": "2026-12-06T23:00:00", "duration": 7200, "rrule": "FREQ=WEEKLY;BYDAY=SU,MO"},
        ),
        (
            {
                "strategy": "recurring-day-of-month",
                "start_date": "2026-12-01",
                "start_time": "02:00",
                "end_time": "03:00",
                "days_of_month": [1, "lastDay1"],
            },
            {"start": "2026-12-01T02:00:00", "duration": 3600, "rrule": "FREQ=MONTHLY;BYMONTHDAY=1,-1"},
        ),
        (
            {"strategy": "cron", "cron": "30 3 * * 1-5", "duration": 1800, "start_date": "2026-12-06"},
            {"start": "2026-12-06T03:30:00", "duration": 1800, "rrule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
        ),
    ],
)
def test_maintenance(kuma: KumaDatabase, row: dict[str, Any], times: dict[str, Any]) -> None:
    kuma.monitor(1, "group")
    kuma.monitor(2, "ping", hostname="example.com", parent=1)
    kuma.add("maintenance", id=7, title="Patches", active=1, timezone="Europe/Berlin", **row)
    kuma.add("monitor_maintenance", monitor_id=1, maintenance_id=7)
    sections, draft = imported(kuma)
    assert "maintenanceWindows" in sections, left_out(draft)
    [window] = sections["maintenanceWindows"]
    assert window == {
        "key": "kuma-maintenance-7",
        "name": "Patches",
        "monitors": ["kuma-2"],
        "timezone": "Europe/Berlin",
        **times,
    }


def test_a_page_keeps_the_order_of_its_groups(kuma: KumaDatabase) -> None:
    kuma.monitor(1, "ping", name="Shop", hostname="example.com")
    kuma.monitor(2, "docker", name="Docker")
    kuma.add("status_page", id=1, slug="My_Status", title="Example", published=0, custom_css="a{}")
    kuma.add("status_page_cname", status_page_id=1, domain="status.example.com")
    kuma.add("group", id=1, name="Second", weight=2, status_page_id=1)
    kuma.add("group", id=2, name="First", weight=1, status_page_id=1)
    for id_, (monitor, group) in enumerate([(1, 1), (1, 2), (2, 2)]):
        kuma.add("monitor_group", id=id_, monitor_id=monitor, group_id=group, weight=1)
    sections, draft = imported(kuma)
    [page] = sections["statusPages"]
    assert page == {
        "key": "kuma-page-1",
        "name": "Example",
        "slug": "my-status",
        "visibility": "private",
        "domain": "status.example.com",
        "components": [
            {"name": "Shop", "group": "First", "monitorId": "kuma-1"},
            {"name": "Shop", "group": "Second", "monitorId": "kuma-1"},
        ],
    }
    [line] = [line for line in draft.report.lines if line.origin.kind == "status page"]
    assert line.reasons == [
        "its address My_Status becomes my-status",
        "its custom CSS is not carried",
        "its component Docker is left out: its monitor is not carried",
    ]


def test_history_is_counted_and_old_ping_urls_are_listed(kuma: KumaDatabase) -> None:
    kuma.monitor(1, "push", name="Job", push_token="abc")
    kuma.add("heartbeat", id=1, monitor_id=1, status=1, time="2026-01-01")
    _, draft = imported(kuma)
    assert draft.report.behind == {"heartbeats": 1}
    assert draft.report.ping_urls == {"Job": "/api/push/abc"}


@pytest.mark.parametrize(
    "document",
    [
        [{"url": "https://example.com"}],
        {
            "version": 1,
            "monitors": [{"name": "a", "type": "http", "url": "https://example.com", "maxRetries": 3}],
        },
        {
            "version": "1.23.0",
            "notificationList": [],
            "monitorList": [
                {
                    "id": 4,
                    "type": "http",
                    "url": "https://example.com",
                    "accepted_statuscodes": ["200-299"],
                    "notificationIDList": {"1": True},
                }
            ],
        },
    ],
)
def test_backups_and_lists_made_by_hand(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "backup.json"
    path.write_text(json.dumps(document))
    sections = finish(uptime_kuma.draft(kuma_source(path), Options()))
    [monitor] = sections["monitors"]
    assert monitor["config"]["url"] == "https://example.com"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"{}", "is no backup of Uptime Kuma"),
        (b"[", "is no JSON"),
        (b"\xff\xfe", "is no text in UTF-8"),
        (b"SQLite format 3\x00" + b"x" * 200, "cannot be read as SQLite"),
    ],
)
def test_something_else_is_refused(tmp_path: Path, content: bytes, text: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(UnreadableSource, match=text):
        kuma_source(path)


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=10)
    | st.lists(st.text(max_size=4), max_size=2)
)
ROWS = st.dictionaries(
    st.sampled_from(
        [
            "name",
            "url",
            "hostname",
            "port",
            "interval",
            "maxretries",
            "headers",
            "accepted_statuscodes",
            "json_path",
            "active",
            "parent",
            "tags",
            "notificationIDList",
            "upsideDown",
            "timeout",
            "keyword",
            "databaseConnectionString",
        ]
    ),
    VALUES,
    max_size=8,
)
TYPES = st.sampled_from(
    ["http", "keyword", "json-query", "port", "ping", "dns", "push", "redis", "smtp", "group", "x", ""]
)


@given(st.lists(st.tuples(TYPES, ROWS), max_size=5))
def test_each_monitor_is_either_in_the_file_or_named_in_the_report(
    rows: list[tuple[str, dict[str, Any]]],
) -> None:
    document = {"monitorList": [{"type": type_, "id": id_, **row} for id_, (type_, row) in enumerate(rows)]}
    draft = uptime_kuma.draft(uptime_kuma.of_backup(document), Options())
    sections = finish(draft)
    lines = [line for line in draft.report.lines if line.origin.kind == "monitor"]
    groups = sum(type_ == "group" for type_, _ in rows)
    carried = sum(line.outcome is not ImportOutcome.LEFT_OUT for line in lines)
    assert len(lines) == len(rows)
    assert carried - groups == len(sections.get("monitors", []))
