"""Answers of UptimeRobot and Healthchecks as files."""

from typing import Any

import pytest

from collector.importers.core import healthchecks, uptimerobot
from collector.importers.core.draft import WrongSource
from collector.importers.core.report import ImportOutcome
from collector.importers.service.finish import finish, variables


def left_out(report: Any) -> dict[str, str]:
    return {
        line.origin.name: line.reasons[0] for line in report.lines if line.outcome is ImportOutcome.LEFT_OUT
    }


V2 = {
    "stat": "ok",
    "alert_contacts": [
        {"id": "0993765", "friendly_name": "Ops", "type": 2, "status": 2, "value": "ops@example.com"},
        {"id": "2", "friendly_name": "Phone", "type": 1, "status": 2, "value": "123"},
    ],
    "mwindows": [
        {
            "id": 5,
            "type": 3,
            "friendly_name": "Patches",
            "value": "2-4",
            "start_time": "02:30",
            "duration": 30,
        }
    ],
    "psps": [{"id": 9, "friendly_name": "Example", "custom_url": "status.example.com", "monitors": 0}],
    "monitors": [
        {
            "id": 1,
            "friendly_name": "Shop &amp; cart",
            "url": "https://example.com",
            "type": 1,
            "interval": 300,
            "status": 2,
            "http_method": 1,
            "custom_http_headers": {"X-Key": "abc"},
            "custom_http_statuses": "404:1_200:0",
            "mwindows": [{"id": 5}],
            "alert_contacts": [{"id": "0993765", "threshold": 10, "recurrence": 30}],
        },
        {
            "id": 2,
            "friendly_name": "Keyword",
            "url": "https://example.com",
            "type": 2,
            "keyword_type": 1,
            "keyword_value": "fatal",
            "interval": 60,
        },
        {
            "id": 3,
            "friendly_name": "Mail",
            "url": "mail.example.com",
            "type": 4,
            "sub_type": 4,
            "interval": 60,
        },
        {
            "id": 4,
            "friendly_name": "Any case",
            "url": "https://example.com",
            "type": 2,
            "keyword_type": 1,
            "keyword_case_type": 1,
            "keyword_value": "x",
        },
        {
            "id": 5,
            "friendly_name": "Job",
            "url": "https://heartbeat.example.com/x",
            "type": 5,
            "interval": 3600,
        },
    ],
}


def test_uptimerobot_v2() -> None:
    draft = uptimerobot.draft(V2)
    sections = finish(draft)
    shop, keyword, mail, job = sections["monitors"]

    assert (shop["name"], shop["config"]["method"]) == ("Shop & cart", "HEAD")
    assert shop["config"]["expectedStatus"] == ["201-399", 404]
    assert shop["config"]["headers"] == {"X-Key": "${UPTIMEROBOT_SHOP_CART_X_KEY}"}
    assert keyword["config"]["assertions"] == [{"source": "body", "op": "notContains", "value": "fatal"}]
    assert mail["config"] == {"host": "mail.example.com", "port": 25}
    assert job["config"] == {"expectedInterval": 3600, "gracePeriod": 60}
    assert [(rule["monitors"], rule["conditions"], rule["repeatMinutes"]) for rule in sections["rules"]] == [
        (["ur-1"], {"consecutiveFailures": 2}, 30)
    ]
    [window] = sections["maintenanceWindows"]
    assert (window["rrule"], window["duration"], window["monitors"]) == (
        "FREQ=WEEKLY;BYDAY=TU,TH",
        1800,
        ["ur-1"],
    )
    [page] = sections["statusPages"]
    assert [part["monitorId"] for part in page["components"]] == ["ur-1", "ur-2", "ur-3", "ur-5"]
    assert left_out(draft.report) == {
        "Phone": "contacts of type 1 do not show what a channel needs",
        "Any case": "wants a keyword to be absent in any case, which has no counterpart",
    }
    assert variables(draft) == {"UPTIMEROBOT_SHOP_CART_X_KEY": "abc"}


def test_uptimerobot_v3() -> None:
    draft = uptimerobot.draft(
        {
            "data": [
                {
                    "id": 1,
                    "friendlyName": "Api",
                    "type": "API",
                    "url": "https://example.com",
                    "interval": 60,
                    "successHttpResponseCodes": ["2xx", "404"],
                    "checkSSLErrors": False,
                    "followRedirections": False,
                    "config": {
                        "ipVersion": "ipv6Only",
                        "apiAssertions": {
                            "logic": "AND",
                            "checks": [{"property": "$.state", "comparison": "equals", "target": "up"}],
                        },
                    },
                },
                {"id": 2, "friendlyName": "Udp", "type": "UDP", "url": "example.com", "interval": 60},
                {
                    "id": 3,
                    "friendlyName": "Dns",
                    "type": "DNS",
                    "url": "example.com",
                    "interval": 60,
                    "config": {"dnsRecords": {"A": ["192.0.2.1"]}},
                },
            ]
        }
    )
    api, dns = finish(draft)["monitors"]
    assert api["config"] == {
        "url": "https://example.com",
        "expectedStatus": ["200-299", 404],
        "verifyTls": False,
        "followRedirects": False,
        "ipVersion": "6",
        "assertions": [{"source": "json", "path": "$.state", "op": "eq", "value": "up"}],
    }
    assert dns["config"] == {"host": "example.com", "recordType": "A", "expected": ["192.0.2.1"]}
    assert left_out(draft.report) == {"Udp": "monitors of type UDP have no counterpart"}


def test_healthchecks() -> None:
    draft = healthchecks.draft(
        {
            "checks": [
                {
                    "name": "Backup",
                    "tags": "prod env=eu",
                    "timeout": 86400,
                    "grace": 7200,
                    "status": "up",
                    "n_pings": 12,
                    "ping_url": "https://hc.example.com/ping/0a1b",
                    "channels": "4ec5a071,0a1b",
                    "unique_key": "2872190d",
                },
                {
                    "name": "",
                    "slug": "nightly",
                    "schedule": "0 2 * * *",
                    "tz": "Europe/Kiev",
                    "grace": 60,
                    "unique_key": "aa",
                },
                {"name": "Timer", "schedule": "Mon..Fri 08:00", "unique_key": "bb"},
            ],
            "channels": [{"id": "4ec5a071", "name": "Ops mail", "kind": "email"}],
        }
    )
    backup, nightly = finish(draft)["monitors"]
    assert backup["config"] == {"gracePeriod": 7200, "armOnFirstPing": True, "expectedInterval": 86400}
    assert (backup["key"], backup["tags"]) == ("hc-2872190d", {"prod": "", "env": "eu"})
    assert (nightly["name"], nightly["config"]["cron"], nightly["config"]["timezone"]) == (
        "nightly",
        "0 2 * * *",
        "Europe/Kyiv",
    )
    assert left_out(draft.report) == {
        "Ops mail": "the API shows neither address nor key of a channel of kind email",
        "Timer": "its schedule Mon..Fri 08:00 is no cron expression of five fields",
    }
    assert draft.report.ping_urls == {"Backup": "https://hc.example.com/ping/0a1b"}
    assert draft.report.behind == {"pings": 12}
    assert "1 of the checks notify Ops mail: make the channel and a rule for them" in draft.report.general


@pytest.mark.parametrize("document", [None, {}, {"monitors": 5}, "x"])
def test_something_else_is_refused(document: Any) -> None:
    with pytest.raises(WrongSource):
        uptimerobot.draft(document)
    with pytest.raises(WrongSource):
        healthchecks.draft(document)
