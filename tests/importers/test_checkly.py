"""Answers of Checkly as a file."""

from typing import Any

import pytest

from collector.importers.core import checkly
from collector.importers.core.draft import WrongSource
from collector.importers.core.report import ImportOutcome
from collector.importers.service.finish import finish, variables


def api(id_: str, request: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "name": id_.title(),
        "checkType": "API",
        "frequency": 5,
        "request": {"url": "https://example.com", **(request or {})},
        **more,
    }


def monitor(check: dict[str, Any]) -> dict[str, Any]:
    [made] = finish(checkly.draft([check]))["monitors"]
    return made


def reasons(check: dict[str, Any]) -> list[str]:
    draft = checkly.draft([check])
    finish(draft)
    return draft.report.lines[0].reasons


SHOP = {
    "checks": [
        api(
            "shop",
            {
                "url": "https://{{HOST}}/a",
                "headers": [{"key": "X-Key", "value": "abc"}, {"key": "X-B", "value": "{{TOKEN}}"}],
                "queryParameters": [{"key": "q", "value": "a b"}],
                "basicAuth": {"username": "app", "password": "pass"},
                "skipSSL": True,
                "followRedirects": False,
                "ipFamily": "IPv6",
                "assertions": [
                    {
                        "source": "JSON_BODY",
                        "property": "$.ok",
                        "comparison": "EQUALS",
                        "target": "true",
                    },
                    {"source": "TEXT_BODY", "comparison": "NOT_CONTAINS", "target": "fatal"},
                    {"source": "HEADERS", "property": "x-a", "comparison": "EQUALS", "target": "1"},
                    {
                        "source": "JSON_BODY",
                        "property": "$.a",
                        "comparison": "HAS_KEY",
                        "target": "b",
                    },
                ],
            },
            maxResponseTime=2_000,
            retryStrategy={"type": "LINEAR", "maxRetries": 3},
        )
    ]
}


GROUPED = {
    "checks": [
        api(
            "shop",
            {"url": "{{GROUP_BASE_URL}}/a"},
            groupId=3,
            alertSettings={
                "escalationType": "TIME_BASED",
                "timeBasedEscalation": {"minutesFailingThreshold": 15},
                "reminders": {"amount": 2, "interval": 30},
            },
        ),
        api("blog", alertChannelSubscriptions=[{"alertChannelId": 2, "activated": False}]),
    ],
    "groups": [
        {
            "id": 3,
            "name": "Web",
            "tags": ["prod"],
            "apiCheckDefaults": {
                "url": "https://shop.example.com",
                "headers": [{"key": "X-G", "value": "g"}],
            },
        }
    ],
    "alertChannels": [
        {
            "id": 1,
            "type": "EMAIL",
            "config": {"address": "ops@example.com"},
            "subscriptions": [{"groupId": 3}],
        },
        {
            "id": 2,
            "type": "SLACK",
            "config": {"url": "https://hooks.example.com/a", "channel": "#ops"},
            "sendRecovery": False,
            "subscriptions": [{"checkId": "shop"}],
        },
        {
            "id": 3,
            "type": "OPSGENIE",
            "config": {"name": "Og", "apiKey": "abc", "region": "EU", "priority": "P2"},
        },
        {"id": 4, "type": "SMS", "config": {"name": "Phone", "number": "+1"}},
        {
            "id": 5,
            "type": "WEBHOOK",
            "config": {"name": "Chat", "url": "https://x.example.com", "webhookType": "WEBHOOK_DISCORD"},
        },
        {
            "id": 6,
            "type": "PAGERDUTY",
            "config": {"serviceName": "Pd", "serviceKey": "key"},
            "sendFailure": False,
        },
    ],
}


def test_a_check_and_its_secrets() -> None:
    draft = checkly.draft(SHOP)
    [shop] = finish(draft)["monitors"]
    assert (shop["interval"], shop["failureThreshold"]) == (300, 4)
    assert shop["config"] == {
        "url": "https://${HOST}/a?q=a+b",
        "headers": {"X-Key": "${CHECKLY_SHOP_X_KEY}", "X-B": "${TOKEN}"},
        "expectedStatus": "200-399",
        "assertions": [
            {"source": "json", "path": "$.ok", "op": "eq", "value": True},
            {"source": "body", "op": "notContains", "value": "fatal"},
            {"source": "header", "path": "x-a", "op": "eq", "value": "1"},
            {"source": "responseTime", "op": "lt", "value": 2_000},
        ],
        "ipVersion": "6",
        "auth": {"type": "basic", "username": "app", "password": "${CHECKLY_SHOP_PASSWORD}"},
        "followRedirects": False,
        "verifyTls": False,
    }
    assert draft.report.lines[0].reasons == ["its assertion JSON_BODY $.a HAS_KEY has no counterpart"]
    assert variables(draft) == {
        "HOST": "",
        "CHECKLY_SHOP_X_KEY": "abc",
        "TOKEN": "",
        "CHECKLY_SHOP_PASSWORD": "pass",
    }


@pytest.mark.parametrize(
    ("asserted", "fails", "expected"),
    [
        ([], False, "200-399"),
        ([], True, "400-599"),
        ([("EQUALS", "201")], False, 201),
        ([("LESS_THAN", "300")], False, None),
        ([("EQUALS", "404")], True, 404),
        ([("EQUALS", "404")], False, 404),
        ([("NOT_EQUALS", "202"), ("LESS_THAN", "205")], False, ["200-201", "203-204"]),
    ],
)
def test_the_status_that_it_expects(asserted: list[tuple[str, str]], fails: bool, expected: Any) -> None:
    assertions = [
        {"source": "STATUS_CODE", "comparison": comparison, "target": target}
        for comparison, target in asserted
    ]
    check = api("a", {"assertions": assertions}, shouldFail=fails)
    assert monitor(check)["config"].get("expectedStatus") == expected


@pytest.mark.parametrize(
    ("check", "kind", "config"),
    [
        (
            {
                "checkType": "TCP",
                "request": {
                    "hostname": "mail.example.com",
                    "port": 25,
                    "assertions": [{"source": "RESPONSE_DATA", "comparison": "CONTAINS", "target": "220"}],
                },
            },
            "tcp",
            {"host": "mail.example.com", "port": 25, "expect": "220"},
        ),
        (
            {
                "checkType": "DNS",
                "request": {
                    "query": "example.com",
                    "recordType": "MX",
                    "nameServer": "192.0.2.53",
                    "port": 5353,
                    "assertions": [{"source": "RESPONSE_CODE", "comparison": "EQUALS", "target": "NXDOMAIN"}],
                },
            },
            "dns",
            {
                "host": "example.com",
                "recordType": "MX",
                "resolver": "192.0.2.53:5353",
                "rcode": "NXDOMAIN",
            },
        ),
        (
            {"checkType": "ICMP", "request": {"hostname": "192.0.2.1", "pingCount": 10}},
            "icmp",
            {"host": "192.0.2.1", "count": 10},
        ),
        ({"checkType": "SSL", "request": {"hostname": "example.com"}}, "tls", {"domain": "example.com"}),
        (
            {
                "checkType": "HEARTBEAT",
                "heartbeat": {"period": 1, "periodUnit": "days", "grace": 2, "graceUnit": "hours"},
            },
            "heartbeat",
            {"expectedInterval": 86_400, "gracePeriod": 7_200},
        ),
    ],
)
def test_types(check: dict[str, Any], kind: str, config: dict[str, Any]) -> None:
    made = monitor({"id": "1", "name": "a", **check})
    assert (made["type"], made["config"]) == (kind, config)


def test_seconds_of_a_frequency() -> None:
    assert monitor(api("a", frequency=0, frequencyOffset=20))["interval"] == 20


@pytest.mark.parametrize("type_", ["BROWSER", "MULTI_STEP", "PLAYWRIGHT", "GRPC", ""])
def test_what_has_no_counterpart_is_named(type_: str) -> None:
    expected = [f"checks of type {type_ or 'none'} have no counterpart"]
    assert reasons(api("a", checkType=type_)) == expected


def test_a_port_that_must_be_closed_is_left_out() -> None:
    check = {
        "id": "1",
        "checkType": "TCP",
        "shouldFail": True,
        "request": {"hostname": "a.example.com", "port": 1},
    }
    draft = checkly.draft([check])
    assert finish(draft) == {}
    assert [line.outcome for line in draft.report.lines] == [ImportOutcome.LEFT_OUT]


def test_differences_are_named() -> None:
    paused = reasons(api("a", activated=False, muted=True, localSetupScript="x"))
    assert paused == [
        "is paused there; a file cannot pause: pause it after `tocsin apply`",
        "its scripts before and after the request are not carried",
        "is muted there: no rule notifies about it",
    ]


def test_groups_channels_and_rules() -> None:
    draft = checkly.draft(GROUPED)
    sections = finish(draft)
    shop = sections["monitors"][0]
    assert (shop["group"], shop["tags"]) == ("Web", {"prod": ""})
    assert shop["config"]["url"] == "https://shop.example.com/a"
    assert shop["config"]["headers"] == {"X-G": "${CHECKLY_SHOP_X_G}"}
    assert [(item["type"], item["config"]) for item in sections["channels"]] == [
        ("email", {"recipients": ["ops@example.com"]}),
        ("slack", {"webhookUrl": "${CHECKLY_OPS_URL}", "channel": "#ops"}),
        (
            "opsgenie",
            {"apiKey": "${CHECKLY_OG_KEY}", "apiUrl": "https://api.eu.opsgenie.com", "priority": "P2"},
        ),
        ("discord", {"webhookUrl": "${CHECKLY_CHAT_URL}"}),
    ]
    first, second = sections["rules"]
    assert (first["channels"], first["monitors"]) == (["checkly-channel-1"], ["checkly-shop"])
    assert (first["conditions"], first["repeatMinutes"]) == ({"consecutiveFailures": 3}, 30)
    assert (second["channels"], second["notifyOnRecovery"]) == (["checkly-channel-2"], False)
    assert {
        line.origin.name: line.reasons[0]
        for line in draft.report.lines
        if line.outcome is ImportOutcome.LEFT_OUT
    } == {"Phone": "channels of type SMS have no counterpart", "Pd": "is not notified about failures there"}


def test_windows_and_pages_choose_by_tags() -> None:
    source = {
        "checks": [api("shop", tags=["a", "b"]), api("blog", tags=["a"])],
        "maintenanceWindows": [
            {
                "id": 1,
                "name": "Patches",
                "tags": ["b"],
                "startsAt": "2026-01-01T02:00:00.000Z",
                "endsAt": "2026-01-01T03:30:00.000Z",
                "repeatUnit": "WEEK",
                "repeatInterval": 2,
                "repeatEndsAt": "2026-06-01T00:00:00.000Z",
            },
            {"id": 2, "name": "Odd", "startsAt": "soon"},
        ],
        "dashboards": [
            {"id": 1, "header": "All", "customUrl": "all", "tags": ["a", "b"]},
            {"id": 2, "header": "Both", "customUrl": "both", "tags": ["a", "b"], "useTagsAndOperator": True},
        ],
        "statusPages": [
            {
                "id": "p",
                "name": "Page",
                "url": "page",
                "cards": [{"name": "Web", "services": [{"name": "Shop"}, {"name": "Shop"}]}],
            }
        ],
    }
    draft = checkly.draft(source)
    sections = finish(draft)
    [window] = sections["maintenanceWindows"]
    assert (window["monitors"], window["start"], window["duration"]) == (
        ["checkly-shop"],
        "2026-01-01T02:00:00",
        5_400,
    )
    assert window["rrule"] == "FREQ=WEEKLY;INTERVAL=2;UNTIL=20260601T000000Z"
    every, both, page = sections["statusPages"]
    assert [part["monitorId"] for part in every["components"]] == ["checkly-shop", "checkly-blog"]
    assert [part["monitorId"] for part in both["components"]] == ["checkly-shop"]
    assert page["components"] == [{"name": "Shop", "group": "Web"}]
    left_out = [line for line in draft.report.lines if line.outcome is ImportOutcome.LEFT_OUT]
    assert [line.reasons for line in left_out] == [["its times cannot be read"]]


@pytest.mark.parametrize("document", [None, {}, "x", 5, {"checks": {}}])
def test_something_else_is_refused(document: Any) -> None:
    with pytest.raises(WrongSource):
        checkly.draft(document)
