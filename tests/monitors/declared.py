"""What files might declare: one of everything that a team may have."""

from typing import Any

from shared.kinds import TYPES
from tests.web3.api.test_web3_monitors import CONFIGS as WEB3

SECRET = "the secret of all secrets"
# The least of a configuration, and something of it that is not as it would be by itself.
CONFIGS: dict[str, dict[str, Any]] = {
    **WEB3,
    "web3": {**WEB3["gas_price"], "subType": "gas_price"},
    "dns": {"host": "example.com"},
    "grpc": {"host": "grpc.example.com", "port": 443},
    "heartbeat": {"expectedInterval": "24h", "gracePeriod": 90},
    "http": {
        "url": f"https://user:{SECRET.replace(' ', '-')}@shop.example.com/",
        "headers": {"X-Key": SECRET, "X.Y-Z": SECRET},
        "auth": {"type": "bearer", "token": SECRET},
        "expectedStatus": [200, "300-308"],
        "assertions": [{"source": "body", "op": "contains", "value": "${NOT_A_VARIABLE} no\nyes"}],
    },
    "icmp": {"host": "10.0.0.1", "count": 5},
    "imap": {"host": "mail.example.com"},
    "mysql": {"host": "db.example.com"},
    "opentelemetry": {"otlpProtocol": "grpc", "resourceAttributes": {"service.name": "on"}},
    "pop3": {"host": "mail.example.com"},
    "postgres": {"host": "db.example.com"},
    "prometheus": {"labelFilters": {"job": "=~node.*"}, "authToken": SECRET.replace(" ", "-")},
    "redis": {"host": "db.example.com"},
    "smtp": {"host": "mail.example.com"},
    "tcp": {"host": "db.example.com", "port": 5432, "send": "12e4", "expect": "1:30"},
    "tls": {"domain": "example.com"},
    "websocket": {"url": "wss://shop.example.com/live"},
}
CHANNELS: dict[str, dict[str, Any]] = {
    "email": {"recipients": ["oncall@example.com"]},
    "slack": {"webhookUrl": "https://hooks.slack.com/services/T/B/secret", "channel": "#ops"},
    "discord": {"webhookUrl": "https://discord.com/api/webhooks/1/secret"},
    "telegram": {"botToken": "123456:secret-of-the-bot", "chatId": -100123},
    "pagerduty": {"integrationKey": "0123456789abcdef0123456789abcdef"},
    "opsgenie": {"apiKey": "01234567-89ab-cdef-0123-456789abcdef"},
    "webhook": {
        "url": "https://hooks.example.com/secret-part",
        "headers": {"X-Key": SECRET},
        "signingSecret": SECRET,
        "monitors": ["http"],
    },
}


RULES: list[dict[str, Any]] = [
    {
        "name": "Anything",
        "channels": ["webhook", "email"],
        "monitors": ["http", "tcp"],
        "tags": ["country:no", "version"],
        "conditions": {"availability": 99.5, "match": "all", "consecutiveFailures": 3},
        "escalationPolicy": {"delayMinutes": 5, "escalateToChannels": ["pagerduty"]},
    },
    {"name": "Down", "enabled": False, "repeatMinutes": 30, "notifyOnRecovery": False},
]
WINDOWS: list[dict[str, Any]] = [
    {
        "name": "Sunday",
        "monitors": ["tcp"],
        "start": "2030-01-06T02:00:00",
        "duration": 3600,
        "timezone": "Europe/Berlin",
        "rrule": "FREQ=WEEKLY",
        "exdates": ["2030-01-13"],
    },
    {"name": "Once", "all": True, "start": "2030-01-06T02:00:00Z", "end": "2030-01-06T03:00:00Z"},
]
PAGES: list[dict[str, Any]] = [
    {
        "name": "Example",
        "visibility": "private",
        "password": SECRET,
        "branding": {
            "primaryColor": "#112233",
            "look": "plain",
            "links": [{"label": "Docs", "url": "https://docs.example.com"}],
        },
        "components": [
            {"name": "API", "group": "EU", "monitorId": "http"},
            {
                "name": "API",
                "group": "US",
                "monitorId": "tcp",
                "description": "far away",
                "showUptime": False,
            },
            {"name": "By hand", "essential": True},
        ],
    }
]
TEMPLATES: list[dict[str, Any]] = [
    {
        "name": "Slow",
        "title": "{component} is slow",
        "severity": "major",
        "componentStatus": "degraded_performance",
        "message": "{component} answers slowly since {began}.\n\n**Sorry.**",
    },
    {"name": "Upgrade", "title": "Upgrade", "severity": "maintenance", "message": "Soon"},
]
MORE: dict[str, Any] = {
    "dependsOn": ["tcp"],
    "tags": {"country": "no", "version": "1.10"},
    "description": "two\nlines: of # it\n",
    "quorum": 1,
    "locations": ["eu", "us"],
    "runbookUrl": "https://wiki.example.com/",
}


def everything() -> dict[str, Any]:
    """Every type of monitor and channel, and one of the rest that names them."""
    monitors = [
        {"name": f"Of type {type_}", "key": type_, "type": type_, "config": CONFIGS[type_]} for type_ in TYPES
    ]
    channels = [
        {"name": f"To {type_}", "key": type_, "type": type_, "config": config}
        for type_, config in CHANNELS.items()
    ]
    return {
        "monitors": [{**monitors[0], **MORE}, *monitors[1:]],
        "channels": channels,
        "rules": RULES,
        "maintenanceWindows": WINDOWS,
        "statusPages": PAGES,
        "incidentTemplates": TEMPLATES,
    }
