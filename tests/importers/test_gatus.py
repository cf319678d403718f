"""Files of Gatus: what each URL, condition, alert and setting becomes, and what the report says."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.importers.cli.sources import UnreadableSource, gatus_document
from collector.importers.core import gatus
from collector.importers.core.draft import Draft, WrongSource
from collector.importers.core.report import ImportOutcome
from collector.importers.service.finish import finish, variables

STATUS_OK = "[STATUS] == 200"


def imported(document: dict[str, Any]) -> tuple[dict[str, Any], Draft]:
    draft = gatus.draft(document)
    return finish(draft), draft


def endpoint(**fields: Any) -> dict[str, Any]:
    sections, draft = imported({"endpoints": [{"name": "Shop", "url": "https://shop.example.com", **fields}]})
    assert "monitors" in sections, [line.reasons for line in draft.report.lines]
    monitor: dict[str, Any] = sections["monitors"][0]
    return monitor


def left_out(document: dict[str, Any]) -> dict[str, str]:
    _, draft = imported(document)
    return {
        line.origin.name: line.reasons[0]
        for line in draft.report.lines
        if line.outcome is ImportOutcome.LEFT_OUT
    }


@pytest.mark.parametrize(
    ("url", "more", "kind", "config"),
    [
        ("tcp://db.example.com:5432", {}, "tcp", {"host": "db.example.com", "port": 5432}),
        ("icmp://example.com", {}, "icmp", {"host": "example.com", "count": 1}),
        (
            "starttls://mail.example.com:587",
            {"conditions": ["[CERTIFICATE_EXPIRATION] > 49h"]},
            "tls",
            {"domain": "mail.example.com:587", "startTls": "smtp", "expiryDays": 3},
        ),
        ("tls://example.com:993", {}, "tcp", {"host": "example.com", "port": 993, "tls": True}),
        (
            "wss://example.com/feed",
            {"body": "hi", "conditions": ["[BODY] == hello"]},
            "websocket",
            {"url": "wss://example.com/feed", "send": "hi", "expect": "hello"},
        ),
        ("grpcs://example.com:443", {}, "grpc", {"host": "example.com", "port": 443, "tls": True}),
        ("ssh://example.com:2222", {}, "tcp", {"host": "example.com", "port": 2222, "expect": "=~^SSH-"}),
        (
            "192.0.2.53",
            {
                "dns": {"query-name": "example.com.", "query-type": "MX"},
                "conditions": ["[DNS_RCODE] == NXDOMAIN"],
            },
            "dns",
            {"host": "example.com", "recordType": "MX", "resolver": "192.0.2.53", "rcode": "NXDOMAIN"},
        ),
    ],
)
def test_an_url_becomes_the_type_that_checks_the_same(
    url: str, more: dict[str, Any], kind: str, config: dict[str, Any]
) -> None:
    monitor = endpoint(url=url, **more)
    assert (monitor["type"], monitor["config"]) == (kind, config)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([STATUS_OK], 200),
        (["[STATUS] == any(200, 204)"], [200, 204]),
        (["[STATUS] < 400"], "100-399"),
        (["[STATUS] >= 200", "[STATUS] < 300"], None),
        (["[STATUS] != 500"], ["100-499", "501-599"]),
        (["200 == [STATUS]"], 200),
        ([], "100-599"),
    ],
)
def test_conditions_on_the_status(conditions: list[str], expected: Any) -> None:
    assert endpoint(conditions=conditions)["config"].get("expectedStatus") == expected


@pytest.mark.parametrize(
    ("condition", "assertion"),
    [
        ("[RESPONSE_TIME] < 500", {"source": "responseTime", "op": "lt", "value": 500}),
        ("[RESPONSE_TIME] <= 2s", {"source": "responseTime", "op": "le", "value": 2000}),
        ("[BODY] == pat(*ready*)", {"source": "body", "op": "contains", "value": "ready"}),
        ("[BODY] != pat(*fatal*)", {"source": "body", "op": "notContains", "value": "fatal"}),
        ("[BODY].a.b[0] == 5", {"source": "json", "path": "$.a.b[0]", "op": "eq", "value": 5}),
        (
            "[BODY].state == any(up, idle)",
            {"source": "json", "path": "$.state", "op": "matches", "value": "^(?:up|idle)$"},
        ),
        (
            "has([BODY].errors) == false",
            {"source": "json", "path": "$.errors", "op": "exists", "value": False},
        ),
        ("len([BODY].items) > 0", {"source": "json", "path": "$.items[0]", "op": "exists", "value": True}),
        ("[CERTIFICATE_EXPIRATION] > 48h", {"source": "certificateDays", "op": "gt", "value": 2}),
    ],
)
def test_other_conditions_are_assertions(condition: str, assertion: dict[str, Any]) -> None:
    assert endpoint(conditions=[condition])["config"]["assertions"] == [assertion]


def test_a_condition_without_counterpart_is_named() -> None:
    _, draft = imported(
        {
            "endpoints": [
                {"name": "Shop", "url": "https://example.com", "conditions": [STATUS_OK, "[IP] == 192.0.2.1"]}
            ]
        }
    )
    [line] = [line for line in draft.report.lines if line.origin.kind == "endpoint"]
    assert line.outcome is ImportOutcome.CHANGED
    assert line.reasons == ["a condition is not carried: [IP] == 192.0.2.1: [IP] has no counterpart"]


def test_what_has_no_counterpart_is_left_out_with_the_reason() -> None:
    assert left_out(
        {
            "endpoints": [
                {"name": "Udp", "url": "udp://example.com:53"},
                {"name": "Closed", "url": "tcp://example.com:23", "conditions": ["[CONNECTED] == false"]},
            ],
            "external-endpoints": [{"name": "Never"}],
            "suites": [{"name": "Journey"}],
        }
    ) == {
        "Udp": "endpoints of the form udp:// have no counterpart",
        "Closed": "wants the connection to fail, which has no counterpart",
        "Never": "has no heartbeat.interval: there is nothing to wait for",
        "Journey": "a sequence of requests that depend on each other has no counterpart",
    }


def test_alerts_are_rules_with_the_defaults_of_their_provider() -> None:
    sections, _ = imported(
        {
            "alerting": {
                "slack": {
                    "webhook-url": "https://hooks.slack.com/services/T0/B0/c",
                    "default-alert": {"send-on-resolved": True, "failure-threshold": 4},
                },
                "email": {"to": "a@example.com, b@example.com"},
            },
            "endpoints": [
                {
                    "name": name,
                    "url": "https://example.com",
                    "alerts": [
                        {"type": "slack"},
                        {"type": "email", "failure-threshold": 8, "minimum-reminder-interval": "90m"},
                        {"type": "slack", "enabled": False},
                    ],
                }
                for name in ("First", "Second")
            ],
        }
    )
    assert [
        (monitor["failureThreshold"], monitor["recoveryThreshold"]) for monitor in sections["monitors"]
    ] == [(4, 2)] * 2
    assert [
        {
            name: rule.get(name)
            for name in ("channels", "monitors", "conditions", "repeatMinutes", "notifyOnRecovery")
        }
        for rule in sections["rules"]
    ] == [
        {
            "channels": ["gatus-slack"],
            "monitors": ["gatus-first", "gatus-second"],
            "conditions": None,
            "repeatMinutes": None,
            "notifyOnRecovery": None,
        },
        {
            "channels": ["gatus-email"],
            "monitors": ["gatus-first", "gatus-second"],
            "conditions": {"consecutiveFailures": 8},
            "repeatMinutes": 90,
            "notifyOnRecovery": False,
        },
    ]


def test_secrets_are_variables_and_a_literal_dollar_stays() -> None:
    document = {
        "endpoints": [
            {
                "name": "Shop",
                "url": "https://user:pass%21@example.com",
                "headers": {"Authorization": "Bearer abc", "X-Price": "${amount}"},
                "conditions": [STATUS_OK],
            }
        ]
    }
    sections, draft = imported(document)
    [monitor] = sections["monitors"]
    assert monitor["config"]["url"] == "https://example.com"
    assert monitor["config"]["headers"] == {
        "Authorization": "${GATUS_SHOP_AUTHORIZATION}",
        "X-Price": "$${amount}",
    }
    assert monitor["config"]["auth"] == {
        "type": "basic",
        "username": "user",
        "password": "${GATUS_SHOP_PASSWORD}",
    }
    assert variables(draft) == {"GATUS_SHOP_AUTHORIZATION": "Bearer abc", "GATUS_SHOP_PASSWORD": "pass!"}


def test_variables_of_the_file_stay_variables(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        'endpoints:\n- name: Shop\n  url: "https://$HOST/${DIR:-x}?price=$$5"\n'
        '  conditions: ["[STATUS] == 200"]\n'
    )
    (tmp_path / "b.yaml").write_text("endpoints:\n- {name: Other, url: 'icmp://example.com'}\n")
    sections = finish(gatus.draft(gatus_document(tmp_path, None)))
    assert [monitor["name"] for monitor in sections["monitors"]] == ["Shop", "Other"]
    assert sections["monitors"][0]["config"]["url"] == "https://${HOST}/${DIR}?price=$5"
    filled = gatus.draft(gatus_document(tmp_path, {"HOST": "shop.example.com"}))
    assert finish(filled)["monitors"][0]["config"]["url"] == "https://shop.example.com/?price=$5"


def test_windows_and_the_page() -> None:
    sections, _ = imported(
        {
            "maintenance": {
                "start": "23:30",
                "duration": "1h",
                "every": ["Monday", "Sunday"],
                "timezone": "Europe/Berlin",
            },
            "ui": {"header": "Example", "logo": "https://example.com/logo.png"},
            "security": {"basic": {"username": "a"}},
            "endpoints": [
                {
                    "name": "Shop",
                    "group": "core",
                    "url": "https://example.com",
                    "maintenance-windows": [{"start": "02:00", "duration": "30m"}],
                }
            ],
        }
    )
    windows = {window["key"]: window for window in sections["maintenanceWindows"]}
    assert windows["gatus-maintenance-all"]["rrule"] == "FREQ=WEEKLY;BYDAY=MO,SU"
    assert (windows["gatus-maintenance-all"]["all"], windows["gatus-maintenance-all"]["duration"]) == (
        True,
        3600,
    )
    assert windows["gatus-maintenance-gatus-core_shop"]["monitors"] == ["gatus-core_shop"]
    [page] = sections["statusPages"]
    assert (page["name"], page["visibility"], page["branding"]) == (
        "Example",
        "private",
        {"logo": "https://example.com/logo.png"},
    )
    assert page["components"] == [{"name": "Shop", "group": "core", "monitorId": "gatus-core_shop"}]


@pytest.mark.parametrize(
    "document", [{}, {"services": {"web": {"image": "x"}}, "version": "3"}, {"scrape_configs": []}]
)
def test_a_file_of_something_else_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(WrongSource, match="is no configuration of Gatus"):
        gatus.draft(document)


def test_a_broken_file_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("endpoints:\n  - name: a\n   url: b\n")
    with pytest.raises(UnreadableSource, match=r"config.yaml:3: is no YAML"):
        gatus_document(path, None)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
URLS = st.sampled_from(
    ["https://example.com", "tcp://example.com:1", "icmp://example.com", "udp://a:1", "", "x"]
)
CONDITIONS = st.lists(
    st.sampled_from(
        [
            STATUS_OK,
            "[BODY].a == 1",
            "[CONNECTED] == true",
            "[STATUS] < x",
            "a",
            "[BODY] == pat(*)",
            "has(x) == y",
        ]
    ),
    max_size=4,
)
ENDPOINTS = st.fixed_dictionaries(
    {"name": st.text(max_size=12), "url": URLS, "conditions": CONDITIONS},
    optional={
        "group": st.text(max_size=8),
        "interval": ANY,
        "alerts": ANY,
        "headers": ANY,
        "client": ANY,
        "body": ANY,
        "enabled": ANY,
        "dns": ANY,
        "maintenance-windows": ANY,
        "extra-labels": ANY,
    },
)


@given(st.lists(ENDPOINTS, max_size=5))
def test_each_endpoint_is_either_in_the_file_or_named_in_the_report(endpoints: list[dict[str, Any]]) -> None:
    document = {"endpoints": endpoints, "alerting": {"email": {"to": "a@example.com"}}}
    sections, draft = imported(document)
    lines = [line for line in draft.report.lines if line.origin.kind == "endpoint"]
    carried = [line for line in lines if line.outcome is not ImportOutcome.LEFT_OUT]
    assert len(lines) == len(endpoints)
    assert len(carried) == len(sections.get("monitors", []))
    assert len({monitor["key"] for monitor in sections.get("monitors", [])}) == len(carried)
    assert imported(document)[0] == sections
