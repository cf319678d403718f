"""Better Stack, Pingdom, StatusCake, Statuspage and Upptime."""

from collections.abc import Callable
from typing import Any

import pytest

from collector.importers.core import better_stack, pingdom, statuscake, statuspage, upptime
from collector.importers.core.draft import Draft, WrongSource
from collector.importers.core.report import ImportOutcome
from collector.importers.service.finish import finish, variables


def left_out(draft: Draft) -> dict[str, str]:
    return {
        line.origin.name: line.reasons[0]
        for line in draft.report.lines
        if line.outcome is ImportOutcome.LEFT_OUT
    }


def better(id_: str, **attributes: Any) -> dict[str, Any]:
    return {"id": id_, "type": "monitor", "attributes": {"check_frequency": 60, **attributes}}


def test_better_stack() -> None:
    draft = better_stack.draft(
        {
            "monitors": {
                "data": [
                    better(
                        "1",
                        monitor_type="keyword_absence",
                        url="https://example.com",
                        pronounceable_name="Shop",
                        required_keyword="fatal",
                        confirmation_period=120,
                        ssl_expiration=7,
                        monitor_group_id=5,
                        request_headers=[{"name": "X-Key", "value": "abc"}],
                    ),
                    better(
                        "2", monitor_type="smtp", url="mail.example.com", port="25,465", request_timeout=5000
                    ),
                    better("3", monitor_type="playwright", pronounceable_name="Journey"),
                ]
            },
            "monitor_groups": [{"id": "5", "attributes": {"name": "Web"}}],
            "heartbeats": [
                {"id": "9", "attributes": {"name": "Job", "period": 3600, "grace": 60, "url": "https://x"}}
            ],
        }
    )
    shop, first, second, job = finish(draft)["monitors"]
    assert (shop["group"], shop["failureThreshold"]) == ("Web", 3)
    assert shop["config"]["assertions"] == [
        {"source": "body", "op": "notContains", "value": "fatal"},
        {"source": "certificateDays", "op": "gt", "value": 7},
    ]
    assert [(item["key"], item["config"]["port"], item["timeout"]) for item in (first, second)] == [
        ("bs-2", 25, 5),
        ("bs-2-2", 465, 5),
    ]
    assert job["config"] == {"expectedInterval": 3600, "gracePeriod": 60}
    assert left_out(draft) == {"Journey": "monitors of type playwright have no counterpart"}
    assert variables(draft) == {"BETTERSTACK_SHOP_X_KEY": "abc"}


def test_pingdom() -> None:
    draft = pingdom.draft(
        {
            "checks": [
                {
                    "check": {
                        "id": 1,
                        "name": "Shop",
                        "hostname": "example.com",
                        "resolution": 5,
                        "sendnotificationwhendown": 2,
                        "tags": [{"name": "web"}],
                        "type": {
                            "http": {
                                "encryption": True,
                                "port": 8443,
                                "url": "/health",
                                "shouldcontain": "ok",
                                "username": "app",
                                "password": "abc",
                            }
                        },
                    }
                },
                {"id": 2, "name": "Ping", "hostname": "192.0.2.1", "resolution": 1, "type": "ping"},
                {"id": 3, "name": "Listed", "hostname": "example.com", "type": "http"},
                {"id": 4, "name": "Udp", "hostname": "example.com", "type": {"udp": {"port": 1}}},
            ]
        }
    )
    shop, ping = finish(draft)["monitors"]
    assert (shop["interval"], shop["failureThreshold"], shop["tags"]) == (300, 2, {"web": ""})
    assert shop["config"] == {
        "url": "https://example.com:8443/health",
        "expectedStatus": "200-399",
        "assertions": [{"source": "body", "op": "contains", "value": "ok"}],
        "auth": {"type": "basic", "username": "app", "password": "${PINGDOM_SHOP_PASSWORD}"},
    }
    assert (ping["type"], ping["config"]) == ("icmp", {"host": "192.0.2.1"})
    assert left_out(draft) == {
        "Listed": "the list shows no details of a check of type http: give those of /checks/ID",
        "Udp": "checks of type udp have no counterpart",
    }


def test_statuscake() -> None:
    draft = statuscake.draft(
        {
            "uptime": {
                "data": [
                    {
                        "id": "1",
                        "name": "Shop",
                        "test_type": "HTTP",
                        "website_url": "https://example.com",
                        "check_rate": 60,
                        "trigger_rate": 2,
                        "status_codes": ["404", "500"],
                        "find_string": "fatal",
                        "do_not_find": True,
                        "custom_header": '{"X-Key": "abc"}',
                    },
                    {"id": "2", "name": "Push", "test_type": "PUSH", "check_rate": 60},
                ]
            },
            "ssl": [{"id": "3", "website_url": "https://example.com", "alert_at": "1,7,30"}],
        }
    )
    shop, certificate = finish(draft)["monitors"]
    assert shop["failureThreshold"] == 3
    assert shop["config"]["expectedStatus"] == ["100-403", "405-499", "501-599"]
    assert shop["config"]["assertions"] == [{"source": "body", "op": "notContains", "value": "fatal"}]
    assert shop["config"]["followRedirects"] is False
    assert certificate["config"] == {"domain": "example.com", "expiryDays": 30}
    assert left_out(draft) == {"Push": "tests of type PUSH have no counterpart"}


def test_statuspage() -> None:
    draft = statuspage.draft(
        {
            "page": {"id": "abc", "name": "Example", "subdomain": "example", "domain": "status.example.com"},
            "components": [
                {"id": "2", "name": "Api", "position": 2, "group_id": "1"},
                {"id": "1", "name": "Core", "position": 1, "group": True},
                {"id": "3", "name": "Web", "position": 1, "only_show_if_degraded": True},
            ],
            "incidents": [{"name": "a"}],
        }
    )
    [page] = finish(draft)["statusPages"]
    assert (page["slug"], page["domain"]) == ("example", "status.example.com")
    assert page["components"] == [{"name": "Web"}, {"name": "Api", "group": "Core"}]
    assert draft.report.behind == {"incidents": 1}


def test_upptime() -> None:
    draft = upptime.draft(
        {
            "sites": [
                {
                    "name": "Shop",
                    "url": "https://example.com",
                    "headers": ["X-Key: abc"],
                    "__dangerous__body_down": "fatal",
                    "__dangerous__insecure": True,
                    "maxRedirects": 0,
                },
                {"name": "Port", "url": "example.com", "check": "tcp-ping", "port": 22},
                {"name": "Odd", "url": "example.com", "check": "icmp"},
            ],
            "workflowSchedule": {"uptime": "*/10 * * * *"},
            "status-website": {"cname": "status.example.com", "name": "Example"},
        }
    )
    sections = finish(draft)
    shop, port = sections["monitors"]
    assert shop["interval"] == 600
    assert shop["config"] == {
        "url": "https://example.com",
        "headers": {"X-Key": "abc"},
        "expectedStatus": "200-399",
        "assertions": [{"source": "body", "op": "notContains", "value": "fatal"}],
        "verifyTls": False,
        "followRedirects": False,
    }
    assert port["config"] == {"host": "example.com", "port": 22}
    assert [part["name"] for part in sections["statusPages"][0]["components"]] == ["Shop", "Port"]
    assert left_out(draft) == {"Odd": "checks of type icmp have no counterpart"}


def test_the_secrets_of_upptime_stay_variables() -> None:
    assert upptime.with_variables("a: $TOKEN") != "a: $TOKEN"
    document = {"sites": [{"name": "Shop", "url": upptime.with_variables("https://example.com/?t=$TOKEN")}]}
    [monitor] = finish(upptime.draft(document))["monitors"]
    assert monitor["config"]["url"] == "https://example.com/?t=${TOKEN}"


@pytest.mark.parametrize(
    "draft", [better_stack.draft, pingdom.draft, statuscake.draft, statuspage.draft, upptime.draft]
)
@pytest.mark.parametrize("document", [None, {}, "x", 5])
def test_something_else_is_refused(draft: Callable[[Any], Draft], document: Any) -> None:
    with pytest.raises(WrongSource):
        draft(document)
