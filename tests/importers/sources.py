"""A source of each system that an importer reads, with each kind of value that it looks at."""

from collections.abc import Callable
from typing import Any, Final

from collector.importers.core import (
    autokuma,
    better_stack,
    cachet,
    checkly,
    gatus,
    healthchecks,
    openzeppelin,
    pingdom,
    prometheus,
    statuscake,
    statuspage,
    upptime,
    uptime_kuma,
    uptimerobot,
)
from collector.importers.core.draft import Draft
from collector.importers.core.prometheus import Files
from collector.importers.core.uptime_kuma import Options
from collector.importers.core.values import objects

GATUS: Final = {
    "alerting": {
        "slack": {
            "webhook-url": "https://example.com",
            "default-alert": {"failure-threshold": 3},
            "overrides": [{"group": "g", "webhook-url": "https://example.com"}],
        },
        "custom": {"url": "https://example.com", "headers": {"X-A": "b"}},
    },
    "maintenance": {"start": "02:00", "duration": "1h", "every": ["Monday"]},
    "ui": {"header": "Example", "logo": "https://example.com/a.png"},
    "endpoints": [
        {
            "name": "Shop",
            "group": "g",
            "url": "https://a:b@example.com",
            "interval": "1m",
            "headers": {"X-Key": "b"},
            "conditions": ["[STATUS] == 200"],
            "client": {"timeout": "5s", "tls": {"certificate-file": "a", "private-key-file": "b"}},
            "alerts": [{"type": "slack"}, {"type": "custom"}],
            "maintenance-windows": [{"start": "02:00", "duration": "1h"}],
            "extra-labels": {"a": "b"},
            "ui": {},
            "ssh": {},
        },
        {
            "name": "Dns",
            "url": "192.0.2.53",
            "dns": {"query-name": "example.com", "query-type": "A"},
            "conditions": ["[BODY] == 192.0.2.1"],
        },
    ],
    "external-endpoints": [{"name": "Job", "heartbeat": {"interval": "1h"}}],
    "suites": [{"name": "a"}],
}
KUMA: Final = {
    "monitorList": [
        {
            "id": 1,
            "name": "Shop",
            "type": "http",
            "url": "https://example.com",
            "interval": 60,
            "maxretries": 1,
            "headers": '{"A": "b"}',
            "accepted_statuscodes": ["200-299"],
            "notificationIDList": {"1": True},
            "tags": [{"name": "a", "value": "b"}],
            "parent": 3,
            "proxyId": 1,
            "authMethod": "basic",
            "basic_auth_user": "a",
            "basic_auth_pass": "b",
            "resendInterval": 2,
            "timeout": 5,
        },
        {
            "id": 2,
            "name": "Db",
            "type": "postgres",
            "databaseConnectionString": "postgres://a:b@example.com/x",
        },
        {"id": 3, "name": "Group", "type": "group"},
        {
            "id": 4,
            "name": "Query",
            "type": "json-query",
            "url": "https://example.com",
            "json_path": "a.b",
            "expectedValue": "1",
        },
    ],
    "notificationList": [
        {"id": 1, "name": "Ops", "active": True, "config": {"type": "smtp", "smtpTo": "a@example.com"}},
        {
            "id": 2,
            "name": "Hook",
            "active": True,
            "config": {
                "type": "webhook",
                "webhookURL": "https://example.com",
                "webhookAdditionalHeaders": "{}",
            },
        },
        {
            "id": 3,
            "name": "Ntfy",
            "active": True,
            "config": {"type": "ntfy", "ntfyserverurl": "https://example.com", "ntfytopic": "a"},
        },
    ],
    "proxyList": [{"id": 1, "protocol": "http", "host": "example.com", "port": 1, "active": True}],
}
ROBOT: Final = {
    "alert_contacts": [{"id": "1", "type": 2, "status": 2, "value": "a@example.com"}],
    "mwindows": [
        {
            "id": 5,
            "type": 3,
            "value": "2-4",
            "start_time": "02:30",
            "duration": 30,
            "monitorIds": [1],
            "days": [1],
        }
    ],
    "psps": [{"id": 9, "friendly_name": "Example", "monitors": [1]}],
    "monitors": [
        {
            "id": 1,
            "friendly_name": "Shop",
            "url": "https://example.com",
            "type": 2,
            "interval": 60,
            "keyword_type": 1,
            "keyword_value": "x",
            "custom_http_headers": {"A": "b"},
            "custom_http_statuses": "404:1",
            "mwindows": [{"id": 5}],
            "tags": [{"name": "a"}],
            "alert_contacts": [{"id": "1", "threshold": 1, "recurrence": 1}],
            "http_username": "a",
            "post_value": {"a": 1},
        },
        {
            "id": 2,
            "friendlyName": "Api",
            "type": "API",
            "url": "https://example.com",
            "config": {
                "apiAssertions": {"checks": [{"property": "$.a", "comparison": "equals", "target": 1}]}
            },
        },
        {"id": 3, "type": "DNS", "url": "example.com", "config": {"dnsRecords": {"A": ["192.0.2.1"]}}},
    ],
}
CHECKS: Final = {
    "checks": [
        {
            "name": "a",
            "tags": "a b=c",
            "timeout": 60,
            "grace": 60,
            "schedule": "* * * * *",
            "tz": "UTC",
            "channels": "a,b",
            "ping_url": "https://example.com/a",
            "n_pings": 1,
        }
    ],
    "channels": [{"id": "a", "name": "b", "kind": "email"}],
}
BETTER: Final = {
    "monitors": {
        "data": [
            {
                "id": "1",
                "attributes": {
                    "monitor_type": "status",
                    "url": "https://example.com",
                    "request_headers": [{"name": "a", "value": "b"}],
                    "expected_status_codes": [200],
                    "check_frequency": 60,
                    "auth_username": "a",
                },
            },
            {"id": "2", "attributes": {"monitor_type": "smtp", "url": "a.example.com", "port": "25"}},
        ]
    },
    "heartbeats": [{"id": "1", "attributes": {"name": "a", "period": 60, "grace": 5}}],
    "monitor_groups": [{"id": "1", "attributes": {"name": "a"}}],
}
PINGDOM: Final = {
    "checks": [
        {
            "check": {
                "id": 1,
                "name": "a",
                "hostname": "example.com",
                "resolution": 5,
                "tags": [{"name": "a"}],
                "type": {"http": {"url": "/", "port": 80, "requestheaders": {"a": "b"}, "username": "a"}},
            }
        },
        {"id": 2, "hostname": "a.example.com", "type": {"smtp": {"port": 25}}},
    ]
}
AUTOKUMA: Final = {
    "web/shop": {
        "type": "http",
        "name": "Shop",
        "url": "https://example.com",
        "parent_name": "group",
        "notification_names": ["chat"],
        "tag_names": [{"name": "tag", "value": "a"}],
        "create_paused": True,
    },
    "group": {"type": "group", "name": "Web"},
    "chat": {"type": "notification", "config": {"type": "slack", "slackwebhookURL": "https://example.com"}},
    "tag": {"type": "tag", "name": "team", "color": "#fff"},
    "host": {"type": "docker_host", "connection_type": "socket"},
    "page": {
        "type": "status_page",
        "slug": "page",
        "title": "Page",
        "domainNameList": ["status.example.com"],
        "publicGroupList": [{"name": "a", "monitorList": [{"entity_id": "web/shop"}]}],
    },
}
OPENZEPPELIN: Final = {
    "networks": [
        {
            "network_type": "EVM",
            "slug": "mainnet",
            "name": "Mainnet",
            "rpc_urls": [
                {"type_": "rpc", "url": {"type": "plain", "value": "https://example.com"}, "weight": 5}
            ],
            "chain_id": 1,
            "confirmation_blocks": 2,
            "cron_schedule": "0 */1 * * * *",
        }
    ],
    "monitors": [
        {
            "name": "Moved",
            "networks": ["mainnet"],
            "addresses": [
                {
                    "address": "0x" + "a" * 40,
                    "contract_spec": [
                        {
                            "type": "event",
                            "name": "Paused",
                            "inputs": [{"name": "account", "type": "address", "indexed": True}],
                        }
                    ],
                }
            ],
            "match_conditions": {
                "functions": [{"signature": "pause()"}],
                "events": [{"signature": "Paused(address)", "expression": "account == 0x" + "b" * 40}],
                "transactions": [{"status": "Success"}],
            },
            "triggers": ["chat"],
        }
    ],
    "triggers": {
        "chat": {
            "name": "Chat",
            "trigger_type": "webhook",
            "config": {"url": {"type": "plain", "value": "https://example.com"}, "headers": {"a": "b"}},
        },
        "mail": {"name": "Mail", "trigger_type": "email", "config": {"recipients": ["a@example.com"]}},
    },
}
CACHET: Final = {
    "components": {
        "data": [
            {
                "id": "1",
                "attributes": {"name": "Shop", "description": "a", "link": "https://example.com", "order": 1},
                "relationships": {"group": {"data": {"id": "2"}}},
            },
            {"id": 2, "name": "Blog", "group_id": 2, "enabled": True},
        ]
    },
    "groups": [{"id": 2, "attributes": {"name": "Web", "order": 1, "visible": 1}}],
    "incidents": [{"id": 1}],
    "settings": {"app_name": "Example", "about": "a"},
}
CHECKLY: Final = {
    "checks": [
        {
            "id": "a",
            "name": "Shop",
            "checkType": "API",
            "frequency": 5,
            "groupId": 1,
            "tags": ["web"],
            "maxResponseTime": 5_000,
            "retryStrategy": {"type": "FIXED", "maxRetries": 2},
            "alertSettings": {
                "escalationType": "RUN_BASED",
                "runBasedEscalation": {"failedRunThreshold": 2},
                "reminders": {"amount": 3, "interval": 10},
            },
            "alertChannelSubscriptions": [{"alertChannelId": 7, "activated": True}],
            "request": {
                "url": "https://example.com",
                "method": "POST",
                "bodyType": "JSON",
                "body": "{}",
                "headers": [{"key": "X-A", "value": "b"}],
                "queryParameters": [{"key": "a", "value": "b"}],
                "basicAuth": {"username": "a", "password": "b"},
                "assertions": [
                    {"source": "STATUS_CODE", "comparison": "EQUALS", "target": "201", "property": ""},
                    {"source": "JSON_BODY", "comparison": "EQUALS", "target": "1", "property": "$.a"},
                ],
            },
        },
        {
            "id": "b",
            "checkType": "DNS",
            "frequency": 0,
            "frequencyOffset": 30,
            "request": {"query": "example.com", "nameServer": "192.0.2.53", "port": 53},
        },
        {"id": "c", "checkType": "TCP", "request": {"hostname": "a.example.com", "port": 25, "data": "x"}},
        {"id": "d", "checkType": "HEARTBEAT", "heartbeat": {"period": 1, "periodUnit": "hours"}},
    ],
    "groups": [{"id": 1, "name": "Web", "apiCheckDefaults": {"headers": [{"key": "X-B", "value": "c"}]}}],
    "alertChannels": [
        {
            "id": 7,
            "type": "WEBHOOK",
            "config": {"url": "https://example.com", "headers": [{"key": "a", "value": "b"}]},
            "subscriptions": [{"groupId": 1}],
        }
    ],
    "maintenanceWindows": [
        {
            "id": 1,
            "name": "Patches",
            "startsAt": "2026-01-01T02:00:00Z",
            "endsAt": "2026-01-01T03:00:00Z",
            "repeatUnit": "WEEK",
            "repeatInterval": 2,
            "tags": ["web"],
        }
    ],
    "dashboards": [{"id": 1, "header": "Board", "customUrl": "board", "tags": ["web"]}],
    "statusPages": [
        {"id": "p", "name": "Page", "url": "page", "cards": [{"name": "a", "services": [{"name": "b"}]}]}
    ],
}
CAKE: Final = {
    "uptime": [
        {
            "id": "1",
            "name": "a",
            "test_type": "HTTP",
            "website_url": "https://example.com",
            "check_rate": 60,
            "status_codes": ["404"],
            "custom_header": "{}",
            "tags": ["a"],
            "basic_username": "a",
        },
        {"id": "2", "test_type": "DNS", "website_url": "example.com", "dns_ips": ["192.0.2.1"]},
    ],
    "heartbeat": [{"id": "1", "name": "a", "period": 60}],
    "ssl": [{"id": "1", "website_url": "https://example.com", "alert_at": "1,7"}],
}
PAGE: Final = {
    "page": {"id": "a", "name": "b"},
    "components": [
        {"id": "1", "name": "a", "position": 1, "group_id": "2"},
        {"id": "2", "name": "g", "group": True},
    ],
    "incidents": [{}],
}
UPPTIME: Final = {
    "sites": [
        {
            "name": "a",
            "url": "https://example.com",
            "headers": ["a: b"],
            "expectedStatusCodes": [200],
            "tags": ["a"],
            "maxRedirects": 0,
        }
    ],
    "workflowSchedule": {"uptime": "*/5 * * * *"},
    "status-website": {"name": "a", "cname": "b.example.com"},
}
TRIO: Final = {
    "prometheus": {
        "global": {"scrape_interval": "15s"},
        "rule_files": ["a.yml"],
        "scrape_configs": [
            {
                "job_name": "web",
                "metrics_path": "/probe",
                "params": {"module": ["http"], "hostname": ["a"]},
                "scrape_interval": "15s",
                "static_configs": [{"targets": ["https://example.com"], "labels": {"a": "b"}}],
                "file_sd_configs": [{"files": ["t.json"]}],
                "relabel_configs": [{"source_labels": ["module"], "target_label": "__param_module"}],
            }
        ],
    },
    "blackbox": {
        "modules": {
            "http": {
                "prober": "http",
                "timeout": "5s",
                "http": {
                    "valid_status_codes": [200],
                    "headers": {"a": "b"},
                    "http_headers": {"a": {"values": ["b"]}},
                    "fail_if_body_matches_regexp": ["a"],
                    "fail_if_header_matches": [{"header": "a", "regexp": "b"}],
                    "basic_auth": {"username": "a"},
                    "tls_config": {"ca_file": "a"},
                },
            }
        }
    },
    "alertmanager": {
        "route": {
            "receiver": "a",
            "routes": [{"match": {"a": "b"}, "matchers": ["a=b"], "receiver": "a", "repeat_interval": "1h"}],
        },
        "receivers": [
            {
                "name": "a",
                "slack_configs": [{"api_url": "https://example.com"}],
                "email_configs": [{"to": "a@example.com"}],
            }
        ],
    },
    "rules": [
        {
            "groups": [
                {
                    "name": "a",
                    "rules": [
                        {"alert": "Down", "expr": "probe_success == 0", "for": "1m", "labels": {"a": "b"}}
                    ],
                }
            ]
        }
    ],
    "targets": {"t.json": [{"targets": ["https://example.com"], "labels": {"a": "b"}}]},
}

SOURCES: Final[dict[str, tuple[Any, Callable[[Any], Draft]]]] = {
    "gatus": (GATUS, lambda document: gatus.draft(gatus.merged([document]))),
    "kuma": (KUMA, lambda document: uptime_kuma.draft(uptime_kuma.of_backup(document), Options())),
    "uptimerobot": (ROBOT, uptimerobot.draft),
    "healthchecks": (CHECKS, healthchecks.draft),
    "betterstack": (BETTER, better_stack.draft),
    "autokuma": (AUTOKUMA, lambda entities: autokuma.draft(entities, Options())),
    "cachet": (CACHET, cachet.draft),
    "openzeppelin": (OPENZEPPELIN, openzeppelin.draft),
    "checkly": (CHECKLY, checkly.draft),
    "pingdom": (PINGDOM, pingdom.draft),
    "statuscake": (CAKE, statuscake.draft),
    "statuspage": (PAGE, statuspage.draft),
    "upptime": (UPPTIME, upptime.draft),
    "prometheus": (
        TRIO,
        lambda parts: prometheus.draft(Files(**{**parts, "rules": objects(parts["rules"])})),
    ),
}
